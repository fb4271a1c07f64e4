"""`parley verify` refuses chats that strict chat templates refuse, and lost or moved turns."""

import copy

import pytest
from mutations import InMemory

from parley.folder import integrity
from parley.folder.built import open_folder


def chats_of(built):
    if "messages" not in built.dataset.splits:
        pytest.skip(f"{built.dataset.name} has no config messages")
    return built.rows("messages", *built.splits("messages"))


def problems(built, row):
    """Return the problems that `verify` finds in a chat."""
    config = built.dataset.splits["messages"]
    folder = InMemory(built, {f"messages/{split}": [row] for split in config})
    return list(integrity.chats(integrity.Inputs(folder, None)))


OUT_OF_TURN = {  # given a chat, and the index of its first message of the user
    "user twice": lambda chat, at: chat.insert(at, {"role": "user", "content": "Hello?"}),
    "assistant first": lambda chat, at: chat.pop(at),
    "assistant twice": lambda chat, at: chat.insert(at + 1, {"role": "assistant", "content": "Hi"}),
    "system later": lambda chat, at: chat[at + 1].update(role="system"),
    "another role": lambda chat, at: chat[at + 1].update(role="bot"),
}


@pytest.mark.parametrize("spoil", OUT_OF_TURN.values(), ids=OUT_OF_TURN)
def test_chats_that_do_not_alternate_are_refused(dataset, sample_build, spoil):
    built = open_folder(sample_build / dataset.name)
    for row in copy.deepcopy(chats_of(built)):
        assert not problems(built, row)
        chat = row["messages"]
        spoil(chat, int(chat[0]["role"] == "system"))
        assert any("user and assistant" in each for each in problems(built, row))


def swap_the_first(source):
    made_from = [turns for turns in source if turns]
    made_from[0][0], made_from[1][0] = made_from[1][0], made_from[0][0]


LOST = {
    "repeated": lambda source: source[-1].append(source[-1][-1]),
    "swapped": swap_the_first,
    "a message": lambda source: source.pop(),
    "its turns": lambda source: source[-1].clear(),
}


@pytest.mark.parametrize("spoil", LOST.values(), ids=LOST)
def test_lost_or_moved_turns_are_noticed(dataset, sample_build, spoil):
    built = open_folder(sample_build / dataset.name)
    for row in copy.deepcopy(chats_of(built)):
        spoil(row["source_turns"])
        assert problems(built, row)
