"""Fine-tune an encoder to predict the negotiation strategies of CaSiNo's utterances.

    python examples/finetune_strategies.py build/casino google-bert/bert-base-uncased run
    parley score casino strategies run/predictions.jsonl

The models of the paper (NAACL 2021, section 5 and appendix F), on any encoder with [CLS] and
[SEP]; the ablations of its Table 11 are options. Unspecified details are as in the authors' code
(github.com/kushalchawla/CaSiNo at 2f6ed4a6, strategy_prediction). The same command resumes a killed
process after the models that are done. See docs/finetuning.md.
"""

import argparse
import json
import math
import random
import sys
from pathlib import Path

import datasets
import numpy as np
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import AutoModel, AutoTokenizer, DataCollatorWithPadding

from parley import write_whole

# The labels that the paper leaves out of the task; seven are left.
LEFT_OUT = ("showing-empathy", "promote-coordination", "non-strategic")
END = "<end_of_utterance>"  # closes each utterance of the context
TOKENS = 200  # of an input, at most
POSITION = 32  # numbers that tell the position of the turn
HELD_OUT = 0.05  # of the dialogues to train on, for validation
DROPOUT, WEIGHT_DECAY, MAX_NORM = 0.1, 0.01, 1.0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def tokenizer_of(name):
    """Return the tokenizer, with an end-of-utterance token and no special tokens in text."""
    tokenizer = AutoTokenizer.from_pretrained(name, split_special_tokens=True)
    if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise SystemExit(f"{name}: expected an encoder's tokenizer, found one without [CLS], [SEP]")
    tokenizer.add_tokens([END], special_tokens=True)
    return tokenizer


def inputs_of(tokenizer, row, tokens=TOKENS):
    """Return the ids of an input, and the segment of each: 0 up to the first [SEP], then 1.

    [CLS], the utterances before, each closed by END, [SEP], the utterance, [SEP]. Tokens beyond
    the limit are cut from the oldest end.
    """
    end = tokenizer.convert_tokens_to_ids(END)
    said = [*(entry["text"] for entry in row["context"]), row["text"]]
    *before, text = tokenizer(said, add_special_tokens=False)["input_ids"]
    text = text[-(tokens - 3) :]
    room = tokens - 3 - len(text)
    context = [token for utterance in before for token in [*utterance, end]]
    context = context[max(len(context) - room, 0) :]
    first = [tokenizer.cls_token_id, *context, tokenizer.sep_token_id]
    second = [*text, tokenizer.sep_token_id]
    return first + second, [0] * len(first) + [1] * len(second)


def sinusoid(turns):
    """Return the positions of turns [n] as sines and cosines [n, POSITION], alternating."""
    rates = 10_000 ** (torch.arange(0, POSITION, 2) / POSITION)
    angles = torch.as_tensor(turns)[:, None] / rates
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)


def dense(inputs, outputs):
    """Return a feed-forward layer."""
    return nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Dropout(DROPOUT))


class Attention(nn.Module):
    """A BERT of one layer with one head, of which only the output for [CLS] is computed."""

    def __init__(self, width):
        super().__init__()
        self.positions = nn.Parameter(torch.randn(TOKENS, width) * 0.02)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.attention = nn.MultiheadAttention(width, 1, DROPOUT, batch_first=True)
        layers = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        self.inner = nn.Sequential(*layers)
        self.pooler = nn.Sequential(nn.Linear(width, width), nn.Tanh())
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, vectors, padding):
        """Return [rows, width] for vectors [rows, tokens, width] and which of them are padding."""
        vectors = self.dropout(self.norms[0](vectors + self.positions[: vectors.shape[1]]))
        first = vectors[:, :1]
        seen, _ = self.attention(first, vectors, vectors, padding, need_weights=False)
        first = self.norms[1](first + self.dropout(seen))
        first = self.norms[2](first + self.dropout(self.inner(first)))
        return self.pooler(first.squeeze(1))


class StrategyModel(nn.Module):
    """The paper's Full; with one label and neither attention nor features its BERT-FT.

    `attention` gives each label its own layer, else all see the encoder's [CLS]; `features` is the
    position of the turn.
    """

    def __init__(self, encoder, labels, attention=True, features=True):
        super().__init__()
        width = encoder.config.hidden_size
        self.encoder = encoder
        self.attention = nn.ModuleList(Attention(width) for _ in range(labels * attention))
        self.texts = nn.ModuleList(dense(width, 128) for _ in range(labels))
        self.features = dense(POSITION, 128) if features else None
        last = (nn.Sequential(dense(128, 64), nn.Linear(64, 1)) for _ in range(labels))
        self.outputs = nn.ModuleList(last)

    def forward(self, input_ids, attention_mask, token_type_ids, position):
        """Return the logits [rows, labels] for ids, mask and segments [rows, tokens]."""
        two = getattr(self.encoder.config, "type_vocab_size", 0) > 1  # RoBERTa's has no second one
        segments = {"token_type_ids": token_type_ids} if two else {}
        encoded = self.encoder(input_ids=input_ids, attention_mask=attention_mask, **segments)
        if self.attention:
            padding = attention_mask == 0
            pooled = [layer(encoded.last_hidden_state, padding) for layer in self.attention]
        else:
            first = getattr(encoded, "pooler_output", None)  # not every encoder has a pooler
            first = encoded.last_hidden_state[:, 0] if first is None else first
            pooled = [first] * len(self.texts)
        hidden = [layer(first) for layer, first in zip(self.texts, pooled, strict=True)]
        if self.features is not None:
            shared = self.features(position)
            hidden = [text + shared for text in hidden]
        logits = [layer(row) for layer, row in zip(self.outputs, hidden, strict=True)]
        return torch.cat(logits, dim=1)


def model_of(labels, tokenizer, args):
    """Return an untrained model of so many labels on a pretrained encoder."""
    torch.manual_seed(args.seed)
    encoder = AutoModel.from_pretrained(args.encoder)
    if len(tokenizer) > encoder.get_input_embeddings().num_embeddings:
        encoder.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    encoder.requires_grad_(not args.freeze)
    full = args.model == "full"
    attention, features = full and not args.no_attention, full and not args.no_features
    return StrategyModel(encoder, labels, attention, features).to(DEVICE)


class Inputs:
    """Rows of the config `strategies` as a model takes them."""

    def __init__(self, rows, tokenizer, args):
        self.args, self.collate = args, DataCollatorWithPadding(tokenizer)
        positions = sinusoid([row["turn"] for row in rows]).tolist()
        self.rows = []
        for row, position in zip(rows, positions, strict=True):
            ids, segments = inputs_of(tokenizer, row)
            self.rows.append({"input_ids": ids, "token_type_ids": segments, "position": position})

    def batch(self, numbers, step):
        """Return the rows of a step: all these in an order of its own in each epoch."""
        size = self.args.batch_size
        epoch, place = divmod(step, math.ceil(len(numbers) / size))
        order = list(numbers)
        random.Random(f"{self.args.seed} {epoch}").shuffle(order)  # noqa: S311
        return order[place * size : (place + 1) * size]

    def logits(self, model, numbers):
        """Yield rows from short to long, so many at once, and their logits [rows, labels]."""
        numbers = sorted(numbers, key=lambda number: len(self.rows[number]["input_ids"]))
        for start in range(0, len(numbers), self.args.rows_at_once):
            chunk = numbers[start : start + self.args.rows_at_once]
            inputs = self.collate([self.rows[number] for number in chunk]).to(DEVICE)
            with torch.autocast(DEVICE, torch.bfloat16, enabled=self.args.bf16):
                logits = model(**inputs)
            yield chunk, logits.float()

    @torch.no_grad()
    def predict(self, model, numbers):
        """Return whether rows have the labels, booleans [rows, labels]."""
        model.eval()
        found = {}
        for chunk, logits in self.logits(model, numbers):
            found |= dict(zip(chunk, (logits >= 0).tolist(), strict=True))
        return np.array([found[number] for number in numbers])


def mean_f1(truth, predicted):
    """Return the mean F1 of the labels, but for those neither true nor predicted, as the task."""
    labels = zip(truth.T, predicted.T, strict=True)
    scores = [f1_score(known, said, zero_division=np.nan) for known, said in labels]
    return float(np.nanmean(scores)) if not np.isnan(scores).all() else 0.0


def fine_tune(model, inputs, truth, parts, name):
    """Train a model on a fold, whose `parts` are numbers of rows, to its best evaluation.

    `truth` is floats [rows, labels]. Of equal evaluations on validation, the last is the best.
    Returns its step, and the predictions for validation and test.
    """
    args, (training, validation, test) = inputs.args, parts
    if args.start_at_rates:
        for layer, rate in zip(model.outputs, truth[training].mean(dim=0), strict=True):
            nn.init.constant_(layer[-1].bias, torch.logit(rate, eps=1e-3))
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    rate = {"lr": args.learning_rate, "weight_decay": WEIGHT_DECAY}
    optimizer = torch.optim.AdamW(weights, **rate, fused=True)
    best_step, best_score, best, losses = 0, -math.inf, {}, []
    for step in range(1, args.steps + 1):
        torch.manual_seed(1_000_000 * args.seed + step)
        model.train()
        rows = inputs.batch(training, step - 1)
        # the gradient of the whole batch, whatever part of it is in memory at once
        for chunk, logits in inputs.logits(model, rows):
            loss = binary_cross_entropy_with_logits(logits, truth[chunk].to(DEVICE))
            (loss * len(chunk) / len(rows)).backward()
            losses.append(loss.item())
        nn.utils.clip_grad_norm_(weights, MAX_NORM)
        optimizer.step()
        optimizer.zero_grad()
        if step % args.eval_every and step != args.steps:
            continue
        score = mean_f1(truth[validation].numpy(), inputs.predict(model, validation))
        if score >= best_score:
            best = {key: weight.clone() for key, weight in model.state_dict().items()}
            best_step, best_score = step, score
        known = f"loss {np.mean(losses):.4f}, score {score:.4f}"
        print(f"{name}: step {step} of {args.steps}, {known}")
        losses = []
    model.load_state_dict(best)
    return [best_step, *(inputs.predict(model, rows) for rows in (validation, test))]


def split(rows, fold):
    """Return the rows to train on, to choose on (a fold's last dialogues) and to test on."""
    training = list(dict.fromkeys(row["dialogue_id"] for row in rows if row["fold"] != fold))
    held_out = set(training[int(len(training) * (1 - HELD_OUT)) :])
    parts = [], [], []
    for number, row in enumerate(rows):
        part = 2 if row["fold"] == fold else 1 if row["dialogue_id"] in held_out else 0
        parts[part].append(number)
    return parts


def options():
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("dataset", help="a built folder, or the name of a dataset on the Hub")
    add("encoder", help="a folder, or the name of a model on the Hub")
    add("output", type=Path, help="folder of predictions.jsonl and of each model's predictions")
    add("--model", choices=["full", "ft"], default="full", help="default: full")
    add("--freeze", action="store_true", help="leave the encoder as it is")
    add("--no-attention", action="store_true", help="no attention layer a label")
    add("--no-features", action="store_true", help="no position of the turn")
    add("--start-at-rates", action="store_true", help="first predict how frequent a label is")
    add("--learning-rate", type=float, default=5e-5, metavar="X", help="default: 5e-5")
    add("--batch-size", type=int, default=64, metavar="N", help="default: 64")
    add("--rows-at-once", type=int, default=16, metavar="N", help="of a batch; default: 16")
    add("--steps", type=int, default=720, metavar="N", help="default: 720")
    add("--eval-every", type=int, default=72, metavar="N", help="in steps; default: 72")
    add("--folds", type=int, nargs="+", metavar="N", help="to train and test on; default: all")
    add("--bf16", action="store_true", help="multiply in bfloat16, where the machine is quicker so")
    add("--seed", type=int, default=0, metavar="N", help="default: 0")
    add("--threads", type=int, metavar="N", help="of the CPU; default: all")
    args = parser.parse_args()
    if args.model == "ft" and (args.no_attention or args.no_features):
        parser.error("--no-attention and --no-features are of --model full: ft has neither")
    return args


def main():
    """Train and test on each fold, and write the predictions."""
    args = options()
    sys.stdout.reconfigure(line_buffering=True)
    datasets.disable_progress_bars()
    if args.threads:
        torch.set_num_threads(args.threads)
    table = datasets.load_dataset(args.dataset, "strategies", split="train")
    rows = table.to_list()
    folds = sorted({row["fold"] for row in rows})
    if unknown := set(args.folds or []) - set(folds):
        raise SystemExit(f"--folds: expected some of {folds}, found {sorted(unknown)}")
    tokenizer = tokenizer_of(args.encoder)
    names = table.features["labels"].feature.names
    labels = [name for name in names if name not in LEFT_OUT]
    truth = np.array([[names.index(name) in row["labels"] for name in labels] for row in rows])
    inputs = Inputs(rows, tokenizer, args)
    models = {"": list(range(len(labels)))}  # the labels of each model of a fold
    if args.model == "ft":
        models = {f"-{label}": [number] for number, label in enumerate(labels)}
    others = ("output", "folds", "threads")
    settings = {name: value for name, value in vars(args).items() if name not in others}

    args.output.mkdir(parents=True, exist_ok=True)
    scores, predictions = [], {}
    for fold in args.folds or folds:
        parts = split(rows, fold)
        _, validation, test = parts
        found = []
        for suffix, columns in models.items():
            file = args.output / f"fold-{fold}{suffix}.json"
            if not file.exists():
                due = torch.from_numpy(truth[:, columns].astype(np.float32))
                model = model_of(len(columns), tokenizer, args)
                step, *said = fine_tune(model, inputs, due, parts, file.stem)
                chosen, tested = (part.tolist() for part in said)
                done = {"step": step, "validation": chosen, "test": tested, "settings": settings}
                write_whole(file, json.dumps(done))
            found.append(json.loads(file.read_text()))
            if found[-1]["settings"] != settings:
                raise SystemExit(f"{file}: of other settings. Take another output folder.")
        chosen, tested = (
            np.concatenate([result[part] for result in found], axis=1)
            for part in ("validation", "test")
        )
        joint = (tested == truth[test]).all(axis=1).mean()
        scores.append((mean_f1(truth[validation], chosen), mean_f1(truth[test], tested), joint))
        print(f"fold-{fold}: {shown(scores[-1])}")
        predictions |= dict(zip(test, tested, strict=True))
    print(f"mean of {len(scores)}: {shown(np.mean(scores, axis=0))}")

    lines = []
    for number in sorted(predictions):
        said = [label for label, has in zip(labels, predictions[number], strict=True) if has]
        key = {name: rows[number][name] for name in ("dialogue_id", "turn")}
        lines.append(json.dumps(key | {"labels": said}) + "\n")
    write_whole(file := args.output / "predictions.jsonl", "".join(lines))
    print(f"{file}: {len(lines):,} of {len(rows):,} utterances; parley score wants all")


def shown(scores):
    """Return F1 on validation and test, and Joint-A on test, as text, in a hundred."""
    return "validation F1 {:.1f}, test F1 {:.1f}, Joint-A {:.1f}".format(*(100 * x for x in scores))


if __name__ == "__main__":
    main()
