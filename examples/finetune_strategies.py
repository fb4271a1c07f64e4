"""Fine-tune an encoder to predict the negotiation strategies of CaSiNo's utterances.

    python examples/finetune_strategies.py build/casino google-bert/bert-base-uncased run
    parley score casino strategies run/predictions.jsonl

The models of the paper (NAACL 2021, section 5 and appendix F), on any encoder with [CLS] and
[SEP]; the ablations and extensions of its Table 11 are options. Unspecified details are as in the
authors' code (github.com/kushalchawla/CaSiNo at 2f6ed4a6, strategy_prediction). The same command
resumes a killed process at its last evaluation. See docs/finetuning.md.
"""

import argparse
import json
import math
import os
import random
import sys
import time
from pathlib import Path

import datasets
import numpy as np
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer
from transformers import DataCollatorForLanguageModeling as Masking

# The labels that the paper leaves out of the task; seven are left.
LEFT_OUT = ("showing-empathy", "promote-coordination", "non-strategic")
END = "<end_of_utterance>"  # closes each utterance of the context
TOKENS = 200  # of an input, at most
POSITION = 32  # numbers that tell the position of the turn
HELD_OUT = 0.05  # of the dialogues to train on, for validation
DROPOUT, WEIGHT_DECAY, MAX_NORM = 0.1, 0.01, 1.0
MASKED = 0.3  # of the tokens in pretraining
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


class Utterances:
    """Rows of the config `strategies` as a model takes them; `truth` is floats [rows, labels]."""

    def __init__(self, rows, truth, tokenizer):
        self.pairs = [inputs_of(tokenizer, row) for row in rows]
        self.lengths = np.array([len(ids) for ids, _ in self.pairs])
        self.features = sinusoid([row["turn"] for row in rows])
        self.truth = torch.from_numpy(truth)
        self.pad = tokenizer.pad_token_id

    def batch(self, numbers):
        """Return the inputs of the model for some rows, padded to the longest of them."""
        pairs = [map(torch.tensor, self.pairs[number]) for number in numbers]
        ids, segments = zip(*pairs, strict=True)
        mask = pad_sequence([torch.ones_like(row) for row in ids], True)
        tensors = pad_sequence(ids, True, self.pad), mask, pad_sequence(segments, True)
        return [tensor.to(DEVICE) for tensor in (*tensors, self.features[numbers])]


def add_tokens(model, tokenizer):
    """Give the model a vector for each added token of the tokenizer."""
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)


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

    def forward(self, input_ids, attention_mask, token_type_ids, features):
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
            position = self.features(features)
            hidden = [text + position for text in hidden]
        logits = [layer(row) for layer, row in zip(self.outputs, hidden, strict=True)]
        return torch.cat(logits, dim=1)


def model_of(labels, tokenizer, pretrained, args):
    """Return an untrained model of so many labels on a pretrained encoder."""
    torch.manual_seed(args.seed)
    encoder = AutoModel.from_pretrained(args.encoder)
    add_tokens(encoder, tokenizer)
    if pretrained:
        encoder.load_state_dict(pretrained, strict=False)  # it lacks the pooler
    encoder.requires_grad_(not args.freeze)
    full = args.model == "full"
    attention, features = full and not args.no_attention, full and not args.no_features
    return StrategyModel(encoder, labels, attention, features).to(DEVICE)


def train(model, losses, evaluate, steps, file, args):
    """Train the model to its best evaluation, from where `file` says an earlier process got to.

    `losses` yields the parts of a step's loss. `evaluate` gives a score every `args.eval_every`
    steps and after the last. The model gets the weights of the best one, the last of equals, whose
    step is returned.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    rate = {"lr": args.learning_rate, "weight_decay": WEIGHT_DECAY}
    optimizer = torch.optim.AdamW(weights, **rate, fused=True)
    state = {"step": 0, "best_step": 0, "best_score": -math.inf}
    if file.exists():
        state = torch.load(file, map_location=DEVICE, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        print(f"{file.stem}: goes on after step {state['step']} of {steps}")
    since, loss_since = time.perf_counter(), []
    bar = tqdm(range(state["step"] + 1, steps + 1), file.stem, leave=False, disable=None)
    for step in bar:
        torch.manual_seed(1_000_000 * args.seed + step)  # of dropout and masks: no state to save
        model.train()
        loss_since.append(0.0)
        for loss in losses(step - 1):
            loss.backward()
            loss_since[-1] += loss.item()
        nn.utils.clip_grad_norm_(weights, MAX_NORM)
        optimizer.step()
        optimizer.zero_grad()
        if step % args.eval_every and step != steps:
            continue
        seconds = (time.perf_counter() - since) / len(loss_since)
        score = evaluate()
        if score >= state["best_score"]:
            best = {name: weight.clone() for name, weight in model.state_dict().items()}
            state |= {"best_step": step, "best_score": score, "best": best}
        state |= {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        written = file.with_suffix(".tmp")
        torch.save(state, written)
        os.replace(written, file)
        known = f"loss {np.mean(loss_since):.4f}, score {score:.4f}, {seconds:.1f} s a step"
        bar.write(f"{file.stem}: step {step} of {steps}, {known}")
        since, loss_since = time.perf_counter(), []
    model.load_state_dict(state["best"])
    return state["best_step"]


def batches(rows, args):
    """Return what gives the rows of a step: all rows in an order of its own in each epoch."""
    an_epoch = math.ceil(len(rows) / args.batch_size)

    def batch(step):
        epoch, number = divmod(step, an_epoch)
        order = list(rows)
        random.Random(f"{args.seed} {epoch}").shuffle(order)  # noqa: S311
        return order[number * args.batch_size : (number + 1) * args.batch_size]

    return batch


def chunks(rows, lengths, size):
    """Return the rows from short to long, so many at once: little of them is padding."""
    rows = sorted(rows, key=lambda row: lengths[row])
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def precision(args):
    """Return the context in which models are called."""
    return torch.autocast(DEVICE, torch.bfloat16, enabled=args.bf16)


@torch.no_grad()
def predict(model, utterances, rows, args):
    """Return whether rows have the labels, booleans [rows, labels]."""
    model.eval()
    found = {}
    for chunk in chunks(rows, utterances.lengths, args.rows_at_once):
        with precision(args):
            logits = model(*utterances.batch(chunk))
        found |= dict(zip(chunk, (logits >= 0).tolist(), strict=True))
    return np.array([found[row] for row in rows])


def mean_f1(truth, predicted):
    """Return the mean F1 of the labels, but for those neither true nor predicted, as the task."""
    labels = zip(truth.T, predicted.T, strict=True)
    scores = [f1_score(known, said, zero_division=np.nan) for known, said in labels]
    return float(np.nanmean(scores)) if not np.isnan(scores).all() else 0.0


def fine_tune(model, utterances, columns, parts, file, args):
    """Train a model of the labels `columns` on a fold, whose `parts` are numbers of rows.

    Returns the step chosen, and the predictions for validation and test, booleans [rows, labels].
    """
    training, validation, test = parts
    truth = utterances.truth[:, columns]
    if args.oversample:
        training = training + [row for row in training if utterances.truth[row].any()]
    if args.start_at_rates:
        for layer, rate in zip(model.outputs, truth[training].mean(dim=0), strict=True):
            nn.init.constant_(layer[-1].bias, torch.logit(rate, eps=1e-3))
    batch = batches(training, args)

    def losses(step):
        rows = batch(step)
        # the gradient of the whole batch, whatever part of it is in memory at once
        for chunk in chunks(rows, utterances.lengths, args.rows_at_once):
            with precision(args):
                logits = model(*utterances.batch(chunk))
            due = truth[chunk].to(DEVICE)
            yield binary_cross_entropy_with_logits(logits.float(), due) * len(chunk) / len(rows)

    def evaluate():
        return mean_f1(truth[validation].numpy(), predict(model, utterances, validation, args))

    best = train(model, losses, evaluate, args.steps, file, args)
    return [best, *(predict(model, utterances, rows, args) for rows in (validation, test))]


def pretrain(tokenizer, args):
    """Return an encoder's weights after filling in masks in the dialogues without annotation."""
    rows = datasets.load_dataset(args.dataset, "dialogues", split="train")
    dialogues = [
        [said["text"] for said in row["chat_logs"] if not any((said["task_data"] or {}).values())]
        for row in rows
        if not row["annotations"]
    ]
    torch.manual_seed(args.seed)
    model = AutoModelForMaskedLM.from_pretrained(args.encoder)
    add_tokens(model, tokenizer)
    end = tokenizer.convert_tokens_to_ids(END)
    first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
    longest = min(512, model.config.max_position_embeddings)
    sequences = []
    for dialogue in dialogues:
        utterances = tokenizer(dialogue, add_special_tokens=False)["input_ids"]
        tokens = [token for utterance in utterances for token in [*utterance, end]]
        sequences.append({"input_ids": [first, *tokens[: longest - 2], last]})
    lengths = [len(sequence["input_ids"]) for sequence in sequences]
    collate = Masking(tokenizer, mlm_probability=MASKED)
    batch = batches(range(len(sequences)), args)

    def losses(step):
        parts = [
            collate([sequences[row] for row in chunk]).to(DEVICE)
            for chunk in chunks(batch(step), lengths, args.rows_at_once)
        ]
        masked = sum((part["labels"] != -100).sum() for part in parts)
        for part in parts:
            due = part.pop("labels")
            with precision(args):
                logits = model(**part).logits.float().transpose(1, 2)
            yield cross_entropy(logits, due, ignore_index=-100, reduction="sum") / masked

    steps = args.pretraining_epochs * math.ceil(len(sequences) / args.batch_size)
    file = args.output / "pretraining.pt"
    train(model.to(DEVICE), losses, lambda: 0.0, steps, file, args)  # equals: the last is taken
    return model.base_model.state_dict()


def split(rows, fold):
    """Return the rows to train on, to choose on (a fold's last dialogues) and to test on."""
    training = list(dict.fromkeys(row["dialogue_id"] for row in rows if row["fold"] != fold))
    held_out = set(training[int(len(training) * (1 - HELD_OUT)) :])
    parts = [], [], []
    for number, row in enumerate(rows):
        part = 2 if row["fold"] == fold else 1 if row["dialogue_id"] in held_out else 0
        parts[part].append(number)
    if not all(parts):
        raise SystemExit(f"fold {fold}: expected utterances in each part, found {sizes_of(parts)}")
    return parts


def sizes_of(parts):
    """Return the sizes of the parts of a fold as text."""
    return "{} utterances to train on, {} to choose on, {} to test on".format(*map(len, parts))


def options():
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("dataset", help="a built folder, or the name of a dataset on the Hub")
    add("encoder", help="a folder, or the name of a model on the Hub")
    add("output", type=Path, help="folder of predictions.jsonl and of what is needed to go on")
    add("--model", choices=["full", "ft"], default="full", help="default: full")
    add("--freeze", action="store_true", help="leave the encoder as it is")
    add("--no-attention", action="store_true", help="no attention layer a label")
    add("--no-features", action="store_true", help="no position of the turn")
    add("--oversample", action="store_true", help="take utterances with a label twice (OS)")
    add("--pretrain", action="store_true", help="pretrain on the other dialogues (IDPT)")
    add("--pretraining-epochs", type=positive, default=20, metavar="N", help="default: 20")
    add("--start-at-rates", action="store_true", help="first predict how frequent a label is")
    add("--learning-rate", type=float, default=5e-5, metavar="X", help="default: 5e-5")
    add("--batch-size", type=positive, default=64, metavar="N", help="default: 64")
    add("--rows-at-once", type=positive, default=16, metavar="N", help="of a batch; default: 16")
    add("--steps", type=positive, default=720, metavar="N", help="default: 720")
    add("--eval-every", type=positive, default=72, metavar="N", help="in steps; default: 72")
    add("--folds", type=int, nargs="+", metavar="N", help="to train and test on; default: all")
    add("--bf16", action="store_true", help="multiply in bfloat16, where the machine is quicker so")
    add("--seed", type=int, default=0, metavar="N", help="default: 0")
    add("--threads", type=positive, metavar="N", help="of the CPU; default: all")
    args = parser.parse_args()
    if args.model == "ft" and (args.no_attention or args.no_features):
        parser.error("--no-attention and --no-features are of --model full: ft has neither")
    return args


def positive(text):
    """Return a positive integer."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def keep_settings(args):
    """Save the settings, and refuse to resume with others."""
    free = ("output", "folds", "threads")
    settings = {name: value for name, value in vars(args).items() if name not in free}
    args.output.mkdir(parents=True, exist_ok=True)
    file = args.output / "settings.json"
    if not file.exists():
        write(file, json.dumps(settings, indent=2) + "\n")
    before = json.loads(file.read_text())
    changed = [name for name, value in settings.items() if before.get(name) != value]
    if said := [f"{name} was {before.get(name)}, is {settings[name]}" for name in changed]:
        raise SystemExit(f"{file}: {'; '.join(said)}. Take another output folder.")


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
    keep_settings(args)

    names = table.features["labels"].feature.names
    labels = [name for name in names if name not in LEFT_OUT]
    truth = np.array([[names.index(name) in row["labels"] for name in labels] for row in rows])
    utterances = Utterances(rows, truth.astype(np.float32), tokenizer)
    pretrained = pretrain(tokenizer, args) if args.pretrain else None
    models = {"": list(range(len(labels)))}  # the labels of each model of a fold
    if args.model == "ft":
        models = {f"-{label}": [number] for number, label in enumerate(labels)}

    scores, predictions = [], {}
    for fold in args.folds or folds:
        parts = split(rows, fold)
        _, validation, test = parts
        print(f"fold-{fold}: {sizes_of(parts)}")
        found = []
        for suffix, columns in models.items():
            file = args.output / f"fold-{fold}{suffix}.json"
            if not file.exists():
                model = model_of(len(columns), tokenizer, pretrained, args)
                state = file.with_suffix(".pt")
                step, *said = fine_tune(model, utterances, columns, parts, state, args)
                chosen, tested = (part.astype(int).tolist() for part in said)
                write(file, json.dumps({"step": step, "validation": chosen, "test": tested}))
                state.unlink()
            found.append(json.loads(file.read_text()))
        chosen, tested = (
            np.concatenate([result[part] for result in found], axis=1).astype(bool)
            for part in ("validation", "test")
        )
        joint = (tested == truth[test]).all(axis=1).mean()
        scores.append((mean_f1(truth[validation], chosen), mean_f1(truth[test], tested), joint))
        print(f"fold-{fold}: " + shown(scores[-1]))
        predictions |= dict(zip(test, tested, strict=True))
    print(f"mean of {len(scores)}: " + shown(np.mean(scores, axis=0)))

    lines = []
    for number, row in enumerate(rows):
        if number in predictions:
            said = [label for label, has in zip(labels, predictions[number], strict=True) if has]
            key = {"dialogue_id": row["dialogue_id"], "turn": row["turn"]}
            lines.append(key | {"labels": said})
    file = args.output / "predictions.jsonl"
    write(file, "".join(json.dumps(line) + "\n" for line in lines))
    rest = "" if len(lines) == len(rows) else "; parley score wants those of all folds"
    print(f"{file}: {len(lines):,} of {len(rows):,} utterances{rest}")


def shown(scores):
    """Return F1 on validation and test, and Joint-A on test, as text, in a hundred."""
    return "validation F1 {:.1f}, test F1 {:.1f}, Joint-A {:.1f}".format(*(100 * x for x in scores))


def write(file, text):
    """Write a whole file or none."""
    written = file.with_suffix(".tmp")
    written.write_text(text)
    os.replace(written, file)


if __name__ == "__main__":
    main()
