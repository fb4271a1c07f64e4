"""What is broken in the sample of CraigslistBargains."""

from mutations import DROP, swap

ROWS = {
    "sides_see_one_item": [
        ("negotiations/train[0].scenario.kbs", swap(0, 1)),
        ("negotiations/train[0].scenario.kbs[0].item.Title", "A boat"),
        ("negotiations/train[0].scenario.kbs[0].item.Description[0]", "Rusty."),
        ("negotiations/train[0].scenario.category", "car"),
    ],
    "deals_are_accepted_offers": [
        ("negotiations/train[0].outcome.reward", 0),
        ("negotiations/train[0].outcome.offer.price", 90.0),
        ("negotiations/train[0].events[10].action", "reject"),
        ("negotiations/train[2].outcome.reward", 1),
    ],
    "views_follow_from_negotiations": [
        ("dialogues/test[-1]", DROP),
        ("utterances/test", swap(1, 2)),
        ("outcomes/train[0]", DROP),
        ("outcomes/train[2].deal_price", 700.0),  # an offer that was rejected
        ("scenarios/test[1].dialogue_ids", swap(0, 1)),
        ("scenarios/test[1].seller_description[-1]", DROP),
        ("negotiations/test[3].scenario.kbs[0].personal.Target", 31.0),
        ("messages/train[0].messages[0].content", lambda text: f"{text}\nMore"),
        ("messages/train[0].source_turns[2]", [0, 1]),
    ],
    "dialogue_acts_match_the_events": [
        ("dialogue_acts/train[-1]", DROP),
        ("dialogue_acts/train", swap(0, 1)),
        ("dialogue_acts/train[4].price", 85.0),  # of a message that names 80
        ("dialogue_acts/train[9].price", None),  # of an offer
        ("dialogue_acts/train[10].intent", 10),
        ("dialogue_acts/train[10].tags", ["question"]),
    ],
}

UNGUARDED = {
    "negotiations.scenario_uuid",
    "negotiations.scenario.intersection",
    "negotiations.agents.0",
    "negotiations.agents.1",
    "negotiations.events[].start_time",
    # what upstream's rules make of a message: figures count where upstream says the same
    "dialogue_acts.intent",
    "dialogue_acts.price",
    "dialogue_acts.tags[]",
}

_NUMBER = "Target: expected a number"
_SECONDS = r"events\[0\].time: expected seconds as a string that is the repr of a float"
RECORDS = [
    ("test.json", "[0].scenario.attributes[3].entity", 0, "attributes: expected the eight attrib"),
    (
        "test.json",
        "[1].scenario.kbs",
        swap(0, 1),
        r"C_\w+: scenario.kbs: expected the roles \['buyer', 'seller'\], found",
    ),
    (
        "train.json",
        "[0].events[0].data",
        {"price": 5.0, "sides": ""},
        r"\[0\].events\[0\].data: expected a string, found {",
    ),
    (
        "train.json",
        "[0].events[4].metadata",
        DROP,
        r"\[0\].events\[4\].metadata: missing, expected an object or null",
    ),
    *(
        ("test.json", "[0].scenario.kbs[0].personal.Target", value, _NUMBER)
        for value in (True, "92", None, 2**53 + 1, 1e300, -1e39, 1e-60)
    ),
    *(
        ("test.json", "[0].events[0].time", value, _SECONDS)
        for value in ("1499000123", "1.50", " 1.5", "soon", "", 1.5, None, "nan", "-inf", "1e+300")
    ),
]

OPTIONAL = (
    r"outcome\.offer|outcome\.offer\.price|scenario\.(intersection|kbs\[\]\.item\.Price)"
    r"|events\[\]\.(start_time|data\.price|metadata|metadata\.price)"
)
FREE = (
    r"uuid|scenario_uuid|agents\.[01]|outcome\.offer\.(price|sides)"
    r"|scenario\.(uuid|post_id|intersection|kbs\[\]\.personal\.Target)"
    r"|scenario\.kbs\[\]\.item\.(Title|Price|Images\[\]|Description\[\])"
    r"|events\[\]\.(data|data\.price|data\.sides|metadata\.price)"
)

SAMPLE = {
    "dialogues": "06db494f 8d3c5df6 ef75e320",
    "negotiations": "2dc151f3 a4a5deca 7807b541",
    "utterances": "2e44d941 b4fe6e6e 4226c3ae",
    "outcomes": "7be752af 31975b36 4f6be88f",
    "scenarios": "f8335321 469effc4 b1ebab67",
    "messages": "ad899a26 2dbc1308 61cfe262",
    "dialogue_acts": "7ee50cff 17f0502f 98908058",
}
