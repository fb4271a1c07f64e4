"""Names that `datasets` 2.21 to 5.2, or the Hub, reads in a folder beside Parquet and README.md.

`verify` refuses each of them in a build but those in KNOWN, with which `load_dataset` gives the
recorded rows. `publish` refuses a repository that holds one, but leaves those in LEFT alone, with
which the published rows are the recorded ones. tests/compat.py tries both in each version, and
that no version knows a name that is not here.
"""

import json
import sys

EVIL = ".x/train.parquet"  # where the names that refer to other files lead
SCRIPT = """
import datasets

class Evil(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo()
    def _split_generators(self, manager):
        return [datasets.SplitGenerator("train")]
    def _generate_examples(self):
        yield 0, {"evil": 1}
"""
_PLACE = {"configs": [{"config_name": "dialogues", "data_files": EVIL}]}
_INFOS = {"dialogues": {"splits": {"train": {"name": "train", "num_examples": 1}}}}

# Text, unless it holds rows: those of the Parquet file that `contents` is given
NAMES = {
    # datasets.load: overrules the card; adds to its dataset_info; run before datasets 4, which
    # refuse it; `save_to_disk`
    ".huggingface.yaml": json.dumps(_PLACE), "dataset_infos.json": json.dumps(_INFOS),
    **dict.fromkeys(("NAME.py", "other.py"), SCRIPT),
    **dict.fromkeys(("state.json", "dataset_info.json", "dataset_dict.json"), "{}"),
    **dict.fromkeys(("dataset.arrow", "indices.arrow", "dummy_data.zip"), "0"),
    **dict.fromkeys(("config.json", "metric_info.json"), "{}"),
    # datasets.data_files: the patterns of the card, and those of a folder without a card
    **dict.fromkeys(("dialogues/train-extra.parquet", "train.parquet", "train/rows.parquet"), EVIL),
    "dialogues/train-00001-of-00002.parquet": EVIL, "data/train-00000-of-00001.parquet": EVIL,
    "dialogues/train-00000-of-00001.parquet.gz": "0", "rows-test-1.csv": "evil\n1\n",
    # packaged modules: metadata of files in a folder, of tasks, of tables
    "metadata.csv": "file_name,evil\nREADME.md,1\n",
    "metadata.jsonl": '{"file_name": "README.md", "evil": 1}\n',
    "metadata.parquet": EVIL, "dialogues/metadata.parquet": EVIL, "task.toml": "evil = 1\n",
    "instruction.md": "Evil.\n", "latest_version_hint.json": "{}",
    "rows.lance/_versions/1.manifest": "0",
    # names with a dot, and others that readers pass over now and then
    **dict.fromkeys((EVIL, ".train.parquet", "dialogues/.train-00000-of-00001.parquet"), EVIL),
    **dict.fromkeys((".cache/train.parquet", "__pycache__/train.parquet"), EVIL),
    "readme.md": json.dumps(_PLACE),
    # the Hub, whose people add `eval.yaml` for leaderboards, and git
    "LICENSE": "Evil.\n", "eval.yaml": "name: evil\n", ".eval_results/evil.yaml": "[]",
    "index.html": "<script>evil()</script>", "croissant.json": "{}",
    **dict.fromkeys((".gitignore", ".gitmodules", ".lfsconfig"), "[evil]\n"),
    # huggingface_hub, in a copy
    ".gitattributes": "*.parquet filter=lfs\n", ".cache/huggingface/.gitignore": "*",
    ".cache/huggingface/download/README.md.metadata": "0",
    ".cache/huggingface/download/train.parquet": EVIL,
}  # fmt: skip
KNOWN = {".gitattributes", "eval.yaml", ".cache/huggingface/.gitignore"}
KNOWN |= {".cache/huggingface/download/README.md.metadata"}
LEFT = {
    *("other.py", "task.toml", "instruction.md", "rows.lance/_versions/1.manifest", "readme.md"),
    *("LICENSE", ".eval_results/evil.yaml", "index.html"),
    *(".gitignore", ".gitmodules", ".lfsconfig", *KNOWN),
}


def contents(dataset, rows):
    """Return name -> bytes of each name in a build of a dataset; `rows` is a Parquet file."""
    named = ((name.replace("NAME", dataset), text) for name, text in NAMES.items())
    return {name: rows if text == EVIL else text.encode() for name, text in named}


def read_by(datasets):
    """Return the names that the code of a version of `datasets` lists, and its file suffixes."""
    from datasets import config, data_files, load, packaged_modules
    from datasets.packaged_modules.folder_based_builder import folder_based_builder

    listed = [value for name, value in vars(config).items() if name.endswith("_FILENAME")]
    listed += data_files.FILES_TO_IGNORE
    listed += folder_based_builder.FolderBasedBuilder.METADATA_FILENAMES
    listed += getattr(packaged_modules, "_ALL_METADATA_FILENAMES", ())
    allowed = "ALL_ALLOWED_EXTENSIONS"
    suffixes = getattr(load, allowed, None) or getattr(packaged_modules, f"_{allowed}")
    return sorted(set(listed) - {config.REPOCARD_FILENAME}), sorted(set(map(str.lower, suffixes)))


if __name__ == "__main__":  # in an environment with the version
    import datasets

    json.dump(read_by(datasets), sys.stdout)
