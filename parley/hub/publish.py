"""Publishes a build to the Hub: one commit, which is read back and compared, then a tag.

An interruption is harmless. The commit adds all files or none, and fails if the repository has
changed since its files were compared. The tag comes last. A repository holds the old version or the
new one, and publishing again completes the upload.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils._validators import validate_repo_id

from parley.base.errors import OutputError, PublishError, UsageError
from parley.builds.card import is_licensed, licence_section
from parley.declaration.registry import Dataset
from parley.hub import upload
from parley.hub.upload import Change, LocalFiles, Repository, clear_errors
from parley.rows.folder import BuiltFolder
from parley.rows.upstream import Sources
from parley.verification.verify import BuildCheck, verify


@dataclass(frozen=True)
class Publication:
    """The result of publishing, or of its dry run."""

    repo: str
    url: str
    revision: str
    changes: list[Change]
    is_new: bool
    dry_run: bool
    commit: str | None

    @property
    def changed(self) -> list[Change]:
        """The changes to files of the repository."""
        return [change for change in self.changes if change.writes]

    @property
    def left(self) -> list[str]:
        """Other people's files, left unchanged."""
        return [change.path for change in self.changes if change.action == upload.LEAVE]

    def as_dict(self) -> dict[str, Any]:
        """Return it all for JSON."""
        return {**vars(self), "changes": [vars(change) for change in self.changes]}


_NOT_TRUSTED = (
    "Nothing was written. Name this workflow as a Trusted Publisher in the settings of the "
    "repository, and give its job `id-token: write`; or unset HF_OIDC_RESOURCE."
)


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
        found = upload.token()
    if not dry_run and not found:
        raise PublishError("no token for the Hub: run `hf auth login`, or set HF_TOKEN")


def require_reachable(built: BuiltFolder, repo: str, endpoint: str | None) -> None:
    """Raise PublishError unless the Hub answers about a repository, which may be missing."""
    there = Repository(repo, endpoint, built.path)
    with clear_errors(f"{repo} at {there.endpoint}", upload.NOT_BEGUN):
        there.state()


def verify_for_upload(
    built: BuiltFolder,
    source: Sources | None,
    permitted: bool,
    on_verify: Callable[[], None] = lambda: None,
    more: Sequence[BuildCheck] = (),
) -> None:
    """Raise OutputError with the reasons why a build is not published.

    `on_verify` is called before the build is verified, which takes long. `permitted` tells that
    the user has permission to publish, whatever the card says. `more` are checks of later layers.
    """
    reasons = []
    if built.is_sample:
        reasons.append(
            f"it is the invented sample; build it from the upstream files with {built.rebuild}"
        )
    elif built.missing:
        missing = ", ".join(built.missing)
        reasons.append(f"it is partial: {missing} was missing; fetch it and run {built.rebuild}")
    if not permitted and (unlicensed := _unlicensed(built.dataset)):
        reasons.append(unlicensed)
    if not reasons:
        on_verify()
        found = verify(built, source, more=more)
        if found.failed:
            reasons.append(f"{built.command('verify')} fails; read its output")
        reasons += [each.skipped for each in found.checks if each.name == "shards" and each.skipped]
    if reasons:
        lines = "\n".join(f"- {reason}" for reason in reasons)
        raise OutputError(f"{built.shown} is not published:\n{lines}")


def _unlicensed(dataset: Dataset) -> str:
    card, where = dataset.read_card(), str(dataset.card)
    if is_licensed(card, where):
        return ""
    said = licence_section(card, where).replace("\n", "\n    ")
    return (
        f"its licence is unknown. Its card says:\n    {said}\n  With the permission of the data's "
        "owners, add --i-have-permission."
    )


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
    with clear_errors(where, upload.NOT_BEGUN):
        on_step("reading the repository")
        head, changes, tagged = _look(there, built, files, private, tag)
        is_new = head is None
        if dry_run:
            on_step("a dry run does not test whether this token may write there")
    if not dry_run:
        with clear_errors(where, upload.BEGUN):
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
    return Publication(repo, url, revision, changes, is_new, dry_run, None if dry_run else head)


def _look(
    there: Repository, built: BuiltFolder, files: LocalFiles, private: bool, tag: bool
) -> tuple[str | None, list[Change], bool]:
    """Return last commit, changes, whether the version is tagged; or refuse to touch other data."""
    repo, version, name = there.name, f"v{built.version}", built.dataset.name
    head, is_private = there.state()
    if private and head and not is_private:
        raise PublishError(
            f"{repo}: is public already; publishing does not make it private. "
            "Change that on the Hub, or leave out --private."
        )
    if foreign := there.foreign(head, name, files):
        raise PublishError(
            f"{repo}: holds {foreign}; publishing {name} there would mix both. "
            "Choose another --repo, or remove it on the Hub first."
        )
    changes = there.changes(files, head)
    tagged = there.tagged(version) if head and tag else None
    if tagged and any(change.writes for change in there.changes(files, tagged)):
        raise PublishError(
            f"{repo}: {name} {built.version} is published already, as commit {tagged[:12]}, with "
            f"other files. Raise VERSION in {name}.py, or leave the tag alone with --no-tag."
        )
    if tagged and any(change.writes for change in changes):
        raise PublishError(
            f"{repo}: {name} {built.version} is published already, and the repository "
            "changed since. To go back to it, publish with --no-tag."
        )
    return head, changes, bool(tagged)
