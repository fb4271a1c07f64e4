"""A small Hub on 127.0.0.1, for the real clients to talk to.

It answers what huggingface_hub and datasets ask huggingface.co about dataset repositories: reading,
uploading, tags, tokens; `hub_api` has the answers, `hub_git` what they are about. Unlike the Hub it
sends LFS files itself, where the Hub redirects to a CDN, gives every list as one page, and knows no
pull requests.

    with Hub() as hub:
        hub.tokens["hf_ana"] = User("ana", orgs=("org",))
        hub.seed("org/casino", folder, tags=("v1.0.0",))
        hub.fail("POST", "/commit/", 500)  # the next commit, once
        subprocess.run(command, env=hub.environ(tmp_path, token="hf_ana"))

    python tests/hub.py ORG FOLDER     serve every dataset built in FOLDER, until killed
"""

import hashlib
import json
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from urllib.parse import unquote

from hub_api import Call, File, Refusal, User
from hub_git import Blob, Commit, Repo

__all__ = ["Hub", "User"]

BLOCK = 1 << 20


@dataclass
class Fault:
    """What goes wrong with the requests it fits: after `skip` of them, `times` times."""

    method: str
    pattern: str
    how: int | str
    times: int
    skip: int


class Hub:
    """The server: set `tokens`, `seed` repositories, read `log` to see what came in."""

    def __init__(self) -> None:
        self.tokens: dict[str, User] = {}
        self.repos: dict[str, Repo] = {}
        self.log: list[tuple[str, str, int]] = []  # method, path, status; 0: dropped unheard
        self.pause = 0.2  # seconds, of the fault "slow"
        self.permits: set[str] = set()  # the paths where uploads to LFS were agreed on
        self.faults: list[Fault] = []
        self.lock = threading.RLock()  # held while an answer is worked out
        self.closing = threading.Event()

    def __enter__(self) -> "Hub":
        """Start to serve in threads."""
        self._folder = tempfile.TemporaryDirectory(prefix="hub-")
        self._server = _Server(self)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop at once, whatever is under way."""
        self.closing.set()
        self._server.stop()
        self._thread.join()
        self._folder.cleanup()

    def seed(
        self, repo_id: str, folder: Path | str, private: bool = False, tags: Iterable[str] = ()
    ) -> None:
        """Make a repository, or the next commit of one, hold exactly the files of a folder."""
        files = {}
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            name = path.relative_to(folder).as_posix()
            if path.suffix == ".parquet":
                with path.open("rb") as file:
                    blob = self.store(iter(lambda file=file: file.read(BLOCK), b""))
            else:
                blob = Blob.in_git(path.read_bytes())
            files[name] = blob
        with self.lock:
            repo = self.repos.setdefault(repo_id, Repo(repo_id, private, {}))
            head = Commit(repo.branches.get("main"), files, "seed", "Seed")
            repo.branches["main"] = head
            repo.lfs |= {blob.etag: blob for blob in files.values() if blob.lfs}
            repo.tags.update(dict.fromkeys(tags, head))

    def push(self, repo_id: str, files: Mapping[str, bytes], branch: str = "main") -> str:
        """Add files past all clients, as somebody else would; return the commit's id."""
        with self.lock:
            branches = self.repos[repo_id].branches
            new = {path: Blob.in_git(data) for path, data in files.items()}
            all_files = {**branches[branch].files, **new}
            branches[branch] = Commit(branches[branch], all_files, "somebody", "Something else")
            return branches[branch].id

    def files(self, repo_id: str, revision: str = "main") -> dict[str, bytes]:
        """Return the files at a revision."""
        files = self.repos[repo_id].commit(revision).files
        return {path: blob.read() for path, blob in sorted(files.items())}

    def commits(self, repo_id: str, revision: str = "main") -> list[str]:
        """Return the ids of the commits, the oldest first."""
        history = self.repos[repo_id].commit(revision).history
        return [commit.id for commit in history][::-1]

    def tags(self, repo_id: str) -> dict[str, str]:
        """Return the tags and the commits they are on."""
        return {name: commit.id for name, commit in self.repos[repo_id].tags.items()}

    def environ(self, home: Path, token: str | None = None) -> dict[str, str]:
        """Return an environment for a process that is to take this for the Hub."""
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
        on = ("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_PROGRESS_BARS")
        environ |= dict.fromkeys(on, "1") | dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1")
        environ |= {"HF_ENDPOINT": self.endpoint, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0"}
        return environ | ({"HF_TOKEN": token} if token else {})

    def fail(
        self, method: str, pattern: str, how: int | str, times: int = 1, skip: int = 0
    ) -> None:
        """Let requests fail: those of a method ("*" is any) in whose path the pattern is found.

        A number is the status they get. "drop" closes the connection before the request is read,
        "drop-after" does the work and then says nothing, "truncate" sends half of the body, "slow"
        waits for `pause`, "stale" lets somebody else commit first. times=-1 is always.
        """
        if how not in ("drop", "drop-after", "truncate", "slow", "stale") and how not in range(600):
            raise ValueError(how)
        with self.lock:
            self.faults.append(Fault(method, pattern, how, times, skip))

    def cut_at(self, n: int, done: bool = False, forever: bool = False) -> None:
        """Cut the connection at the n-th request from now, the next being 1, or from there on."""
        self.fail("*", "", "drop-after" if done else "drop", -1 if forever else 1, n - 1)

    def fault(self, method: str, path: str) -> int | str | None:
        """Count a request, and return what is to go wrong with it."""
        with self.lock:
            for fault in self.faults:
                if fault.method in ("*", method) and re.search(fault.pattern, path):
                    if fault.skip:
                        fault.skip -= 1
                    elif fault.times:
                        fault.times -= 1
                        return fault.how
        return None

    def store(self, blocks: Iterable[bytes]) -> Blob:
        """Write a file for LFS to the disk, named by its content."""
        digest, size = hashlib.sha256(), 0
        with tempfile.NamedTemporaryFile(dir=self._folder.name, delete=False) as file:
            for block in blocks:
                size += file.write(block)
                digest.update(block)
        path = Path(file.name).replace(Path(self._folder.name, digest.hexdigest()))
        return Blob.in_lfs(path, size, digest.hexdigest())


class _Handler(BaseHTTPRequestHandler):
    """One connection: HTTP itself, and the faults."""

    protocol_version = "HTTP/1.1"  # keeps the connection for the next request
    disable_nagle_algorithm = True
    server: "_Server"

    def handle_any(self) -> None:
        hub = self.server.hub
        how = hub.fault(self.command, self.path)
        if how == "drop":
            self.close_connection = True
            hub.log.append((self.command, self.path, 0))
            return
        is_lfs = self.command == "PUT" and self.path.startswith("/lfs/")
        body = hub.store(self.blocks()) if is_lfs else b"".join(self.blocks())
        if how == "slow":
            hub.closing.wait(hub.pause)
        status, headers = 200, {"Content-Type": "application/json; charset=utf-8"}
        try:
            with hub.lock:
                if isinstance(how, int):
                    raise Refusal(how, "This was asked for.")
                if how == "stale":
                    self.interfere()
                answer = Call(hub, self.command, self.path, self.headers, body).answer()
            if isinstance(answer, File):
                content, headers = answer.blob, headers | answer.headers
            else:
                content = json.dumps(answer).encode()
        except Refusal as refusal:
            status, headers = refusal.status, headers | refusal.headers
            content = json.dumps(refusal.body).encode()
        except Exception:  # a fault of ours, and not to be overlooked
            traceback.print_exc()
            status, content = 500, json.dumps({"error": traceback.format_exc()}).encode()
        self.send(status, headers, content, how)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

    def blocks(self) -> Iterator[bytes]:
        """Read the body, of a given length or in chunks."""
        if self.headers["Transfer-Encoding"] == "chunked":
            while size := int(self.there(self.rfile.readline()), 16):
                yield self.there(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
        left = int(self.headers["Content-Length"] or 0)
        while left:
            block = self.there(self.rfile.read(min(left, BLOCK)))
            left -= len(block)
            yield block

    @staticmethod
    def there(data: bytes) -> bytes:
        """Return what was read, if anything was."""
        if not data:
            raise ConnectionError("the client has gone away")
        return data

    def interfere(self) -> None:
        """Let somebody else commit to the repository and branch of this request."""
        found = re.search(r"/datasets/([^/]+/[^/?]+?)(\.git)?/(\w+/([^/?]+))?", self.path)
        repo = self.server.hub.repos.get(found[1] if found else "")
        if repo:
            branch = unquote(found[4] or "")
            self.server.hub.push(
                repo.id, {"other.txt": b"first!\n"}, branch if branch in repo.branches else "main"
            )

    def send(
        self, status: int, headers: dict[str, str], content: bytes | Blob, how: int | str | None
    ) -> None:
        """Send an answer, or the part of a file that a Range asks for."""
        size = content.size if isinstance(content, Blob) else len(content)
        start, end = 0, size
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers["Range"] or "")
        if wanted and isinstance(content, Blob) and self.command == "GET":
            first, last = wanted.groups()
            start = int(first) if first else max(0, size - int(last))
            end = min(size, int(last) + 1) if first and last else size
            status, headers["Content-Range"] = 206, f"bytes {start}-{end - 1}/{size}"
            if start >= end:
                status, headers["Content-Range"], end = 416, f"bytes */{size}", start
        headers["Content-Length"] = str(end - start)
        if status == 429:
            headers["Retry-After"] = "0"
        self.server.hub.log.append((self.command, self.path, status))
        self.close_connection |= how in ("drop-after", "truncate")
        if how == "drop-after":
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if how == "truncate":
            end = (start + end) // 2
        if self.command == "HEAD" or start == end:
            return
        source = content.content if isinstance(content, Blob) else content
        if isinstance(source, bytes):
            self.wfile.write(memoryview(source)[start:end])
        else:
            with source.open("rb") as file:
                self.connection.sendfile(file, start, end - start)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """A thread for each connection, all of which can be ended."""

    daemon_threads = False  # so that closing waits for them
    request_queue_size = 128

    def __init__(self, hub: Hub):
        self.hub, self.connections = hub, set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer's would look up our name in the DNS

    def process_request(self, request: socket.socket, client_address: object) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: socket.socket, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # clients may go away
            super().handle_error(request, client_address)

    def stop(self) -> None:
        self.shutdown()
        for connection in list(self.connections):
            with suppress(OSError):  # closed already
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


def main() -> None:
    """Serve the datasets in a folder until killed."""
    org, folder = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit())
    with Hub() as hub:
        for file in sorted(Path(folder).glob("*/provenance.json")):
            version = json.loads(file.read_text())["version"]
            hub.seed(f"{org}/{file.parent.name}", file.parent, tags=[f"v{version}"])
        print(hub.endpoint, flush=True)
        hub.closing.wait()


if __name__ == "__main__":
    main()
