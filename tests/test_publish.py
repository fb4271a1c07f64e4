"""Publishing against a local Hub: what it changes, what it refuses, and what a fault leaves."""

import json
import re
import shutil
from pathlib import Path
from unittest.mock import Mock
from urllib.parse import quote, unquote

import huggingface_hub
import loader_files
import pytest
from build_changes import restate
from local_hub import Blob, contents
from publish_without_checks import hashes

from parley.authoring.new import write_skeleton
from parley.base.errors import OutputError, PublishError, UsageError, shorten
from parley.base.secret import without_secrets
from parley.builds.build import build
from parley.builds.built_folder import BuiltFolder, open_folder
from parley.builds.provenance import PROVENANCE
from parley.builds.publication_note import PublicationNote, read_note
from parley.builds.sources import Sources, at_hand
from parley.declaration.registry import Dataset, get
from parley.hub.publish import FileChange, publish, validate_target, verify_for_upload
from parley.verification.verify import verify

# huggingface_hub's upload of LFS files, in the words of the HTTP library under it
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

TOKEN, READ_ONLY = "hf_writes", "hf_reads"
MESSAGES = "messages/train-00000-of-00001.parquet"
DIALOGUES = "dialogues/train-00000-of-00001.parquet"
NEW = "new/train-00000-of-00001.parquet"
NOW, NEXT = "v1.0.0", "v2.0.0"


@pytest.fixture
def hub(hub, monkeypatch):
    hub.tokens[READ_ONLY] = "read"
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    for name, value in {"OFFLINE": False, "DISABLE_XET": True}.items():
        monkeypatch.setattr(f"huggingface_hub.constants.HF_HUB_{name}", value)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    huggingface_hub.utils.disable_progress_bars()
    return hub


@pytest.fixture(scope="session")
def tea(tmp_path_factory):
    """A dataset of two splits, and its build: each split that is read back takes a while."""
    home = tmp_path_factory.mktemp("tea")
    dataset = Dataset("tea", write_skeleton("tea", home / "datasets"))
    build(Sources(dataset, dataset.sample, sample=True), home / "build")
    return home


@pytest.fixture
def folder(tea, tmp_path, monkeypatch):
    monkeypatch.setenv("PARLEY_DATASETS", str(tea / "datasets"))
    return Path(shutil.copytree(tea / "build/tea", tmp_path / "tea"))


def put(hub, folder, repo="org/tea", **options):
    return publish(open_folder(folder), hashes(folder), repo, endpoint=hub.endpoint, **options)


def refused(*args, **options):
    """Return the error of a folder that is not published."""
    with pytest.raises(PublishError) as raised:
        put(*args, **options)
    return raised.value


def published(hub, repo="org/tea", revision="main"):
    return {k: v for k, v in hub.files(repo, revision).items() if k != ".gitattributes"}


def next_version(folder):
    """Make the folder a next version: two files other, one new, one gone."""
    file = folder / "provenance.json"
    provenance = json.loads(file.read_text()) | {"version": NEXT.removeprefix("v")}
    (split,) = provenance["configs"].pop("messages").values()
    split["files"][0]["path"] = NEW
    provenance["configs"]["new"] = {"train": split}
    file.write_text(json.dumps(provenance))
    (folder / "new").mkdir()
    (folder / NEW).write_bytes(b"PAR1")
    (folder / DIALOGUES).write_bytes(b"PAR1 next")
    shutil.rmtree(folder / "messages")


def meanwhile(step, action):
    """Return an `on_step` that does something as the step begins, once."""
    actions = [action]

    def on_step(what):
        if what.startswith(step) and actions:
            actions.pop()()

    return on_step


def test_what_is_published_is_what_was_verified_and_again_it_changes_nothing(hub, folder):
    built, repo = open_folder(folder), "org/tea"
    files = built.hashes()
    assert not verify(built).failed
    done = publish(built, files, repo, endpoint=hub.endpoint)
    assert published(hub, repo) == contents(built.path)
    assert len(hub.commits(repo)) == 2  # the Hub's own first one, and ours
    version = f"v{built.version}"
    assert hub.tags(repo) == {version: done.commit} == {version: hub.commits(repo)[-1]}
    assert {change.action for change in done.changes} == {"add"}
    assert done.url == f"{hub.endpoint}/datasets/{repo}/tree/{version}"
    hub.log.clear()
    again = put(hub, folder)
    assert (again.commit, again.changed) == (done.commit, [])
    assert {method for method, _, _ in hub.log} <= {"GET", "HEAD"}


def test_a_new_version_and_its_dry_run(hub, folder, tea):
    first = put(hub, folder, dry_run=True)
    assert (first.is_new, first.commit, hub.repos) == (True, None, {})
    assert {change.path for change in first.changed} == set(contents(folder))
    put(hub, folder)
    before = published(hub)
    next_version(folder)
    changes = [
        FileChange(DIALOGUES, "change", 9),
        FileChange(MESSAGES, "remove", len(before[MESSAGES])),
        FileChange(NEW, "add", 4),
        FileChange("provenance.json", "change", len(contents(folder)["provenance.json"])),
    ]
    hub.log.clear()
    assert put(hub, folder, dry_run=True).changed == changes
    assert {method for method, _, _ in hub.log} <= {"GET", "HEAD"}
    assert put(hub, folder).changed == changes
    assert published(hub) == contents(folder)
    assert published(hub, revision=NOW) == before
    assert len(hub.commits("org/tea")) == 3
    assert sorted(hub.tags("org/tea")) == [NOW, NEXT]
    refused(hub, tea / "build/tea")  # the older version does not replace the newer one
    assert published(hub) == (after := contents(folder))
    (folder / "README.md").write_text("other")
    refused(hub, folder)  # nor is a published one replaced
    assert published(hub) == after
    put(hub, folder, tag=False)
    assert published(hub) == contents(folder)
    assert published(hub, revision=NEXT) == after


LEFT_ALONE = {"docs/a.png", "dialogues/look.ipynb", "cite.txt"}
LEFT_ALONE |= loader_files.LEFT - {".gitattributes"}


@pytest.mark.parametrize("first", [False, True], ids=["a next version", "the first publishing"])
def test_files_of_others_are_left_alone(hub, folder, tmp_path, first):
    others = dict.fromkeys(LEFT_ALONE, b"somebody's")
    if first:
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "README.md").write_text("---\nlicense: mit\n---\n")
        hub.seed("org/tea", tmp_path / "new")
    else:
        put(hub, folder)
        next_version(folder)
    hub.push("org/tea", others)
    done = put(hub, folder)
    assert published(hub) == contents(folder) | others
    assert sorted(done.left) == sorted(LEFT_ALONE)
    assert put(hub, folder).changed == []


REFUSED = loader_files.contents("tea", b"").keys() - loader_files.LEFT
REFUSED |= {"more/a.csv.gz", "a.JSONL", "a.zip", "a.tbz2", "a.txz", "a.zip\n"}


def test_data_of_others_is_refused(hub, folder, sample_build, tmp_path):
    """Also where nothing of ours is, or another dataset."""
    put(hub, folder)
    next_version(folder)
    hub.seed("org/empty", tmp_path / "none")
    hub.seed("org/duo", sample_build / "duo")
    others = [("org/empty", "thesis.csv"), ("org/empty", PROVENANCE), ("org/duo", "LICENSE")]
    for repo, name in [*others, *(("org/tea", name) for name in sorted(REFUSED))]:
        hub.push(repo, {name: b"{}", "LICENSE": b"somebody's"})
        before = published(hub, repo)
        assert ("'duo'" if repo == "org/duo" else name) in str(refused(hub, folder, repo))
        assert published(hub, repo) == before
        hub.repos[repo].commits.pop()


def test_private_repositories(hub, folder):
    put(hub, folder, "org/open")
    put(hub, folder, "org/closed", private=True)
    refused(hub, folder, "org/open", private=True)
    assert put(hub, folder, "org/closed", private=True).changed == []


@pytest.mark.parametrize("how", ["other", "gone"])
@pytest.mark.parametrize("request_", ["/repos/create", "/preupload/", "/commit/"])
def test_what_was_not_verified_gets_no_tag(hub, folder, request_, how):
    """The folder changes while it is published."""
    due, path = contents(folder), folder / MESSAGES

    def change():
        content = path.read_bytes()[::-1]
        path.unlink()
        if how == "other":
            path.write_bytes(content)

    hub.fail("POST", request_, change)
    try:
        put(hub, folder)
    except PublishError:
        assert not hub.tags("org/tea")
    else:  # what was read before it changed
        assert published(hub) == published(hub, revision=NOW) == due


def damage(hub):
    commit = hub.repos["org/tea"].commits[-1]
    commit.files[NEW] = Blob(commit.files[NEW].content[::-1], in_lfs=True)
    commit.files["more.csv"] = Blob(b"1", in_lfs=False)


SAME = {"README.md": b"---\nlicense: mit\n---\nother\n", "other.csv": b"more"}
MEANWHILE = {  # a step, what somebody does as it begins, and the files that are then wrong
    "the Hub stores other files": ("reading it", damage, ["more.csv", NEW]),
    "a commit": ("uploading", lambda hub: hub.push("org/tea", {"other.csv": b"first!"}), []),
    # huggingface_hub then has nothing left to commit
    "the same files and more": ("uploading", lambda hub: hub.push("org/tea", SAME), ["other.csv"]),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_who_changes_the_repository_meanwhile_keeps_the_tag_away(hub, folder, what):
    step, action, wrong = MEANWHILE[what]
    put(hub, folder, tag=False)
    if what == "the same files and more":
        (folder / "README.md").write_bytes(SAME["README.md"])
    else:
        next_version(folder)
    error = refused(hub, folder, on_step=meanwhile(step, lambda: action(hub)))
    assert [problem.place for problem in error.problems] == wrong
    assert not hub.tags("org/tea")


def test_a_repository_that_somebody_else_makes_public(hub, folder, tmp_path):
    step = meanwhile("creating", lambda: hub.seed("org/tea", tmp_path / "none"))
    refused(hub, folder, private=True, on_step=step)
    assert published(hub) == {}


@pytest.mark.slow
@pytest.mark.parametrize("done", [False, True], ids=["unheard for ever", "unanswered once"])
@pytest.mark.parametrize("first", [False, True], ids=["a next version", "the first publishing"])
def test_a_cut_at_any_request_leaves_the_old_or_the_new(hub, folder, tea, done, first):
    old = {} if first else contents(folder)
    if not first:
        next_version(folder)
    outcomes, was_cut = [], True
    while was_cut:
        n = len(outcomes) + 1
        how, times = ("drop-after", 1) if done else ("drop", -1)
        hub.fail("*", "", how, times, skip=n - 1)
        repo, version = f"org/cut-{n}", NOW if first else NEXT
        if not first:
            hub.seed(repo, tea / "build/tea", tags=[NOW])
        # so that the Hub does not have it yet
        (folder / (MESSAGES if first else NEW)).write_bytes(b"PAR1 %d" % n)
        new = contents(folder)
        try:
            put(hub, folder, repo)
            outcomes.append("done")
        except PublishError:
            outcomes.append("failed")
        (fault,), hub.faults = hub.faults, []
        was_cut = fault.times != times
        if repo in hub.repos:
            assert published(hub, repo) in (old, new)
            assert version not in hub.tags(repo) or published(hub, repo, version) == new
        if not first:
            assert published(hub, repo, NOW) == old
        put(hub, folder, repo)
        assert published(hub, repo) == published(hub, repo, version) == new
        assert len(hub.commits(repo)) == 2
    assert len(outcomes) > 10
    assert outcomes.pop() == "done"  # nothing was cut
    assert "failed" in outcomes
    assert ("done" in outcomes) is done


@pytest.mark.parametrize(("pattern", "how"), [
    ("/tea$", 500), ("/commit/", 500), ("/commit/", 403), ("/tag/", 409), ("/validate-yaml", 400),
])  # fmt: skip
def test_what_the_hub_answers_is_an_error_without_the_token(hub, folder, pattern, how):
    hub.fail("*", pattern, how, times=-1)
    hub.headers["X-Error-Message"] = f"x {TOKEN} y"
    for dry_run in (True, False) if pattern == "/tea$" else (False,):
        assert TOKEN not in str(refused(hub, folder, dry_run=dry_run))


@pytest.mark.parametrize(
    ("repo", "instead"),
    [
        *(("tea", "ORG/NAME"), ("org/-", ""), ("org/tea/train", ""), ("datasets/org/a", "org/a")),
        *((f"{at}/org/tea", "org/tea") for at in ("hf://datasets", "huggingface.co/datasets")),
        (f"https://a:{TOKEN}@hub/datasets/org/x-y/tree/main?b", "org/x-y"),
        (f"https://a:{TOKEN}@huggingface.co/org/tea", ""),
        ("org/tea", None),  # of a Hub whose URL has a token
    ],
)
def test_names_of_repositories(repo, instead):
    hub = f"http://a:{TOKEN}@b" if instead is None else "http://b"
    with pytest.raises(UsageError) as raised:
        validate_target(repo, dry_run=True, endpoint=hub)
    assert TOKEN not in str(raised.value)
    assert not instead or f"--repo {instead}" in str(raised.value)


def test_tokens_that_may_not(hub, folder, monkeypatch):
    for token in (READ_ONLY, "hf_unknown"):
        monkeypatch.setenv("HF_TOKEN", token)
        assert token not in str(refused(hub, folder))
    assert not hub.repos


def test_a_dry_run_needs_no_token(hub, folder, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    assert put(hub, folder, "other/tea", dry_run=True).is_new
    with pytest.raises(PublishError):
        validate_target("org/tea", dry_run=False)
    validate_target("org/tea", dry_run=True)


def test_the_proof_of_a_trusted_publisher_is_not_told(monkeypatch):
    """huggingface_hub makes a token of it."""
    proof = "pr00f-0f-1t5e1f"
    get_token = Mock(side_effect=OSError(f"{proof} is invalid"))
    monkeypatch.setattr(huggingface_hub, "get_token", get_token)
    monkeypatch.setenv("HF_OIDC_ID_TOKEN", proof)
    with pytest.raises(PublishError) as raised:
        validate_target("org/tea", dry_run=False)
    assert proof not in str(raised.value)


NAMES = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_OIDC_ID_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"]


@pytest.mark.parametrize("name", NAMES)
def test_a_token_is_hidden_however_it_is_written(name, monkeypatch):
    token = "t0ken\"1é'/4 5"
    monkeypatch.setenv(name, f" {token}\n")
    monkeypatch.setenv("http_proxy", f"http://{token[:8]}@host")  # of another secret's beginning
    forms = (json.dumps(token, ensure_ascii=False), json.dumps(token), repr(token), ascii(token))
    forms += (json.dumps(repr(token)), f"'{token}'", f"'{quote(token, safe='')}'")
    assert [without_secrets(each)[1:-1].strip("'") for each in forms] == ["…"] * len(forms)
    for start in range(286, 300):
        assert token[:6] not in shorten(f"{'x' * start}{token}{'y' * 500}")


@pytest.mark.parametrize("name", ["HF_ENDPOINT", "HTTP_PROXY", "https_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("password", ["p%40ss%2Fw0rd1", "p%40ss%2fw0rd1", "n0ne-enc0ded"])
def test_a_password_in_a_url_is_hidden_as_typed_and_decoded(name, password, monkeypatch):
    monkeypatch.setenv(name, f"http://ana%2Fb:{password}@host:80/path")
    plain = unquote(password)
    for written in (password, plain, f"ana/b:{plain}@", quote(plain, safe=""), json.dumps(plain)):
        assert plain not in without_secrets(f"<{written}>")
        assert password not in without_secrets(f"<{written}>")
    for login in ("ana:8letters", "ana:p@ssw0rd", "0nly-t0ken", "ana:sh0rter"):
        monkeypatch.setenv(name, f"http://{login}@host/@me")
        shown = "sh0rter" if "sh0rter" in login else "…"
        assert without_secrets(f"{login.removeprefix('ana:')} host") == f"{shown} host"
    assert without_secrets("ana:sh0rter@host") == "…host"


def test_samples_and_unlicensed_datasets_are_refused(sample_build, dataset):
    built = open_folder(sample_build / dataset.name)
    with pytest.raises(OutputError):
        verify_for_upload(built, None, permitted=True)
    unknown = dataset.name in ("craigslist_bargains", "cosrec")
    with pytest.raises(OutputError) as raised:
        verify_for_upload(built, None, permitted=False)
    assert ("--i-have-permission" in str(raised.value)) is unknown
    if unknown:
        (section,) = re.findall(r"\n## Licence\n+([^\n]+)\n", dataset.read_card())
        assert section in str(raised.value)


def test_partial_and_damaged_folders_are_refused(source, real_build, tmp_path):
    def error_of(folder):
        with pytest.raises(OutputError) as raised:
            verify_for_upload(open_folder(folder), None, permitted=False)
        return str(raised.value)

    verify_for_upload(open_folder(real_build / "duo"), at_hand(get("duo"), source), permitted=False)
    folder = Path(shutil.copytree(real_build / "duo", tmp_path / "a build" / "duo"))
    restate(folder, "built_with.pyarrow", "1.0.0")
    assert "1.0.0" in error_of(folder)
    shutil.copy(real_build / "duo/provenance.json", folder)
    file = next(folder.glob("ed/en-*"))
    file.write_bytes(file.read_bytes()[:-9] + b"123456789")
    assert f"`parley verify duo --build '{folder.parent}'`" in error_of(folder)
    restate(folder, "missing", ["EDEN"])
    assert "EDEN" in error_of(folder)


@pytest.fixture
def without_checks(monkeypatch):
    monkeypatch.setattr("parley.hub.publish.verify_for_upload", lambda *_: None)
    monkeypatch.setattr(BuiltFolder, "hashes", lambda built: hashes(built.path))


def test_the_command_line(hub, source, tmp_path, run, monkeypatch):
    folder = tmp_path / "build"
    build(at_hand(get("duo"), source), folder)
    common = ("publish", "duo", "--repo", "org/duo", "--endpoint", hub.endpoint)
    common += ("--build", folder, "--source", source)
    done = run(*common, "--dry-run", HF_TOKEN="")
    assert done.returncode == 0, done.stderr
    assert "org/duo" in done.stdout
    assert not hub.repos
    done = run(*common, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["revision"] == f"v{get('duo').builder.VERSION}"
    assert found["commit"] == hub.commits("org/duo")[-1]
    assert published(hub, "org/duo") == contents(folder / "duo")
    assert read_note(open_folder(folder / "duo")) is None  # it is on another Hub than is set
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.endpoint)
    noted = PublicationNote("org/duo", found["commit"], hub.endpoint)
    assert read_note(open_folder(folder / "duo")) == noted


def test_offline_it_says_so_before_it_verifies(hub, folder, run, monkeypatch):
    monkeypatch.setattr("parley.hub.publish.verify", None)  # which would be an internal error
    hub.fail("*", "", "drop", times=-1)
    restate(folder, "sample", False)
    where = ("--build", folder.parent, "--endpoint", hub.endpoint)
    more = ("--dry-run", "--i-have-permission")
    assert "org/tea" in run("publish", "tea", "--repo", "org/tea", *where, *more).stderr


def a_password(hub):
    hub.fail("*", "", 500, times=-1)
    hub.endpoint = hub.endpoint.replace("//", "//ana:passw0rd@")


@pytest.mark.parametrize(("odd", "said"), [
    (lambda hub: hub.push("org/tea", {f"!{TOKEN}\x1b[2J.csv": b"x"}), ".csv"),
    (lambda hub: vars(hub.repos["org/tea"].commits[-1]).update(id="x" * 47 + TOKEN * 9), "commit"),
    (lambda hub: hub.headers.update({"X-HF-Warning": f"a; warned of {TOKEN}\x1b]"}), "warned of …"),
    (a_password, "http://…127.0.0.1"),
])  # fmt: skip
def test_what_the_hub_gives_back_of_a_token_is_not_printed(
    hub, folder, run, without_checks, monkeypatch, caplog, odd, said
):
    hub.seed("org/tea", Path(__file__).parent / "mutations")
    odd(hub)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.endpoint)
    publish = ("publish", "tea", "--repo", "org/tea", "--build", folder.parent)
    _, out, err = run(*publish, "--dry-run", "--json", HF_ENDPOINT=hub.endpoint)
    assert said in err
    shown = out + err + caplog.text
    assert not [secret for secret in (TOKEN[:8], "passw0rd", "\x1b") if secret in shown]
