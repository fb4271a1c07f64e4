"""The reward in docs/training.md is right, and its section runs on the samples."""

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest
from processes import python

from parley.builds.built_folder import open_folder

PAGE = (Path(__file__).parent.parent / "docs" / "training.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## A reward for reinforcement learning") :]
BLOCKS = re.findall(r"^```python\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
REWARD = next(block for block in BLOCKS if "def reward" in block)


def test_a_deal_is_worth_its_points_to_agent_1_and_an_invalid_offer_those_of_a_walk_away(
    sample_build,
):
    names = {}
    exec(REWARD, names)
    rows = open_folder(sample_build / "casino").rows("scenarios", "train")
    columns = {column: [row[column] for row in rows] for column in rows[0]}
    rewards = lambda text: names["reward"]([text] * len(rows), **columns)  # noqa: E731
    found = rewards("I would like:\n[Offer: Water=2 Food=1 Firewood=2]")
    for row, points in zip(rows, found, strict=True):
        order = row["mturk_agent_1"]["value2issue"]
        worth = {order[level]: points for level, points in row["points"].items()}
        assert points == worth["Food"] + 2 * worth["Water"] + 2 * worth["Firewood"]
        assert isinstance(points, float)
    # the first leaves nothing for agent 2, who walks away
    offers = ("Food=3 Water=3 Firewood=3", "Food=4 Water=0 Firewood=0", "Food=1 Water=1")
    others = ("I take everything!", "[Accept]", "[Walk-Away]", "")
    for text in (*(f"[Offer: {offer}]" for offer in offers), *others):
        assert (text, rewards(text)) == (text, [5.0] * len(rows))


def test_the_environment_plays_to_the_end(sample_build):
    """Agent 2 concedes three points a turn, and accepts what it would offer itself."""
    names = {}
    exec(REWARD, names)
    exec(next(block for block in BLOCKS if "class Camp" in block).split("chats = ")[0], names)
    camp = names["Camp"]()
    for row in open_folder(sample_build / "casino").rows("scenarios", "train"):
        camp.reset(**row)
        said = [camp.say("[Offer: Food=1 Water=1 Firewood=1]") for _ in range(10)]
        assert said.index("deal") == 4  # two packages of each are 24 points, its fifth demand
        order = [row["mturk_agent_1"]["value2issue"][level] for level in ("High", "Medium", "Low")]
        assert names["points"]([camp]) == [sum(dict(zip(order, (5, 4, 3), strict=True)).values())]


@pytest.mark.slow
def test_the_section_trains(sample_build, tmp_path):
    """With a tiny model."""
    if not importlib.util.find_spec("trl"):
        pytest.skip("not installed: trl, which comes with the extra `trainers`")
    import tiny_model
    import trl
    from transformers import AutoTokenizer

    for name in ("my-model", "my-model-with-tools"):
        tiny_model.save(tmp_path / name)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "my-model-with-tools")
    (template,) = Path(trl.__file__).parent.rglob("qwen3.jinja")  # one that knows tools
    tokenizer.chat_template = template.read_text(encoding="utf-8")
    tokenizer.save_pretrained(tmp_path / "my-model-with-tools")
    (tmp_path / "build").symlink_to(sample_build)
    (tmp_path / "page.py").write_text("\n".join(BLOCKS), encoding="utf-8")
    offline = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    env = {**os.environ, **offline, "HF_HOME": str(tmp_path / "hf")}
    lines = re.findall(r"\{.*\}", python("page.py", cwd=tmp_path, env=env).stdout)
    printed = [json.loads(line.replace("'", '"')) for line in lines]
    assert sum("reward" in step for step in printed) == 2  # the reward's and the environment's
