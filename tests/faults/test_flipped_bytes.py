"""`parley verify` notices a flipped byte of any Parquet file, and does not crash."""

import random
import shutil

from parley.building.built import open_folder
from parley.verifying import integrity
from parley.verifying.verify import verify

PLACES = 50  # in each file


def flips(path):
    """Damage a file in place, one byte at a time."""
    body = path.read_bytes()
    draw = random.Random(f"{path.parent.name}/{path.name}")
    for _ in range(PLACES):
        damaged = bytearray(body)
        damaged[draw.randrange(len(body))] ^= draw.randrange(1, 256)
        path.write_bytes(damaged)
        yield
    path.write_bytes(body)


def test_a_flipped_byte(dataset, sample_build, tmp_path, tally):
    """The check of files names the file; all of `verify` survives the last damage."""
    folder = shutil.copytree(sample_build / dataset.name, tmp_path / dataset.name)
    built = open_folder(folder)
    assert list(integrity.files(built)) == []
    paths = sorted(folder.rglob("*.parquet"))
    for path in paths:
        name = path.relative_to(folder).as_posix()
        for number, _ in enumerate(flips(path), 1):
            (problem,) = integrity.files(built)
            assert problem.startswith(f"{name}: sha256 expected ")
            if number == PLACES:
                assert verify(open_folder(folder)).checks[0].problems == [problem]
    assert len(paths) == sum(map(len, dataset.splits.values()))
    tally("byte of a Parquet file flipped", PLACES * len(paths))
