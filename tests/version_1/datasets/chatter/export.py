# export.py
"""Writes Chatter in other formats."""

from parley import utterance, write_corpus


def convokit(data, folder):
    """Write the corpus that `convokit.Corpus(filename=folder)` opens."""
    utterances, conversations, speakers = [], {}, {"customer": {}, "clerk": {}}
    for row in data.rows("dialogues", "train"):
        ids = [f"{row['id']}-{number}" for number in range(len(row["turns"]))]
        conversations[ids[0]] = {"rating": row["rating"]}
        for id, reply_to, turn in zip(ids, [None, *ids], row["turns"]):
            utterances.append(utterance(id, ids[0], reply_to, turn["speaker"], turn["text"], {}))
    write_corpus(folder, {"name": "Chatter"}, utterances, speakers, conversations)


EXPORTS = {"convokit": convokit}
