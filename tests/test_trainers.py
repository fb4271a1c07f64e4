"""The `messages` configs feed PyTorch, transformers and TRL: each row once, shuffled, resumably.

What is run here is what docs/training.md shows, and what it says of it.
"""

import io
import itertools
import json
import math
import os
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import datasets
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from datasets.distributed import split_dataset_by_node

NEEDED = "not installed, but comes with the extra `trainers`"
torch = pytest.importorskip("torch", reason=f"torch is {NEEDED}")
transformers = pytest.importorskip("transformers", reason=f"transformers is {NEEDED}")
stateful = pytest.importorskip("torchdata.stateful_dataloader", reason=f"torchdata is {NEEDED}")
DataLoader = torch.utils.data.DataLoader

pytestmark = [
    pytest.mark.slow,
    # Python's, from 3.12: DataLoader forks, its default on Linux, beside the threads of Arrow
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    # torch's, on a machine of one core
    pytest.mark.filterwarnings("ignore:This DataLoader will create 2 worker:UserWarning"),
    # torchdata 0.11 calls what torch has deprecated
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning"),
    # TRL 1 sets what transformers 5 has renamed
    pytest.mark.filterwarnings("ignore:`gradient_checkpointing` is deprecated:FutureWarning"),
]

WORKERS = pytest.mark.parametrize("workers", [0, 2])
LARGER = 20_000  # than every split, as docs/training.md has it
END = "<|im_end|>"


@pytest.fixture(params=["sample_build", "grouped_build", "real_build"])
def folder(request):
    """A built casino: of one row group, of four small ones, and the real one, of two."""
    return request.getfixturevalue(request.param) / "casino"


@pytest.fixture(params=["sample_build", "grouped_build"])
def small_folder(request):
    """A built casino, without the real one, where that would only take longer."""
    return request.getfixturevalue(request.param) / "casino"


@pytest.fixture(scope="session")
def my_model(tmp_path_factory):
    """A folder with a tiny model and its tokenizer."""
    import tiny_model

    folder = tmp_path_factory.mktemp("model") / "my-model"
    tiny_model.save(folder)
    return folder


@pytest.fixture(scope="session")
def tokenizer(my_model):
    return transformers.AutoTokenizer.from_pretrained(my_model)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """On busy cores two threads wait for each other most of the time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def stream(folder, split="train"):
    return load_dataset(str(folder), "messages", split=split, streaming=True)


def shuffled(folder, seed=42, buffer_size=LARGER, epoch=0):
    """The stream of docs/training.md."""
    rows = stream(folder).reshard()
    rows = rows.shuffle(seed=seed, buffer_size=buffer_size, max_buffer_input_shards=1)
    rows.set_epoch(epoch)
    return rows


def second_epoch(folder):
    return shuffled(folder, epoch=1)


def key(row):
    return row["dialogue_id"], row["speaker"]


def keys(rows):
    """Return which rows a batch holds; as a `collate_fn`, too."""
    return [key(row) for row in rows]


def order(rows, workers=0, size=4):
    """Return which rows a loader gives, in which order."""
    loader = DataLoader(
        rows, size, num_workers=workers, collate_fn=keys, timeout=60 if workers else 0
    )
    return list(itertools.chain.from_iterable(loader))


def all_keys(folder):
    """Return the keys in the files, in order."""
    files = sorted(folder.glob("messages/*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    found = keys(rows)
    assert len(set(found)) == len(found)
    return found


def row_groups(folder):
    (file,) = folder.glob("messages/*.parquet")
    metadata = pq.read_metadata(file)
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


# Loading and shuffling ------------------------------------------------------------------------


@WORKERS
def test_each_row_comes_once_an_epoch(folder, workers):
    expected = sorted(all_keys(folder))
    for rows in (stream(folder), stream(folder).reshard(), shuffled(folder)):
        assert sorted(order(rows, workers)) == expected


def test_the_order_is_that_of_the_file_without_shuffling(folder):
    assert order(stream(folder)) == order(stream(folder).reshard()) == all_keys(folder)


@WORKERS
def test_the_order_hangs_on_seed_and_epoch_alone(small_folder, workers):
    def found(**options):
        return tuple(order(shuffled(small_folder, **options), workers))

    assert found() == found()
    assert found(epoch=1) == found(epoch=1)
    assert len({tuple(all_keys(small_folder)), found(), found(seed=43), found(epoch=1)}) == 4
    assert sorted(found(epoch=1)) == sorted(all_keys(small_folder))


def test_set_epoch_reaches_workers_that_stay(small_folder):
    rows = shuffled(small_folder)
    loader = DataLoader(
        rows, 4, num_workers=1, collate_fn=keys, persistent_workers=True, timeout=60
    )
    for epoch in range(3):
        rows.set_epoch(epoch)
        found = list(itertools.chain.from_iterable(loader))
        assert found == order(shuffled(small_folder, epoch=epoch), workers=1)


def test_a_buffer_larger_than_the_split_shuffles_all_of_it(real_build):
    folder = real_build / "casino"
    places = {name: place for place, name in enumerate(all_keys(folder))}
    tenth = len(places) // 10

    def tenths(rows):
        return {places[key(row)] // tenth for row in rows.take(tenth)}

    assert tenths(shuffled(folder)) >= set(range(10))
    assert tenths(shuffled(folder, buffer_size=tenth)) < set(range(10))


def test_a_shard_is_a_row_group_after_reshard(folder):
    groups = row_groups(folder)
    assert stream(folder).num_shards == 1
    assert stream(folder).reshard().num_shards == shuffled(folder).num_shards == len(groups)


def by_worker(rows):
    return [torch.utils.data.get_worker_info().id for _ in rows]


def test_workers_share_the_shards_and_the_rest_get_none(folder):
    groups = row_groups(folder)
    for rows, parts in (stream(folder), [sum(groups)]), (stream(folder).reshard(), groups):
        loader = DataLoader(rows, 4, num_workers=2, collate_fn=by_worker, timeout=60)
        found = Counter(itertools.chain.from_iterable(loader))
        assert [found[0], found[1]] == [sum(parts[0::2]), sum(parts[1::2])]


def test_the_row_groups(sample_build, grouped_build):
    assert row_groups(sample_build / "casino") == [10]
    assert row_groups(grouped_build / "casino") == [3, 3, 3, 1]


def test_the_real_row_groups(real_build):
    """The numbers in docs/training.md, of rows and of those of two ranks."""
    assert row_groups(real_build / "casino") == [1000, 1060]
    parts = of_ranks(stream(real_build / "casino").reshard(), 0)
    assert [len(part) for part in parts] == [1000, 1060]
    parts = of_ranks(stream(real_build / "casino"), 0)
    assert [len(part) for part in parts] == [1030, 1030]


@pytest.mark.parametrize(("options", "waits"), [({"max_buffer_input_shards": 1}, []), ({}, [5])])
def test_a_shuffled_stream_waits_unless_told_to_take_one_shard(
    sample_build, monkeypatch, options, waits
):
    waited = []
    monkeypatch.setattr(datasets.iterable_dataset.time, "sleep", waited.append)
    rows = stream(sample_build / "casino").shuffle(seed=42, buffer_size=LARGER, **options)
    assert len(list(rows)) == 10
    assert waited == waits
    next(iter(rows))
    assert waited == waits * 2


# Ranks ----------------------------------------------------------------------------------------


def of_ranks(rows, workers):
    return [order(split_dataset_by_node(rows, rank=n, world_size=2), workers) for n in range(2)]


@WORKERS
@pytest.mark.parametrize("make", [stream, shuffled])
def test_two_ranks_share_the_rows(folder, workers, make):
    parts = of_ranks(make(folder), workers)
    assert sorted(parts[0] + parts[1]) == sorted(all_keys(folder))


def test_ranks_take_whole_shards_where_they_can(folder):
    groups = row_groups(folder)
    parts = [len(part) for part in of_ranks(shuffled(folder), 0)]
    rows = sum(groups)
    if len(groups) % 2 == 0:
        possible = itertools.permutations(groups)
        assert sorted(parts) in [sorted([sum(p[::2]), sum(p[1::2])]) for p in possible]
    else:
        assert parts == [rows - rows // 2, rows // 2]
    assert [len(part) for part in of_ranks(stream(folder), 0)] == [rows - rows // 2, rows // 2]


# Resuming -------------------------------------------------------------------------------------


def saved(state):
    """Return a state as it comes back from a file."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file)


def stopped(loader, batches):
    """Return what came before and after a stop, and the state at it."""
    iterator = iter(loader)
    before = list(itertools.chain.from_iterable(itertools.islice(iterator, batches)))
    state = loader.state_dict()
    return before, list(itertools.chain.from_iterable(iterator)), saved(state)


@WORKERS
@pytest.mark.parametrize("make", [stream, shuffled, second_epoch])
def test_resuming_gives_exactly_the_rest(folder, workers, make):
    def loader():
        return stateful.StatefulDataLoader(
            make(folder), 4, num_workers=workers, collate_fn=keys, timeout=60 if workers else 0
        )

    expected = sorted(all_keys(folder))
    before, after, state = stopped(loader(), len(expected) // 5)
    assert before
    assert after
    assert sorted(before + after) == expected
    resumed = loader()
    resumed.load_state_dict(state)
    assert list(itertools.chain.from_iterable(resumed)) == after


@pytest.mark.parametrize("make", [stream, shuffled, second_epoch])
def test_without_workers_the_state_of_the_stream_will_do(small_folder, make):
    rows = make(small_folder)
    iterator = iter(DataLoader(rows, 4, collate_fn=keys))
    before = next(iterator)
    state = saved(rows.state_dict())
    after = list(itertools.chain.from_iterable(iterator))
    assert sorted(before + after) == sorted(all_keys(small_folder))
    resumed = make(small_folder)
    resumed.load_state_dict(state)
    assert order(resumed) == after


def test_with_workers_the_stream_knows_nothing(grouped_build):
    rows = stream(grouped_build / "casino").reshard()
    state = rows.state_dict()
    assert len(order(rows, workers=2)) == 10
    assert rows.state_dict() == state
    assert len(order(rows, workers=0)) == 10
    assert rows.state_dict() != state


@WORKERS
def test_skipping_is_exact_whatever_the_buffer(small_folder, workers):
    def loader():
        rows = shuffled(small_folder, buffer_size=len(all_keys(small_folder)) // 4, epoch=1)
        return DataLoader(rows, 4, num_workers=workers, collate_fn=keys)

    batches = list(loader())
    assert list(itertools.islice(loader(), 1, None)) == batches[1:]


def test_a_smaller_buffer_loses_rows_and_repeats_some(real_build):
    """A known fault of datasets (issue 7901): once this fails, docs/training.md can say so."""
    rows = shuffled(real_build / "casino", buffer_size=500)
    expected = all_keys(real_build / "casino")
    before, _, state = stopped(stateful.StatefulDataLoader(rows, 16, collate_fn=keys), 60)
    rows = shuffled(real_build / "casino", buffer_size=500)
    resumed = stateful.StatefulDataLoader(rows, 16, collate_fn=keys)
    resumed.load_state_dict(state)
    found = Counter(before + list(itertools.chain.from_iterable(resumed)))
    assert len(set(expected) - set(found)) > 200
    assert max(found.values()) == 2


def test_several_workers_cannot_resume_shards_taken_together(grouped_build, monkeypatch):
    """A known fault of datasets: why docs/training.md passes `max_buffer_input_shards=1`."""
    worker = SimpleNamespace(id=0, num_workers=2)
    monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda: worker)
    monkeypatch.setattr(datasets.config, "SLEEP_TIME_ON_THREADS_SHUTDOWN", 0)
    rows = stream(grouped_build / "casino").reshard().shuffle(seed=42, buffer_size=LARGER)
    next(iter(rows))
    rows.load_state_dict(rows.state_dict())
    with pytest.raises(IndexError):
        next(iter(rows))


# Tensors --------------------------------------------------------------------------------------


def test_numbers_and_labels_come_as_tensors(dataset, sample_build):
    """A missing number is NaN."""
    folder = sample_build / dataset.name
    for config in dataset.splits:
        for split, rows in load_dataset(str(folder), config, streaming=True).items():
            plain = {
                name
                for name, feature in rows.features.items()
                if isinstance(feature, datasets.ClassLabel)
                or (isinstance(feature, datasets.Value) and feature.dtype != "string")
            }
            for row, found in zip(rows, rows.with_format("torch"), strict=True):
                for name in plain:
                    value, tensor = row[name], found[name]
                    assert isinstance(tensor, torch.Tensor), (config, split, name)
                    if value is None:
                        assert tensor.isnan()
                    else:
                        assert tensor.item() == pytest.approx(value, rel=1e-6)


def chats(tokenizer, rows):
    """Make a batch as docs/training.md does."""
    batch = tokenizer.apply_chat_template(
        [row["messages"] for row in rows],
        padding=True,
        return_tensors="pt",
        return_dict=True,
        return_assistant_tokens_mask=True,
    )
    said = batch.pop("assistant_masks").bool()
    return {**batch, "labels": batch["input_ids"].masked_fill(~said, -100)}


def said(row):
    return [text["content"] + END for text in row["messages"] if text["role"] == "assistant"]


def assert_labels(tokenizer, batches, rows):
    """The labels are what the assistant says, with the end of each turn, and nothing else."""
    found = []
    for batch in batches:
        for tokens, labels in zip(batch["input_ids"], batch["labels"], strict=True):
            own = labels != -100
            assert tokens[own].tolist() == labels[own].tolist()
            found.append(tokenizer.decode(labels[own]))
    assert found == ["".join(said(row)) for row in rows]


@pytest.fixture
def some_chats(dataset, sample_build):
    """The chats of each split of the sample: a folder, the split, and its rows."""
    folder = sample_build / dataset.name
    return [
        (folder, split, list(rows))
        for split, rows in load_dataset(str(folder), "messages", streaming=True).items()
    ]


def test_labels_are_what_the_assistant_says(tokenizer, some_chats):
    for _, _, rows in some_chats:
        assert_labels(tokenizer, [chats(tokenizer, rows)], rows)


def test_labels_of_real_chats_are_what_the_assistant_says(tokenizer, dataset, real_build):
    streams = load_dataset(str(real_build / dataset.name), "messages", streaming=True)
    for split in streams.values():
        rows = list(split.take(100))
        assert_labels(tokenizer, [chats(tokenizer, rows)], rows)


# Trainers -------------------------------------------------------------------------------------


@pytest.fixture(params=["Trainer", "SFTTrainer"])
def make_trainer(request, my_model, tokenizer, tmp_path):
    """Return what makes a trainer of the rows, set up as docs/training.md does."""

    def options(**given):
        return {
            "output_dir": str(tmp_path / "trained"),
            "per_device_train_batch_size": 2,
            "logging_steps": 1,
            "save_strategy": "no",
            "disable_tqdm": True,
            "report_to": "none",
            "use_cpu": True,
            "dataloader_pin_memory": False,  # a warning without a GPU
            **given,
        }

    def make(rows, **given):
        if request.param == "Trainer":
            return transformers.Trainer(
                transformers.AutoModelForCausalLM.from_pretrained(my_model),
                transformers.TrainingArguments(**options(remove_unused_columns=False, **given)),
                data_collator=lambda rows: chats(tokenizer, rows),
                train_dataset=rows,
            )
        trl = pytest.importorskip("trl", reason=f"trl is {NEEDED}")
        settings = options(assistant_only_loss=True, max_length=None, bf16=False, **given)
        return trl.SFTTrainer(str(my_model), trl.SFTConfig(**settings), train_dataset=rows)

    return make


def losses(trainer, **options):
    trainer.train(**options)
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_training_on_a_shuffled_stream(make_trainer, grouped_build, tokenizer):
    """Two epochs of five steps: the loss is finite, and starts where random weights leave it."""
    found = losses(make_trainer(shuffled(grouped_build / "casino"), max_steps=10))
    assert len(found) == 10
    assert all(map(math.isfinite, found))
    assert found[0] == pytest.approx(math.log(len(tokenizer)), abs=0.3)


def test_training_on_one_batch_lowers_the_loss(make_trainer, sample_build):
    rows = stream(sample_build / "duo", "en").take(2)
    options = {"learning_rate": 0.005, "lr_scheduler_type": "constant"}
    found = losses(make_trainer(rows, max_steps=20, **options))
    assert len(found) == 20
    assert all(map(math.isfinite, found))
    assert found[-1] < found[0] / 2


def test_a_trainer_goes_on_where_it_stopped(make_trainer, grouped_build):
    def trainer():
        rows = shuffled(grouped_build / "casino")
        return make_trainer(rows, max_steps=4, save_strategy="steps", save_steps=2)

    first = trainer()
    expected = losses(first)
    checkpoint = os.path.join(first.args.output_dir, "checkpoint-2")
    assert losses(trainer(), resume_from_checkpoint=checkpoint) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("make_trainer", ["SFTTrainer"], indirect=True)
def test_sft_labels_are_what_the_assistant_says(make_trainer, tokenizer, some_chats):
    for folder, split, rows in some_chats:
        trainer = make_trainer(stream(folder, split=split), max_steps=1)
        assert_labels(tokenizer, trainer.get_train_dataloader(), rows)


# What a rank is trained on.
RANK = """\
import json
import os
import sys

from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from trl import SFTConfig, SFTTrainer

model, folder, output = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(model)
stream = load_dataset(folder, "messages", split="train", streaming=True).reshard()
stream = stream.shuffle(seed=42, buffer_size=20_000, max_buffer_input_shards=1)
options = {
    "output_dir": output, "max_steps": 2, "per_device_train_batch_size": 2, "report_to": "none",
    "save_strategy": "no", "use_cpu": True, "remove_unused_columns": False,
}


def collate(rows):
    batch = tokenizer.apply_chat_template(
        [row["messages"] for row in rows], padding=True, return_tensors="pt", return_dict=True
    )
    return {**batch, "labels": batch["input_ids"]}


def texts(trainer):
    found, step = [], trainer.training_step

    def recorded(model, inputs, *others):
        found.extend(tokenizer.decode(tokens.tolist()) for tokens in inputs["input_ids"])
        return step(model, inputs, *others)

    trainer.training_step = recorded
    trainer.train()
    return [text.replace("<|pad|>", "") for text in found]


found = {
    "Trainer": texts(
        Trainer(
            AutoModelForCausalLM.from_pretrained(model),
            TrainingArguments(accelerator_config={"dispatch_batches": False}, **options),
            data_collator=collate, train_dataset=stream,
        )
    ),
    "SFTTrainer": texts(
        SFTTrainer(
            model, SFTConfig(bf16=False, max_length=None, **options),
            train_dataset=stream,
        )
    ),
}
with open(os.path.join(output, os.environ["RANK"]), "w") as file:
    json.dump(found, file)
os._exit(0)  # a process that leaves a stream unread may abort as it ends (apache/arrow#45214)
"""


def test_trainers_deal_the_rows_out_to_ranks(grouped_build, my_model, tokenizer, tmp_path):
    for module in ("trl", "accelerate"):
        pytest.importorskip(module, reason=f"{module} is {NEEDED}")
    (tmp_path / "rank.py").write_text(RANK)
    folder = grouped_build / "casino"
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [sys.executable, *launcher, "rank.py", my_model, folder, tmp_path],
        cwd=tmp_path,
        env={**os.environ, "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    known = {
        tokenizer.apply_chat_template(row["messages"], tokenize=False) for row in stream(folder)
    }
    assert len(known) == 10
    ranks = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(2)]
    for trainer in ("Trainer", "SFTTrainer"):
        parts = [rank[trainer] for rank in ranks]
        assert [len(part) for part in parts] == [4, 4]
        assert len(set(parts[0] + parts[1])) == 8
        assert set(parts[0] + parts[1]) < known
