"""The `messages` configs feed PyTorch, transformers and TRL: each row once, shuffled, resumably.

tests/test_docs.py runs the code of docs/training.md; these tests check its claims on real builds.
"""

import io
import itertools
import math

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
LARGER = 20_000  # than every split, as in docs/training.md
END = "<|im_end|>"


@pytest.fixture(params=["sample_build", "grouped_build", "real_build"])
def folder(request):
    """CaSiNo's build: the sample (one row group), the sample in four, the real one (two)."""
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


def key(row):
    return row["dialogue_id"], row["speaker"]


def keys(rows):
    """Return the keys of a batch's rows; also a `collate_fn`."""
    return [key(row) for row in rows]


def order(rows, workers=0, size=4):
    """Return the keys of a loader's rows, in order."""
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


@WORKERS
def test_each_row_comes_once_an_epoch(folder, workers):
    expected = sorted(all_keys(folder))
    for rows in (stream(folder), stream(folder).reshard(), shuffled(folder)):
        assert sorted(order(rows, workers)) == expected


def test_a_buffer_larger_than_the_split_shuffles_all_of_it(real_build):
    folder = real_build / "casino"
    places = {name: place for place, name in enumerate(all_keys(folder))}
    tenth = len(places) // 10

    def tenths(rows):
        return {places[key(row)] // tenth for row in rows.take(tenth)}

    assert tenths(shuffled(folder)) >= set(range(10))
    assert tenths(shuffled(folder, buffer_size=tenth)) < set(range(10))


def test_the_row_groups(sample_build, grouped_build):
    assert row_groups(sample_build / "casino") == [10]
    assert row_groups(grouped_build / "casino") == [3, 3, 3, 1]


def test_the_real_row_groups(real_build):
    """docs/training.md states these numbers."""
    assert row_groups(real_build / "casino") == [1000, 1060]
    parts = of_ranks(stream(real_build / "casino").reshard(), 0)
    assert [len(part) for part in parts] == [1000, 1060]
    parts = of_ranks(stream(real_build / "casino"), 0)
    assert [len(part) for part in parts] == [1030, 1030]


def of_ranks(rows, workers):
    return [order(split_dataset_by_node(rows, rank=n, world_size=2), workers) for n in range(2)]


@WORKERS
@pytest.mark.parametrize("make", [stream, shuffled])
def test_two_ranks_share_the_rows(folder, workers, make):
    parts = of_ranks(make(folder), workers)
    assert sorted(parts[0] + parts[1]) == sorted(all_keys(folder))


def saved(state):
    """Save a state to a file and load it."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file)


def stopped(loader, batches):
    """Return the rows before and after a stop, and the state at the stop."""
    iterator = iter(loader)
    before = list(itertools.chain.from_iterable(itertools.islice(iterator, batches)))
    state = loader.state_dict()
    return before, list(itertools.chain.from_iterable(iterator)), saved(state)


@WORKERS
@pytest.mark.parametrize("make", [stream, shuffled])
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
    """The labels are the assistant's text with the end of each turn, and nothing else."""
    found = []
    for batch in batches:
        for tokens, labels in zip(batch["input_ids"], batch["labels"], strict=True):
            own = labels != -100
            assert tokens[own].tolist() == labels[own].tolist()
            found.append(tokenizer.decode(labels[own]))
    assert found == ["".join(said(row)) for row in rows]


@pytest.mark.parametrize("build", ["sample_build", "real_build"])
def test_labels_are_the_assistants_text(tokenizer, dataset, build, request):
    folder = request.getfixturevalue(build) / dataset.name
    for split in load_dataset(str(folder), "messages", streaming=True).values():
        rows = list(split.take(100))
        assert_labels(tokenizer, [chats(tokenizer, rows)], rows)


@pytest.fixture(params=["Trainer", "SFTTrainer"])
def make_trainer(request, my_model, tokenizer, tmp_path):
    """Make a trainer of rows as docs/training.md does."""

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


def test_training_on_one_batch_lowers_the_loss(make_trainer, sample_build):
    rows = stream(sample_build / "duo", "en").take(2)
    options = {"learning_rate": 0.005, "lr_scheduler_type": "constant"}
    found = losses(make_trainer(rows, max_steps=20, **options))
    assert len(found) == 20
    assert all(map(math.isfinite, found))
    assert found[-1] < found[0] / 2


@pytest.mark.parametrize("make_trainer", ["SFTTrainer"], indirect=True)
def test_sft_labels_are_the_assistants_text(make_trainer, tokenizer, dataset, sample_build):
    folder = sample_build / dataset.name
    for split, rows in load_dataset(str(folder), "messages", streaming=True).items():
        trainer = make_trainer(stream(folder, split=split), max_steps=1)
        assert_labels(tokenizer, trainer.get_train_dataloader(), list(rows))
