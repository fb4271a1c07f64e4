"""The example that fine-tunes an encoder: its input, its models, and how it is killed and goes on.

What it predicts is as good as its encoder; here that is a tiny one, made on the spot.
"""

import errno
import importlib.util
import json
import math
import os
import re
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from datasets import load_dataset

pytestmark = pytest.mark.slow

NEEDED = "not installed, but comes with the extra `trainers`"
torch = pytest.importorskip("torch", reason=f"torch is {NEEDED}")
transformers = pytest.importorskip("transformers", reason=f"transformers is {NEEDED}")
sklearn = pytest.importorskip("sklearn", reason="not installed, but comes with the extra `tasks`")

EXAMPLE = Path(__file__).parent.parent / "examples" / "finetune_strategies.py"
# fmt: off
LABELS = [
    "no-need", "elicit-pref", "uv-part", "vouch-fair", "self-need", "other-need", "small-talk",
]
# fmt: on
FULL, ONE = list(range(7)), [0]


@pytest.fixture(scope="module")
def example():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("finetune_strategies", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """On busy cores two threads wait for each other most of the time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
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


@pytest.fixture(scope="module")
def table(sample_build):
    return load_dataset(str(sample_build / "casino"), "strategies", split="train")


@pytest.fixture(scope="module")
def utterances(example, table, tokenizer):
    names = table.features["labels"].feature.names
    truth = [[names.index(label) in row["labels"] for label in LABELS] for row in table]
    return example.Utterances(table.to_list(), np.array(truth, np.float32), tokenizer)


@pytest.fixture
def args(encoder, sample_build, tmp_path):
    """What the command line gives, quick."""
    return Namespace(
        dataset=str(sample_build / "casino"), encoder=str(encoder), output=tmp_path, model="full",
        freeze=False, no_attention=False, no_features=False, oversample=False, pretrain=False,
        start_at_rates=False,
        pretraining_epochs=3, learning_rate=1e-3, batch_size=8, rows_at_once=4, steps=6,
        eval_every=2, bf16=False, seed=0
    )  # fmt: skip


@pytest.fixture
def run(example, encoder, sample_build, tmp_path, monkeypatch, capsys):
    """Run the script on the sample, few and quick steps; return what it printed."""

    def run(output, *options):
        capsys.readouterr()
        quick = ["--steps", "2", "--eval-every", "1", "--batch-size", "8", "--threads", "1"]
        command = [sample_build / "casino", encoder, tmp_path / output, *quick, *options]
        monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *map(str, command)])
        example.main()
        return capsys.readouterr().out

    return run


def said(*texts):
    return {"context": [{"text": text} for text in texts[:-1]], "text": texts[-1], "turn": 0}


def predictions(folder):
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


# The input -----------------------------------------------------------------------------------


def test_an_input_is_as_in_the_paper(example, tokenizer):
    ids, segments = example.inputs_of(tokenizer, said("Hi there.", "Hello!", "Water?", "No, wood."))
    end = example.END
    expected = f"[CLS]Hi there.{end}Hello!{end}Water?{end}[SEP]No, wood.[SEP]"
    assert tokenizer.decode(ids) == expected
    after = ids.index(tokenizer.sep_token_id) + 1
    assert segments == [0] * after + [1] * (len(ids) - after)


def test_a_first_utterance_has_no_context(example, tokenizer):
    ids, _ = example.inputs_of(tokenizer, said("Hi there."))
    assert tokenizer.decode(ids) == "[CLS][SEP]Hi there.[SEP]"


def test_a_long_input_is_cut_from_the_oldest(example, tokenizer):
    row = said("One two three. " * 9, "Four five. " * 9, "Six.", "Seven eight nine.")
    whole, segments = example.inputs_of(tokenizer, row, 10_000)
    own = segments.count(1)  # the utterance and its [SEP]
    for tokens in range(own + 2, len(whole)):
        ids, cut_segments = example.inputs_of(tokenizer, row, tokens)
        assert ids == [tokenizer.cls_token_id, *whole[1 - tokens :]]
        assert cut_segments == [0, *segments[1 - tokens :]]
    for tokens in range(4, own + 2):  # less than the utterance alone takes
        ids, _ = example.inputs_of(tokenizer, row, tokens)
        start = [tokenizer.cls_token_id, tokenizer.sep_token_id]
        assert ids == [*start, *whole[2 - tokens :]]
    assert len(example.inputs_of(tokenizer, said("word " * 999))[0]) == 200


def test_what_looks_like_a_special_token_is_text(example, tokenizer):
    ids, _ = example.inputs_of(tokenizer, said("[CLS] [MASK]", f"[SEP] {example.END} [PAD]"))
    assert [ids.count(token) for token in tokenizer.all_special_ids] == [
        {"[CLS]": 1, "[SEP]": 2, example.END: 1}.get(token, 0)
        for token in tokenizer.all_special_tokens
    ]


def test_positions_are_sines_and_cosines(example):
    found = example.sinusoid([0, 7])
    assert found.shape == (2, 32)
    assert found[0].tolist() == [0.0, 1.0] * 16
    expected = [
        function(7 / 10_000 ** (number / 16))
        for number in range(16)
        for function in (np.sin, np.cos)
    ]
    assert found[1].tolist() == pytest.approx(expected, abs=1e-6)


def test_padding_changes_nothing(example, utterances, tokenizer, args):
    model = example.model_of(7, tokenizer, None, args).eval()
    short, long = np.argsort(utterances.lengths)[[0, -1]].tolist()
    with torch.no_grad():
        alone, padded = model(**utterances.batch([short])), model(**utterances.batch([short, long]))
    assert torch.allclose(alone[0], padded[0], atol=1e-5)


def test_parts_are_the_authors(example):
    """Folds in a row; the last twentieth of what is left, by dialogue, is for validation."""
    folds = [fold for fold in range(5) for _ in range(fold, 396, 5)]
    rows = [{"dialogue_id": number, "fold": folds[number]} for number in range(396) for _ in "ab"]
    kept = sklearn.model_selection.KFold(5).split(range(396))
    for fold, (others, tested) in enumerate(kept):
        parts = example.split(rows, fold)
        cut = int(len(others) * 0.95)
        for part, dialogues in zip(parts, (others[:cut], others[cut:], tested), strict=True):
            assert part == [row for number in dialogues for row in (2 * number, 2 * number + 1)]
    with pytest.raises(SystemExit, match="fold 0: expected utterances in each part, found 0 to t"):
        example.split([{"dialogue_id": number, "fold": number} for number in range(2)], 0)


# The models ----------------------------------------------------------------------------------


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


def test_an_attention_layer_is_a_bert_of_one_layer(example):
    """With the same weights it gives what the BERT gives."""
    config = transformers.BertConfig(
        vocab_size=1, hidden_size=16, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=1
    )  # fmt: skip
    torch.manual_seed(1)
    bert = transformers.BertModel(config).eval()
    mine = example.Attention(16).eval()
    torch.nn.init.zeros_(bert.embeddings.token_type_embeddings.weight)
    layer = bert.encoder.layer[0]
    parts = [layer.attention.self.query, layer.attention.self.key, layer.attention.self.value]
    for norm in (bert.embeddings.LayerNorm, layer.attention.output.LayerNorm):
        torch.nn.init.normal_(norm.weight)
    with torch.no_grad():
        mine.positions.copy_(bert.embeddings.position_embeddings.weight[: example.TOKENS])
        mine.attention.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        mine.attention.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    pairs = {
        mine.norms[0]: bert.embeddings.LayerNorm,
        mine.attention.out_proj: layer.attention.output.dense,
        mine.norms[1]: layer.attention.output.LayerNorm,
        mine.inner[0]: layer.intermediate.dense,
        mine.inner[2]: layer.output.dense,
        mine.norms[2]: layer.output.LayerNorm,
        mine.pooler[0]: bert.pooler.dense,
    }
    for own, theirs in pairs.items():
        own.load_state_dict(theirs.state_dict())
    vectors = torch.randn(3, 9, 16)
    mask = torch.arange(9) < torch.tensor([[9], [5], [1]])
    with torch.no_grad():
        expected = bert(inputs_embeds=vectors, attention_mask=mask.long()).pooler_output
        assert torch.allclose(mine(vectors, ~mask), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["Distilbert", "Roberta", "ModernBert"])
def test_other_encoders(example, utterances, tokenizer, kind):
    """Without a pooler, or with one segment."""
    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    small |= {"intermediate_size": 64, "vocab_size": len(tokenizer), "pad_token_id": 0}
    if kind == "Distilbert":
        small = {"dim": 32, "n_layers": 1, "n_heads": 2, "hidden_dim": 64}
        small |= {"vocab_size": len(tokenizer)}
    if kind == "Roberta":
        small |= {"type_vocab_size": 1}
    name = {"Distilbert": "DistilBert"}.get(kind, kind)
    encoder = transformers.AutoModel.from_config(getattr(transformers, f"{name}Config")(**small))
    for attention in (True, False):
        model = example.StrategyModel(encoder, 7, attention=attention)
        assert model(**utterances.batch([0, 1, 2])).shape == (3, 7)


# The options ---------------------------------------------------------------------------------


def trained(example, utterances, tokenizer, args, columns=FULL, rows=8):
    """Return a model that was trained on the first rows, and its predictions of them."""
    model = example.model_of(len(columns), tokenizer, None, args)
    rows = list(range(rows))
    file = args.output / "state.pt"
    _, _, tested = example.fine_tune(model, utterances, columns, (rows, rows, rows), file, args)
    return model, tested


@pytest.mark.parametrize(("kind", "columns"), [("full", FULL), ("ft", [LABELS.index("self-need")])])
def test_a_few_rows_are_learnt_by_heart(example, utterances, tokenizer, args, kind, columns):
    args.model, args.steps, args.eval_every, args.learning_rate = kind, 60, 20, 3e-3
    args.rows_at_once = 8
    truth = utterances.truth[:8, columns].numpy() == 1
    assert 0 < truth.mean() < 1
    _, found = trained(example, utterances, tokenizer, args, columns)
    assert (found == truth).all()


def test_a_frozen_encoder_stays(example, utterances, tokenizer, args):
    for args.freeze in (True, False):
        before = example.model_of(7, tokenizer, None, args).state_dict()
        after = trained(example, utterances, tokenizer, args)[0].state_dict()
        (args.output / "state.pt").unlink()
        for part in ("encoder", "attention", "texts", "features", "outputs"):
            names = [name for name in before if name.startswith(part)]
            stays = all(torch.equal(before[name], after[name]) for name in names)
            assert stays == (args.freeze and part == "encoder")


def test_features_are_the_position_of_the_turn(example, utterances, tokenizer, args):
    batch = utterances.batch([0])
    moved = batch | {"features": example.sinusoid([9])}
    for args.no_features in (True, False):
        model = example.model_of(7, tokenizer, None, args).eval()
        same = torch.equal(model(**batch), model(**moved))
        assert same == args.no_features


def test_without_attention_all_labels_see_the_same_vector(example, utterances, tokenizer, args):
    seen = []
    for args.no_attention in (True, False):
        model = example.model_of(7, tokenizer, None, args).eval()
        for layer in model.texts:
            layer.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
        model(**utterances.batch([0, 1]))
        assert all(torch.equal(each, seen[-1]) for each in seen[-7:]) == args.no_attention
    assert len(seen) == 14


def test_a_start_at_the_rates_of_the_labels(example, utterances, tokenizer, args, monkeypatch):
    """Before the first step the mean of what is predicted is about how frequent a label is."""
    monkeypatch.setattr(example, "train", lambda *_: 0)
    args.start_at_rates = True
    model, _ = trained(example, utterances, tokenizer, args, rows=25)
    for layer in model.outputs:
        torch.nn.init.zeros_(layer[-1].weight)
    found = model(**utterances.batch([0])).sigmoid()[0]
    rates = utterances.truth[:25].mean(dim=0).clamp(0.001, 0.999)
    assert torch.allclose(found, rates, atol=1e-6)
    assert 0.001 < rates.min() < rates.max() < 0.999


def test_oversampling_takes_rows_with_a_label_twice(
    example, utterances, tokenizer, args, monkeypatch
):
    batches, taken, rows = example.batches, [], len(utterances.truth)

    def recorded(rows, args):
        taken.append(list(rows))
        return batches(rows, args)

    monkeypatch.setattr(example, "batches", recorded)
    args.steps = 1
    for args.oversample in (False, True):
        trained(example, utterances, tokenizer, args, rows=rows)
    labelled = [row for row in range(rows) if utterances.truth[row].any()]
    assert 0 < len(labelled) < rows
    assert taken == [list(range(rows)), [*range(rows), *labelled]]


def test_an_epoch_takes_each_row_once(example, args):
    batch = example.batches(range(21), args)
    epochs = [[row for step in range(3 * n, 3 * n + 3) for row in batch(step)] for n in range(3)]
    assert all(sorted(epoch) == list(range(21)) for epoch in epochs)
    assert len(set(map(tuple, epochs))) == 3
    args.seed = 1
    assert [row for step in range(3) for row in batch(step)] != epochs[0]


def test_pretraining_learns_to_fill_in_masks(example, tokenizer, args, capsys):
    """Of the two dialogues without annotation, from where random weights leave the loss."""
    args.batch_size, args.eval_every, args.pretraining_epochs = 1, 2, 8
    weights = example.pretrain(tokenizer, args)
    printed = capsys.readouterr().out
    assert "pretraining: step 16 of 16" in printed
    losses = list(map(float, re.findall(r"loss ([\d.]+)", printed)))
    assert losses[0] == pytest.approx(math.log(len(tokenizer)), abs=0.3)
    assert losses[-1] < losses[0] - 0.3
    given = example.model_of(7, tokenizer, weights, args).encoder.state_dict()
    assert {name for name in given if name not in weights} == {
        "pooler.dense.weight",
        "pooler.dense.bias",
    }
    assert all(torch.equal(given[name], weights[name]) for name in weights)
    plain = example.model_of(7, tokenizer, None, args).encoder.state_dict()
    words = "embeddings.word_embeddings.weight"
    assert not torch.equal(plain[words], given[words])


def test_parts_of_a_batch_add_up(example, utterances, tokenizer, args, monkeypatch):
    """The gradient is that of the batch, however many of its rows are in memory at once."""
    gradients = []

    def one_step(model, losses, *_):
        model.eval()  # no dropout
        for loss in losses(0):
            loss.backward()
        gradients.append({name: weight.grad for name, weight in model.named_parameters()})
        return 0

    monkeypatch.setattr(example, "train", one_step)
    for args.rows_at_once in (8, 3):
        trained(example, utterances, tokenizer, args)
    whole, parts = gradients
    for name, gradient in whole.items():
        if gradient is not None:
            assert torch.allclose(gradient, parts[name], atol=1e-6), name


def test_the_best_evaluation_is_kept(example, args):
    """Of equals the last; with the weights that it had."""
    model = torch.nn.Linear(1, 1)
    scores, weights = [0.2, 0.7, 0.7, 0.1], []

    def evaluate():
        weights.append(model.weight.item())
        return scores[len(weights) - 1]

    def losses(_):
        yield model(torch.ones(1, 1)).sum()

    args.eval_every = 2
    assert example.train(model, losses, evaluate, 7, args.output / "state.pt", args) == 6
    assert len(set(weights)) == 4  # after 2, 4, 6 and 7 steps
    assert model.weight.item() == weights[2]


# Going on ------------------------------------------------------------------------------------


class Killed(BaseException):
    """What ends a process between two steps."""


def killed_after(saves, monkeypatch):
    save, done = torch.save, []

    def once_more(*given):
        if len(done) == saves:
            raise Killed
        done.append(save(*given))

    monkeypatch.setattr(torch, "save", once_more)


@pytest.mark.parametrize("saves", [0, 1, 2])
def test_what_was_killed_goes_on_to_the_same_end(
    example, utterances, tokenizer, args, monkeypatch, tmp_path, saves
):
    args.output = tmp_path / "whole"
    args.output.mkdir()
    expected, _ = trained(example, utterances, tokenizer, args)
    args.output = tmp_path / "killed"
    args.output.mkdir()
    with monkeypatch.context() as patch:
        killed_after(saves, patch)
        with pytest.raises(Killed):
            trained(example, utterances, tokenizer, args)
    found, _ = trained(example, utterances, tokenizer, args)
    expected, found = expected.state_dict(), found.state_dict()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_the_script_goes_on_and_takes_no_other_settings(run, monkeypatch, tmp_path):
    """Models that are done are not trained again; the end is that of one process."""
    whole = run("whole", "--folds", "0", "1")
    with monkeypatch.context() as patch:
        killed_after(3, patch)  # in the second fold
        with pytest.raises(Killed):
            run("killed", "--folds", "0", "1")
    rest = run("killed", "--folds", "0", "1")
    assert "fold-0: step" not in rest
    assert "fold-1: goes on after step 1 of 2" in rest
    assert "fold-1: step 2 of 2" in rest
    assert predictions(tmp_path / "whole") == predictions(tmp_path / "killed")
    for line in whole.splitlines():
        if "F1" in line:
            assert line in rest
    with pytest.raises(SystemExit, match=r"settings.json: seed was 0, is 1. Take another output"):
        run("killed", "--seed", "1")


# The whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--model", "ft"), ("--pretrain", "--bf16")], ids=str)
def test_every_row_is_predicted_once(run, table, tmp_path, options):
    if "--pretrain" in options:
        options = (*options, "--pretraining-epochs", "1")
    printed = run("output", *options)
    found = predictions(tmp_path / "output")
    assert all(list(row) == ["dialogue_id", "turn", "labels"] for row in found)
    assert [(row["dialogue_id"], row["turn"]) for row in found] == [
        (row["dialogue_id"], row["turn"]) for row in table
    ]
    assert {label for row in found for label in row["labels"]} <= set(LABELS)
    models = 7 if "ft" in options else 1
    assert printed.count("step 2 of 2") == models * len(set(table["fold"]))
    assert printed.splitlines()[-1].endswith(f"{len(table)} of {len(table)} utterances")


def test_the_task_takes_the_predictions(run, sample_build, tmp_path):
    """And finds in them what the script said of the folds."""
    from parley.folder.built import open_folder
    from parley.scoring.evaluate import score

    printed = run("output")
    file = tmp_path / "output" / "predictions.jsonl"
    found = score(open_folder(sample_build / "casino"), "strategies", {}, file=str(file)).score
    (own,) = re.findall(
        r"^mean of 3: .*, test F1 ([\d.]+), Joint-A ([\d.]+)$", printed, re.MULTILINE
    )
    assert float(own[0]) == pytest.approx(found.metrics["f1"], abs=0.051)
    assert float(own[1]) == pytest.approx(found.metrics["joint_accuracy"], abs=0.051)
    assert found.metrics["f1"] > 0


def test_some_folds(run, table, tmp_path):
    run("output", "--folds", "1")
    found = predictions(tmp_path / "output")
    due = [row for row in table if row["fold"] == 1]
    assert [(row["dialogue_id"], row["turn"]) for row in found] == [
        (row["dialogue_id"], row["turn"]) for row in due
    ]


def test_the_seed_decides(example, utterances, tokenizer, args):
    weights = []
    args.steps = 2
    for args.seed in (1, 1, 2):
        model, _ = trained(example, utterances, tokenizer, args)
        (args.output / "state.pt").unlink()
        weights.append(model.outputs[0][1].weight)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_f1_is_of_the_positive_class(example):
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]]) == 1
    predicted = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]]) == 1
    assert example.mean_f1(truth, predicted) == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert example.mean_f1(truth[:, :1], predicted[:, :1]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--folds", "0", "7"], r"--folds: expected some of \[0, 1, 2\], found \[7\]"),
        (["--model", "ft", "--no-attention"], "--no-attention and --no-features are of --model"),
        (["--steps", "0"], "argument --steps: invalid positive value: '0'"),
    ],
)
def test_options_that_make_no_sense(run, capsys, options, message, tmp_path):
    with pytest.raises(SystemExit) as stopped:
        run("output", *options)
    assert re.search(message, f"{stopped.value} {capsys.readouterr().err}")
    assert not (tmp_path / "output").exists()


def test_a_model_without_cls_is_refused(example, tmp_path):
    import tiny_model

    tiny_model.tokenizer().save_pretrained(tmp_path)
    with pytest.raises(SystemExit, match=r"expected an encoder's tokenizer, found one without"):
        example.tokenizer_of(str(tmp_path))


def test_settings_are_written_once_and_whole(example, args, monkeypatch):
    def full(*paths):
        raise OSError(errno.ENOSPC, "No space left on device")

    file = args.output / "settings.json"
    with monkeypatch.context() as patch:
        patch.setattr(example.os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            example.keep_settings(args)
    assert not file.exists()
    example.keep_settings(args)
    os.utime(file, (0, 0))
    example.keep_settings(args)
    assert file.stat().st_mtime == 0
