"""Asking a local echo server: 10,000 questions, and 2,060 of a task, also through inspect.

Needs a build of CaSiNo: `python benchmarks/asking.py build/casino`. inspect runs in `.inspect`
(`make inspect` makes it); without it its row is left out.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = 10_000
ANSWER = '{"order": ["Food", "Water", "Firewood"]}'
PARLEY = (sys.executable, "-m", "parley")
TASKS = f'''"""Invented questions, as long as those of CaSiNo."""

from parley.questions import Asking, Question, chat, read_order, reader
from parley.tasks import Score, Task

ITEMS = ("Food", "Water", "Firewood")


def gold(data):
    return {{(number,): None for number in range({QUESTIONS})}}


def questions(data):
    for number in range({QUESTIONS}):
        yield Question((number,), chat("Answer.", f"{{number}}: " + "words and more " * 100))


TASKS = {{
    "order": Task(
        summary="an order",
        evaluated_on="invented questions",
        configs=("dialogues",),
        fields={{"id": "a number", "order": "the order"}},
        shape={{"id": int, "order": [str]}},
        key=("id",),
        example={{"id": 1, "order": []}},
        metrics={{"read": "share of answers that can be read"}},
        gold=gold,
        score=lambda gold, predictions: Score({{"read": len(predictions) / len(gold)}}),
        asking=Asking("1", questions, reader(read_order, "order", ITEMS)),
    )
}}
'''
INSPECT = """
import sys
from inspect_ai import eval
from inspect_ai.model import get_model

(log,) = eval(
    "parley/casino_partner_priorities",
    model=get_model("openai-api/echo/echo", base_url=sys.argv[2], api_key="none"),
    task_args={"build": sys.argv[1]},
    log_dir=sys.argv[3],
    display="none",
)
assert log.status == "success", log.error
"""


def main() -> None:
    """Print a table of seconds and memory."""
    folder = Path(sys.argv[1]).resolve()
    server = subprocess.Popen(
        [sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        print("| | s | MB |\n| --- | ---: | ---: |")
        with tempfile.TemporaryDirectory() as place:
            ask = [*PARLEY, "ask", "--model", "echo", "--base-url", url, "--log", place]
            given = [*ask, "echo", "--build", build_of_many(Path(place))]
            own = run(f"{QUESTIONS:,} questions, `parley ask`", given)
            given = [*ask, "casino", "partner-priorities", "--build", str(folder.parent)]
            own = run("2,060 questions, `parley ask`", given)
            python = ROOT / ".inspect" / "bin" / "python"
            if python.exists():
                asked = [str(python), "-P", "-c", INSPECT, str(folder.parent), url, place]
                other = run("2,060 questions, inspect", asked)
                print(f"\ninspect takes {other / own:.1f} times as long")
    finally:
        server.terminate()
        server.wait()


def build_of_many(place: Path) -> str:
    """Build a skeleton with a task of invented questions; return the folder of builds."""
    subprocess.run([*PARLEY, "new", "echo", str(place)], check=True, stdout=subprocess.DEVNULL)
    (place / "echo" / "tasks.py").write_text(TASKS)
    os.environ["PARLEY_DATASETS"] = str(place)
    build = [*PARLEY, "build", "echo", "--sample", "--build", f"{place}/build"]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    return f"{place}/build"


def run(name: str, command: list[str]) -> float:
    """Print the row of a command, and return its seconds."""
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=tempfile.gettempdir(), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    assert status == 0, command
    print(f"| {name} | {seconds:.1f} | {used.ru_maxrss / 1000:.0f} |", flush=True)
    return seconds


def serve() -> None:
    """Answer every question with the same text, by asyncio, which costs little."""
    import asyncio

    message = {"role": "assistant", "content": ANSWER}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    given = {"id": "x", "object": "chat.completion", "created": 0, "model": "echo"}
    body = json.dumps({**given, "choices": [choice], "usage": usage}).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while header := await reader.readuntil(b"\r\n\r\n"):
                (length,) = (
                    int(line.split(b":")[1])
                    for line in header.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                await reader.readexactly(length)
                writer.write(head.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def listen() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        await server.serve_forever()

    asyncio.run(listen())


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
