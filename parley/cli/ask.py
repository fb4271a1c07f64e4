"""The command that asks a model: ask."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

import parley.cli.common as common
from parley.base.errors import UsageError
from parley.building.collection import get
from parley.cli.common import AsJson, BuildDir, app

if TYPE_CHECKING:
    from parley.asking.log import Questions
    from parley.asking.run import Settings
    from parley.declaring.tasks import Task
    from parley.scoring.evaluate import Result

_ENDPOINT = "An OpenAI-compatible endpoint [default: OPENAI_BASE_URL]; the key is OPENAI_API_KEY."
_ROLE = "A side's model in a game, or script:NAME; repeatable."
_OPTION = "A field of each request, such as top_p=0.9; null leaves it out; repeatable."
_LOG = "The folder of logs; resumes a log."
_LONGEST = "The longest answer in tokens [default: the task's]."
_ZERO: Any = {"min": 0, "show_default": False}
_AGAIN = "Ask once more after an unreadable answer, with the reason; not in games."
_STOP = "End the run if, of 20 answers or more, more than this share is unreadable."
_REPEAT = "Ask each question N times, at a temperature above 0; a log for each time."
_SHOTS = "Examples with right answers before each question, of dialogues that are not scored."
_PROMPT = "A system text in the place of the task's own."
_TURNS = "The turns after which a game ends [default: the game's]."
_SWAP = "Play each scenario of a game twice, the second time with the models' sides swapped."
_SET = "A value of a task's own option, such as aspect=empathy [default: each]."


@app.command()
def ask(
    name: Annotated[str | None, Argument(metavar="NAME", help="A dataset [default: all].")] = None,
    task: Annotated[str | None, Argument(metavar="TASK", help="A task [default: all].")] = None,
    folder: BuildDir = Path("build"),
    model: Annotated[str, Option(metavar="M", help="The model.")] = "",
    role: Annotated[list[str] | None, Option(metavar="SIDE=M", help=_ROLE)] = None,
    base_url: Annotated[str, Option(metavar="URL", help=_ENDPOINT)] = "",
    log: Annotated[Path, Option(metavar="DIR", help=_LOG)] = Path("runs"),
    limit: Annotated[int, Option(metavar="N", help="A pilot of N questions.", **_ZERO)] = 0,
    subset: Annotated[str, Option(metavar="S", help="Only a publication's dialogues.")] = "",
    set_: Annotated[list[str] | None, Option("--set", metavar="K=V", help=_SET)] = None,
    turns: Annotated[int, Option(metavar="N", help=_TURNS, **_ZERO)] = 0,
    swap: Annotated[bool, Option("--swap", help=_SWAP)] = False,
    at_once: Annotated[int, Option(min=1, metavar="N", help="Calls at the same time.")] = 8,
    per_minute: Annotated[int, Option(metavar="N", help="Calls a minute at most.", **_ZERO)] = 0,
    retries: Annotated[int, Option(min=0, metavar="N", help="Retries of a failed call.")] = 5,
    timeout: Annotated[float, Option(min=0.1, metavar="S", help="Seconds for an attempt.")] = 120,
    temperature: Annotated[float, Option(min=0, metavar="T", help="The temperature.")] = 0,
    seed: Annotated[int | None, Option(metavar="N", help="The seed.")] = None,
    max_tokens: Annotated[int, Option(metavar="N", help=_LONGEST, **_ZERO)] = 0,
    option: Annotated[list[str] | None, Option(metavar="K=JSON", help=_OPTION)] = None,
    schema: Annotated[bool, Option(help="Send the JSON schema of an answer.")] = True,
    ask_again: Annotated[bool, Option("--ask-again", help=_AGAIN)] = False,
    stop_unreadable: Annotated[float, Option(min=0, max=1, metavar="S", help=_STOP)] = 1,
    repeat: Annotated[int, Option(min=1, metavar="N", help=_REPEAT)] = 1,
    shots: Annotated[int, Option(metavar="K", help=_SHOTS, **_ZERO)] = 0,
    prompt: Annotated[Path | None, Option(metavar="FILE", help=_PROMPT)] = None,
    requests: Annotated[
        Path | None, Option(metavar="FILE", help="Write a batch file instead of asking.")
    ] = None,
    answers: Annotated[
        Path | None, Option(metavar="FILE", help="Read the answers of a batch instead of asking.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a model the questions of tasks, log its answers, and score them.

    An interrupted run resumes with the same command. Failed calls are asked again.
    """
    from parley.asking.client import Sampling
    from parley.asking.repeats import repetitions, score_logs
    from parley.asking.run import Settings
    from parley.asking.variants import Variant
    from parley.base.console import print_output, progress, to_json
    from parley.cli.compare_tables import lay_out_repeats
    from parley.scoring.gold import Part

    if model and role:
        raise UsageError("--model excludes --role")
    if (requests or answers) and (not (name and task and model) or (requests and answers)):
        raise UsageError("--requests and --answers take NAME and TASK, a --model, and not both")
    if (requests or answers) and ask_again:
        raise UsageError("--ask-again needs an endpoint: a batch answers each question once")
    if repeat > 1 and (requests or answers or swap):
        raise UsageError("--repeat excludes --swap, and the batches of --requests and --answers")
    fields = _fields(temperature, seed, max_tokens, _pairs("option", option, _json))
    samplings = repetitions(Sampling(fields, schema, ask_again), repeat)
    models = _pairs("role", role, str) or {"": model}
    common_settings = Settings(
        models, samplings[0], base_url, at_once, per_minute, retries, timeout, stop_unreadable
    )
    given = _pairs("set", set_, str)
    if prompt and not task:
        raise UsageError("--prompt is the system text of one TASK: parley ask NAME TASK")
    settings = turns, swap, Variant(shots, _text(prompt) if prompt else "")
    results: list[dict[str, Any]] = []
    with progress("questions") as advance:
        for questions in _each(name, task, folder, Part(subset, limit), given, settings):
            if (requests or answers) and questions.options.keys() - given.keys():
                raise UsageError(f"{task} has several questions: choose one with --set")
            places: list[Path] = []
            for sampling in samplings:
                own = replace(common_settings, sampling=sampling).suited_to(questions)
                if requests:
                    _write_requests(questions, own, requests)
                    continue
                places.append(questions.log_in(log, own.models, own.sampling))
                result = _score(questions, own, places[-1], answers, advance)
                results.append(result.as_dict())
                if not as_json:
                    _report(questions, result, places[-1])
            if repeat > 1:
                repeats = score_logs(questions, places)
                results[-1]["repeats"] = repeats.as_dict()
                if not as_json:
                    print_output(lay_out_repeats(questions.task, repeats))
    if as_json:
        typer.echo(to_json(results))


def _fields(
    temperature: float, seed: int | None, max_tokens: int, further: dict[str, Any]
) -> dict[str, Any]:
    """Return what is sent beside the questions; 0 tokens stands for the task's own limit."""
    fields = {"temperature": temperature, "seed": seed, "max_tokens": max_tokens or None}
    given = {field: value for field, value in fields.items() if value is not None}
    return given | further


def _write_requests(questions: "Questions", settings: "Settings", path: Path) -> None:
    """Write a batch file."""
    from parley.asking.batch import write_requests

    sent = (settings.models.get("", ""), settings.sampling)
    count = write_requests(questions, *sent, path)
    note = "in full, as a batch cannot find out what its endpoint refuses"
    common.print_line(f"{path}: {count:,} requests {note}")


def _score(
    questions: "Questions",
    settings: "Settings",
    place: Path,
    answers: Path | None,
    advance: Callable[..., None],
) -> "Result":
    """Ask, or read the answers of a batch, into a log, and return its score."""
    from parley.asking.batch import read_answers
    from parley.asking.run import ask
    from parley.asking.score import score_log
    from parley.base.console import print_message

    def tell(text: str, done: int, total: int) -> None:
        advance(f"{place.stem}: {text}", done, total)

    if answers:
        common.require_file("--answers", answers)
        read_answers(questions, settings.models.get("", ""), settings.sampling, answers, place)
    else:
        ask(questions, settings, place, tell, print_message)
    return score_log(questions.built, questions.name, questions.options, place, questions.part)


def _report(questions: "Questions", result: "Result", place: Path) -> None:
    """Print a score and its log; write the negotiations of a game to read."""
    from parley.asking.played import write_played
    from parley.base.console import print_message, print_output
    from parley.cli.task_tables import lay_out_score
    from parley.declaring.questions import Playing

    print_output(lay_out_score(result))
    print_message(f"log: {place}")
    if isinstance(questions.asking, Playing):
        played = write_played(questions, place)
        home = played.folder.parent
        show = f"parley show {played.name} --build {home / 'build'}"
        print_message(f"negotiations: PARLEY_DATASETS={home} {show}")


def _text(path: Path) -> str:
    """Return the text of a file of --prompt."""
    common.require_file("--prompt", path)
    try:
        return path.read_bytes().decode()
    except UnicodeError as error:
        raise UsageError(f"--prompt {path}: is not UTF-8: {error}") from error


def _json(text: str) -> Any:
    """Return the value of a JSON text; any other text is itself a value."""
    from parley.base.strict_json import loads

    try:
        return loads(text)
    except json.JSONDecodeError:
        return text
    except ValueError as error:
        raise UsageError(f"--option: {text:.200}{error}") from None


def _pairs(option: str, given: list[str] | None, read: Any) -> dict[str, Any]:
    """Return the values of a repeatable option NAME=VALUE."""
    found: dict[str, Any] = {}
    for each in given or ():
        key, equals, value = each.partition("=")
        if not equals or not key or not value or key in found:
            raise UsageError(f"--{option} {each}: expected NAME=VALUE, each name once")
        found[key] = read(value)
    return found


def _each(
    name: str | None,
    task: str | None,
    folder: Path,
    part: Any,
    chosen: dict[str, str],
    settings: tuple[int, bool, Any],
) -> Iterator["Questions"]:
    """Yield the questions of the selected tasks that can be asked, for each choice of options.

    `settings` are the turns and swap of games, and the variant of questions: of several tasks,
    those of the other kind go without.
    """
    from parley.asking.log import Questions
    from parley.building.built import find_folder
    from parley.declaring.questions import Playing

    datasets = [get(name)] if name else common.select_built(None, folder)[0]
    found: list[tuple[Any, str, Task]] = []
    for dataset in datasets:
        tasks = {task: dataset.task(task)} if task else dataset.tasks
        found += [(dataset, each, of) for each, of in tasks.items() if task or of.asking]
    if part.subset and not name:
        raise UsageError("--subset needs a dataset: parley ask NAME --subset S")
    for dataset, each, of in found:
        built = find_folder(folder, dataset)
        of.chosen({key: value for key, value in chosen.items() if task or key in of.options})
        values = [(chosen[key],) if key in chosen else of.options[key] for key in of.options]
        is_game = isinstance(of.asking, Playing)
        turns, swap, variant = settings
        own = settings if task else (turns, swap) if is_game else (0, False, variant)
        for choice in product(*values):
            yield Questions(built, each, dict(zip(of.options, choice, strict=True)), part, *own)
