"""What is broken in the sample of CraigslistBargains."""

from mutations import swap

GUARDS = {
    "sides_see_one_item": r"negotiations\[\]\.scenario\.(category|kbs|kbs\[\]\.item\.[^D].*) .*"
    r"|negotiations\[\]\.scenario.*Description\[\] .*",
    "deals_are_accepted_offers": r"negotiations\[\]\.outcome\.(reward|offer\.price) .*",
    "views": "(dialogues|utterances|outcomes|scenarios|messages).*",
    "dialogue_acts_match_the_events": r"dialogue_acts(\[\])?(\.(dialogue_id|turn|speaker|action)"
    r"|\.text|\.upstream.*|\.parsed_upstream)? .*|dialogue_acts\[\]\.price another",
}
ROWS = {
    "dialogue_acts_match_the_events": {  # of an offer, and its acceptance
        "dialogue_acts/train[9].price": None,
        "dialogue_acts/train[10].intent": 10,
        "dialogue_acts/train[10].tags": [0],
    }
}
UNGUARDED = {
    "negotiations[].scenario_uuid": "another",
    "negotiations[].scenario.intersection": "another null", "negotiations[].agents.0": "another",
    "negotiations[].agents.1": "another", "negotiations[].events[].start_time": "another null",
    # what upstream's rules make of a message: figures count where upstream says the same
    "dialogue_acts[].intent": "another", "dialogue_acts[].price": "null",
    "dialogue_acts[].tags": "fewer twice none swapped", "dialogue_acts[].tags[]": "another",
}  # fmt: skip

RECORDS = [
    ("test.json", "[0].scenario.attributes[3].entity", 0, "[0].scenario.attributes: "),
    ("test.json", "[1].scenario.kbs", swap(0, 1), ": scenario.kbs: "),
    *(
        ("test.json", "[0].scenario.kbs[0].personal.Target", value, "Target: ")
        for value in (True, 2**53 + 1, 1e300, -1e39, 1e-60)
    ),
    *(
        ("test.json", "[0].events[0].time", value, "[0].events[0].time: ")
        for value in ("1499000123", "1.50", " 1.5", "soon", "", "nan", "-inf", "1e+300")
    )
]  # fmt: skip

OPTIONAL = (
    r"outcome\.offer|outcome\.offer\.price|scenario\.(intersection|kbs\[\]\.item\.Price)"
    r"|events\[\]\.(start_time|data\.price|metadata|metadata\.price)"
)

LOOSE = r"scenario\.(intersection|kbs\[\]\.(personal\.Target|item\.Price))|.*\.price"

SAMPLE = (
    "dialogues 06db494f 8d3c5df6 ef75e320 negotiations 2dc151f3 a4a5deca 7807b541 utterances "
    "2e44d941 b4fe6e6e 4226c3ae outcomes 7be752af 31975b36 4f6be88f scenarios f8335321 "
    "469effc4 b1ebab67 messages ad899a26 2dbc1308 61cfe262 dialogue_acts 76b3352d bc5670ce "
    "be171f55"
)
