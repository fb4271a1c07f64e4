"""Publishes a build to the Hub: one commit, which is read back and compared, then a tag.

An interruption is harmless. The commit adds all files or none, and fails if the repository has
changed since its files were compared. The tag comes last. A repository holds the old version or the
new one, and publishing again completes the upload.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import huggingface_hub
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined] # documented

from parley.base.errors import OutputError, ParleyError, Problem, PublishError, UsageError, shorten
from parley.base.replace import temporary_folder
from parley.base.secret import keep_secret, without_secrets
from parley.builds.built_folder import BuiltFolder
from parley.builds.card import is_licensed, licence_section
from parley.builds.provenance import CARD, PROVENANCE, read_provenance
from parley.builds.sources import Sources
from parley.declaration.registry import Dataset
from parley.source.hashes import hash_file
from parley.verification.verify import verify

ADD, CHANGE, REMOVE, KEEP, LEAVE = "add", "change", "remove", "keep", "leave"

# Files of records, as listed in docs/publishing.md: readers of all such files would mix them with
# ours.
_RECORDS = re.compile(
    r".*\.(parquet|geoparquet|gpq|arrow|lance|vortex|tsfile|csv|tsv|json|jsonl|ndjson|xml|conll|conllu"
    r"|h5|hdf5|eval|zip|t(ar|gz|bz2?|xz|zst))(\.(gz|bz2|xz|zst|lz4))?\s*",
    re.IGNORECASE | re.DOTALL,
)
_SETTINGS = ".huggingface.yaml"  # `datasets` lets it overrule the card

LocalFiles = Mapping[str, str]  # name -> sha256 of a file to publish

_NOT_TRUSTED = (
    "Nothing was written. Name this workflow as a Trusted Publisher in the settings of the "
    "repository, and give its job `id-token: write`; or unset HF_OIDC_RESOURCE."
)
_ADVICE = {
    401: "The token is missing or unknown to the Hub: run `hf auth login`.",
    403: "This token may not write there: ask the owner, or choose another --repo.",
    404: "It does not exist, or this token may not see it.",
    409: "Somebody else tagged it meanwhile: look at what they did.",
    412: "Somebody else changed it meanwhile: look at what they did, and publish again if you "
    "still want to.",
}
NOT_BEGUN = "Nothing was written. Fix the cause if it is named; else try again later."
BEGUN = (
    "The repository holds the old version or the new one. Fix the cause if it is named, and "
    "run the same command again: it completes the upload."
)


@dataclass(frozen=True)
class FileChange:
    """The change to one file of a repository; `size` is in bytes."""

    path: str
    action: str
    size: int

    @property
    def writes(self) -> bool:
        """Whether the file changes."""
        return self.action not in (KEEP, LEAVE)


@dataclass(frozen=True)
class Publication:
    """The result of publishing, or of its dry run."""

    repo: str
    url: str
    revision: str
    changes: list[FileChange]
    is_new: bool
    dry_run: bool
    commit: str | None
    endpoint: str

    @property
    def changed(self) -> list[FileChange]:
        """The changes to files of the repository."""
        return [change for change in self.changes if change.writes]

    @property
    def left(self) -> list[str]:
        """Other people's files, left unchanged."""
        return [change.path for change in self.changes if change.action == LEAVE]

    def as_dict(self) -> dict[str, Any]:
        """Return it all for JSON."""
        return {**vars(self), "changes": [vars(change) for change in self.changes]}


def validate_target(repo: str, dry_run: bool, endpoint: str | None = None) -> None:
    """Raise UsageError for an invalid name or URL, PublishError without a token to write.

    The name is not shown, as a token may stand in it.
    """
    inside = re.match(r"(?:\w+://)?(?:[^/]*/)?datasets/([^/?#]+/[^/?#]+)", repo)
    right = inside[1] if inside else "ORG/NAME, with your organisation or user"
    wrong = UsageError("--repo: expected ORG/NAME", remedy=f"Write --repo {right}.")
    if inside or "/" not in repo:
        raise wrong
    try:
        validate_repo_id(repo)
    except HFValidationError:
        raise wrong from None
    if endpoint and (not re.fullmatch("https?://[!-~]+", endpoint) or "@" in endpoint):
        raise UsageError("--endpoint: expected the URL of a Hub, without a user name or token")
    with clear_errors("no token for the Hub", _NOT_TRUSTED):
        has_token = bool(token())
    if not dry_run and not has_token:
        raise PublishError("no token for the Hub: run `hf auth login`, or set HF_TOKEN")


def require_reachable(built: BuiltFolder, repo: str, endpoint: str | None) -> None:
    """Raise PublishError unless the Hub answers about a repository, which may be missing."""
    there = Repository(repo, endpoint, built.path)
    with clear_errors(f"{repo} at {there.endpoint}", NOT_BEGUN):
        there.state()


def verify_for_upload(
    built: BuiltFolder,
    source: Sources | None,
    permitted: bool,
    on_verify: Callable[[], None] = lambda: None,
) -> None:
    """Raise OutputError with the reasons why a build is not published.

    `on_verify` is called before the build is verified, which takes long. `permitted` tells that
    the user has permission to publish, whatever the card says.
    """
    reasons = []
    if built.is_sample:
        remedy = f"build it from the upstream files with {built.rebuild}"
        reasons.append(f"it is the invented sample; {remedy}")
    elif built.missing:
        missing = ", ".join(built.missing)
        reasons.append(f"it is partial: {missing} was missing; fetch it and run {built.rebuild}")
    if not permitted and (unlicensed := _unlicensed(built.dataset)):
        reasons.append(unlicensed)
    if not reasons:
        on_verify()
        result = verify(built, source)
        if result.failed:
            reasons.append(f"{built.command('verify')} fails; read its output")
        shards = [check for check in result.checks if check.name == "shards"]
        reasons += [check.skipped for check in shards if check.skipped]
    if reasons:
        lines = "\n".join(f"- {reason}" for reason in reasons)
        raise OutputError(f"{built.shown_path} is not published:\n{lines}")


def _unlicensed(dataset: Dataset) -> str:
    card, where = dataset.read_card(), str(dataset.card)
    if is_licensed(card, where):
        return ""
    section = licence_section(card, where).replace("\n", "\n    ")
    remedy = "With the permission of the data's owners, add --i-have-permission."
    return f"its licence is unknown. Its card says:\n    {section}\n  {remedy}"


def publish(
    built: BuiltFolder,
    files: LocalFiles,
    repo: str,
    *,
    private: bool = False,
    tag: bool = True,
    dry_run: bool = False,
    endpoint: str | None = None,
    on_step: Callable[[str], None] = lambda step: None,
) -> Publication:
    """Make a dataset repository hold the files of a build and no other data.

    Call `validate_target` and `verify_for_upload` before; `files` are the build's `hashes()` of
    then. `private` affects only a new repository. PublishError if the Hub fails or refuses,
    somebody else changed the repository, or the commit has other files than were verified.
    """
    version = f"v{built.version}"
    there = Repository(repo, endpoint, built.path)
    where = f"{repo} at {there.endpoint}"
    with clear_errors(where, NOT_BEGUN):
        on_step("reading the repository")
        head, changes, tagged = _look(there, built, files, private, tag)
        is_new = head is None
        if dry_run:
            on_step("a dry run does not test whether this token may write there")
    if not dry_run:
        with clear_errors(where, BEGUN):
            if is_new:
                on_step("creating the repository")
                there.create(private)
                head, changes, tagged = _look(there, built, files, private, tag)
            if count := sum(change.writes for change in changes):
                on_step(f"uploading {count} files")
                head = there.upload(changes, head, f"Publish {built.dataset.name} {version}")
            on_step("reading it back")
            there.read_back(files, head)
            if tag and not tagged:
                on_step(f"tagging {version}")
                there.tag(version, head)
    revision = version if tag else head or "main"
    url = f"{there.endpoint}/datasets/{repo}/tree/{revision}"
    commit = None if dry_run else head
    return Publication(repo, url, revision, changes, is_new, dry_run, commit, there.endpoint)


class Repository:
    """A dataset repository on one Hub, and the folder to publish there; raises as its client."""

    def __init__(self, name: str, endpoint: str | None, folder: Path) -> None:
        self.name, self._folder = name, folder
        self._of: Any = {"repo_id": name, "repo_type": "dataset"}
        self._api = HfApi(endpoint=endpoint and endpoint.rstrip("/"), library_name="parley")
        self.endpoint = self._api.endpoint

    def state(self) -> tuple[str | None, bool]:
        """Return the last commit, None if there is no repository, and whether it is private."""
        try:
            info = self._api.dataset_info(self.name)
        except RepositoryNotFoundError as error:
            if error.response.status_code == 401 and token():
                self._api.whoami()  # raises if it is the token that the Hub does not know
            return None, False
        return _commit_id(info.sha), bool(info.private)

    def create(self, private: bool) -> None:
        """Create it unless it exists."""
        self._api.create_repo(**self._of, private=private, exist_ok=True)

    def changes(self, local: LocalFiles, revision: str | None) -> list[FileChange]:
        """Return the change for every local file and every file of a commit; others' files stay."""
        remote = self._files(revision)
        changes = []
        for path in sorted({*local, *remote}):
            if path not in local:
                action = REMOVE if self._is_of_data(path) else LEAVE
                changes.append(FileChange(path, action, remote[path].size))
                continue
            action, file = ADD, self._folder / path
            if path in remote:
                action = KEEP if _is_equal(file, local[path], remote[path]) else CHANGE
            changes.append(FileChange(path, action, file.stat().st_size))
        return changes

    def foreign(self, revision: str | None, dataset: str, local: LocalFiles) -> str:
        """Describe the data in a commit that is from no build of the dataset, or return "".

        A file that a local one would replace counts as data, but for the card.
        """
        files = self._files(revision)
        files = {p: file for p, file in files.items() if p in local or self._is_of_data(p)}
        there = self._provenance(revision, files.get(PROVENANCE))
        if there.get("dataset", dataset) != dataset:
            return f"the dataset {there['dataset']!r}"
        entries = (entry for of in there.get("configs", {}).values() for entry in of.values())
        ours = {file["path"] for entry in entries for file in entry["files"]}
        if ours:
            ours.add(PROVENANCE)
        others = sorted(files.keys() - ours - {CARD})
        return f"data from elsewhere, {len(others)} files such as {others[0]}" if others else ""

    def _is_of_data(self, path: str) -> bool:
        """Tell whether a file holds records, or changes how `datasets` or the Hub takes them."""
        script = f"{self.name.partition('/')[2]}.py".lower()  # runs before datasets 4
        return path.lower() in (_SETTINGS, script) or bool(_RECORDS.fullmatch(path))

    def tagged(self, version: str) -> str | None:
        """Return the commit with a tag."""
        tags = self._api.list_repo_refs(**self._of).tags
        return next((_commit_id(t.target_commit) for t in tags if t.name == version), None)

    def tag(self, tag: str, commit: str | None) -> None:
        """Tag a commit; an existing tag is an error."""
        self._api.create_tag(**self._of, tag=tag, revision=commit)

    def upload(self, changes: list[FileChange], parent: str | None, message: str) -> str:
        """Make the changes in one commit on top of `parent`, or fail with 412; return it."""
        operations: list[CommitOperationAdd | CommitOperationDelete] = []
        for change in changes:
            if change.action in (ADD, CHANGE):
                file = self._folder / change.path
                operations.append(CommitOperationAdd(change.path, file))
            elif change.action == REMOVE:
                operations.append(CommitOperationDelete(change.path))
        commit = self._api.create_commit(
            **self._of, operations=operations, commit_message=message, parent_commit=parent
        )
        return _commit_id(commit.oid)

    def read_back(self, local: LocalFiles, commit: str | None) -> None:
        """Download a commit; PublishError names each file that differs from a local one."""
        with temporary_folder("publish") as place:
            self._api.snapshot_download(**self._of, revision=commit, local_dir=place)
            ours = [p for p in self._files(commit) if p in local or self._is_of_data(p)]
            hashes = {path: hash_file(place / path, "sha256") for path in ours}
        if differing := [
            Problem(path, local.get(path, "no file"), hashes.get(path, "no file"))
            for path in sorted({*local, *hashes})
            if local.get(path) != hashes.get(path)
        ]:
            what = f"{self.name}: the commit {commit}, read back, differs from what was verified"
            remedy = "It has no tag. Publish again while no other program writes into the build "
            raise PublishError(what, *differing, remedy=f"{remedy}or the repository.")

    def _files(self, revision: str | None) -> dict[str, RepoFile]:
        if revision is None:
            return {}
        tree = self._api.list_repo_tree(**self._of, recursive=True, revision=revision)
        files = {item.path: item for item in tree if isinstance(item, RepoFile)}
        files.pop(".gitattributes", None)  # the Hub's
        return files

    def _provenance(self, revision: str | None, file: RepoFile | None) -> dict[str, Any]:
        """Return the provenance in a commit, or {} if parley did not write it."""
        if file and file.size <= 1_000_000:
            there = {**self._of, "filename": PROVENANCE, "revision": revision}
            with temporary_folder("publish") as folder:
                self._api.hf_hub_download(**there, local_dir=folder)
                with suppress(OutputError):  # another program's provenance.json
                    return read_provenance(folder)
        return {}


def _look(
    there: Repository, built: BuiltFolder, files: LocalFiles, private: bool, tag: bool
) -> tuple[str | None, list[FileChange], bool]:
    """Return last commit, changes, whether the version is tagged; or refuse to touch other data."""
    repo, version, name = there.name, f"v{built.version}", built.dataset.name
    head, is_private = there.state()
    if private and head and not is_private:
        what = f"{repo}: is public already; publishing does not make it private"
        raise PublishError(what, remedy="Change that on the Hub, or leave out --private.")
    if foreign := there.foreign(head, name, files):
        what = f"{repo}: holds {foreign}; publishing {name} there would mix both"
        raise PublishError(what, remedy="Choose another --repo, or remove it on the Hub first.")
    changes = there.changes(files, head)
    tagged = there.tagged(version) if head and tag else None
    published = f"{repo}: {name} {built.version} is published already"
    if tagged and any(change.writes for change in there.changes(files, tagged)):
        remedy = f"Raise VERSION in {name}.py, or leave the tag alone with --no-tag."
        raise PublishError(f"{published}, as commit {tagged[:12]}, with other files", remedy=remedy)
    if tagged and any(change.writes for change in changes):
        remedy = "To go back to it, publish with --no-tag."
        raise PublishError(f"{published}, and the repository changed since", remedy=remedy)
    return head, changes, bool(tagged)


def _is_equal(file: Path, sha256: str, remote: RepoFile) -> bool:
    if remote.lfs:
        return bool(remote.lfs.sha256 == sha256)
    return hash_file(file, "git_blob") == remote.blob_id


@contextmanager
def clear_errors(where: str, advice: str) -> Iterator[None]:
    """Turn the libraries' errors into a PublishError without tokens; `advice` is a remedy."""
    try:
        yield
    except ParleyError:
        raise
    except Exception as error:  # the libraries raise many kinds
        # a failed upload is a RuntimeError, which names the file, from what went wrong
        cause = error.__cause__ if isinstance(error, RuntimeError) else None
        failure = cause or error
        status = getattr(getattr(failure, "response", None), "status_code", None)
        texts = [str(error)] if cause else []
        texts.append(getattr(failure, "server_message", None) or str(failure))
        message = " ".join(" ".join(texts).split()) or type(failure).__name__
        what = without_secrets(f"{where}: {message}")
        raise PublishError(what, remedy=_ADVICE.get(status or 0, advice)) from error


def token() -> str | None:
    """Return the token for the Hub, and hide it from all output."""
    secret = huggingface_hub.get_token()
    if secret:
        keep_secret(secret)
    return secret


def _commit_id(answer: Any) -> str:
    if not re.fullmatch("[0-9a-f]{40}", str(answer)):
        raise PublishError(f"the Hub returned an invalid commit id: {shorten(repr(answer), 100)}")
    return str(answer)
