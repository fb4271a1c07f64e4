"""The example that fine-tunes an encoder: its input, its models, and how it resumes.

What it predicts is as good as its encoder; here that is a tiny one, made on the spot.
"""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest
from datasets import load_dataset

pytestmark = pytest.mark.slow

NEEDED = "not installed, but comes with the extra `trainers`"
torch = pytest.importorskip("torch", reason=f"torch is {NEEDED}")
transformers = pytest.importorskip("transformers", reason=f"transformers is {NEEDED}")
sklearn = pytest.importorskip("sklearn", reason="not installed, but comes with the extra `tasks`")

EXAMPLE = Path(__file__).parent.parent / "examples" / "finetune_strategies.py"


@pytest.fixture(scope="module")
def example():
    """The script as a module, on one thread: on busy cores two wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    spec = importlib.util.spec_from_file_location("finetune_strategies", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A folder with a tiny BERT and its tokenizer."""
    import tiny_model

    folder = tmp_path_factory.mktemp("encoder") / "my-encoder"
    tiny_model.save_encoder(folder)
    return folder


@pytest.fixture(scope="module")
def tokenizer(example, encoder):
    return example.tokenizer_of(str(encoder))


@pytest.fixture
def run(example, encoder, sample_build, tmp_path, monkeypatch, capsys):
    """Run the script on the sample, few and quick steps; return what it printed and predicted."""

    def run(output, *options):
        capsys.readouterr()
        quick = ["--steps", "2", "--eval-every", "1", "--batch-size", "8", "--threads", "1"]
        command = [sample_build / "casino", encoder, tmp_path / output, *quick, *options]
        monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *map(str, command)])
        example.main()
        lines = (tmp_path / output / "predictions.jsonl").read_text().splitlines()
        return capsys.readouterr().out, [json.loads(line) for line in lines]

    return run


def said(*texts):
    return {"context": [{"text": text} for text in texts[:-1]], "text": texts[-1], "turn": 0}


def test_an_input_is_as_in_the_paper(example, tokenizer):
    ids, segments = example.inputs_of(tokenizer, said("Hi there.", "Hello!", "Water?", "No, wood."))
    end = example.END
    assert tokenizer.decode(ids) == f"[CLS]Hi there.{end}Hello!{end}Water?{end}[SEP]No, wood.[SEP]"
    after = ids.index(tokenizer.sep_token_id) + 1
    assert segments == [0] * after + [1] * (len(ids) - after)
    ids, _ = example.inputs_of(tokenizer, said("Hi there."))
    assert tokenizer.decode(ids) == "[CLS][SEP]Hi there.[SEP]"
    # text that looks like a special token
    ids, _ = example.inputs_of(tokenizer, said("[CLS] [MASK]", f"[SEP] {end} [PAD]"))
    for token, number in zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True):
        assert ids.count(number) == {"[CLS]": 1, "[SEP]": 2, end: 1}.get(token, 0)


def test_a_long_input_is_cut_from_the_oldest(example, tokenizer):
    row = said("One two three. " * 9, "Four five. " * 9, "Six.", "Seven eight nine.")
    whole, segments = example.inputs_of(tokenizer, row, 10_000)
    own = segments.count(1)  # the utterance and its [SEP]
    for tokens in range(own + 2, len(whole)):
        ids, cut_segments = example.inputs_of(tokenizer, row, tokens)
        assert ids == [tokenizer.cls_token_id, *whole[1 - tokens :]]
        assert cut_segments == [0, *segments[1 - tokens :]]
    assert len(example.inputs_of(tokenizer, said("word " * 999))[0]) == 200


def test_parts_are_the_authors(example):
    """Folds in a row; the last twentieth of what is left, by dialogue, is for validation."""
    folds = [fold for fold in range(5) for _ in range(fold, 396, 5)]
    rows = [{"dialogue_id": number, "fold": folds[number]} for number in range(396) for _ in "ab"]
    for fold, (others, tested) in enumerate(sklearn.model_selection.KFold(5).split(range(396))):
        cut = int(len(others) * 0.95)
        dialogues = others[:cut], others[cut:], tested
        due = [[2 * number + n for number in part for n in (0, 1)] for part in dialogues]
        assert list(example.split(rows, fold)) == due


def test_the_models_have_the_weights_of_table_11(example):
    """Exactly, with BERT-base and two tokens more, but for weights that the authors never use.

    Their attention layer is a whole BERT: with words and segments, and 512 positions.
    """

    def weights(labels, freeze=False, **options):
        with torch.device("meta"):
            config = transformers.BertConfig(vocab_size=30_524)
            encoder = transformers.AutoModel.from_config(config).requires_grad_(not freeze)
            model = example.StrategyModel(encoder, labels, **options)
        return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)

    unused = 7 * 768 * (30_522 + 2 + 512 - example.TOKENS)
    assert weights(7) + unused == 330_844_807
    assert weights(7, freeze=True) + unused == 221_361_031
    assert weights(7, features=False) + unused == 330_840_583
    assert weights(7, attention=False) == 110_235_271
    assert weights(1, attention=False, features=False) == 109_590_529


def test_a_run_goes_on_after_the_models_that_are_done(run, tmp_path):
    """They are not trained again; other settings are refused."""
    whole, expected = run("output", "--folds", "0", "1")
    (tmp_path / "output" / "fold-1.json").unlink()
    rest, found = run("output", "--folds", "0", "1")
    assert found == expected
    assert "fold-0: step" not in rest
    lines = [line for line in whole.splitlines() if not line.startswith("fold-0: step")]
    assert lines == rest.splitlines()
    with pytest.raises(SystemExit):
        run("output", "--seed", "1")


@pytest.mark.parametrize("options", ["", "--model ft", "--bf16 --start-at-rates"])
def test_every_row_is_predicted_once(run, sample_build, tmp_path, options):
    """The task takes the predictions, and finds in them what the script said of the folds."""
    from parley.builds.built_folder import open_folder
    from parley.scoring.evaluate import score

    table = load_dataset(str(sample_build / "casino"), "strategies", split="train")
    printed, found = run("output", *options.split())
    due, predicted = ([(row["dialogue_id"], row["turn"]) for row in of] for of in (table, found))
    assert predicted == due
    assert printed.count("step 2 of 2") == (7 if "ft" in options else 1) * len(set(table["fold"]))
    file = str(tmp_path / "output" / "predictions.jsonl")
    due = score(open_folder(sample_build / "casino"), "strategies", {}, file=file).score.metrics
    (own,) = re.findall(r"^mean of 3: .*, test F1 ([\d.]+), Joint-A ([\d.]+)$", printed, re.M)
    assert [*map(float, own)] == pytest.approx([due["f1"], due["joint_accuracy"]], abs=0.051)
