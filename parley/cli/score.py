"""Commands on the tasks that dataset folders declare: tasks, score."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from parley.base.errors import OutputError, UsageError
from parley.building.collection import Dataset, discover, get
from parley.cli.common import (
    PLAIN,
    UNREAD,
    AsJson,
    Attempts,
    BuildDir,
    Command,
    Group,
    Names,
    app,
    command_of,
    print_result,
    require_file,
    select,
)

if TYPE_CHECKING:
    from parley.declaring.tasks import Task

# `Any` stands for types of click, which Typer keeps in different places by version.


@app.command()
def tasks(
    names: Names = None,
    update: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Renew the list of tasks in FILE.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks of each dataset, with their metrics and baselines."""
    from parley.base.marks import with_parts
    from parley.base.replace import write_whole
    from parley.cli.task_tables import lay_out_tasks, tasks_as_dicts
    from parley.declaring.leaderboard import overview

    found, attempt = [], Attempts()
    for dataset in select(names):
        with attempt():
            found += [(dataset.name, name, task) for name, task in dataset.tasks.items()]
    if names and not found and not attempt.failed:
        raise UsageError(f"{', '.join(names)}: no tasks; `parley tasks` lists all")
    if update:
        attempt.finish()
        require_file("--update", update)
        try:
            text = update.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise OutputError(f"{update}: cannot be read: {error}") from error
        write_whole(update, with_parts(text, str(update), {"tasks": overview(found)}))
    else:
        print_result(as_json, lambda: tasks_as_dicts(found), lambda: lay_out_tasks(found))
    attempt.finish()


class _Scores(Group):
    """The group `parley score`: a group of tasks for each dataset that has some."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the datasets with tasks."""
        return _with_tasks()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the group of a dataset's tasks, or raise UsageError."""
        return _Tasks.of(get(cmd_name), f"Score predictions on a task of {cmd_name}.")


def _with_tasks() -> list[str]:
    return [name for name, each in discover().items() if each.has_module("tasks")]


class _Tasks(Group):
    """The tasks of one dataset."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of its tasks, or raise UsageError if it has none."""
        if not (tasks := list(self.dataset.tasks)):
            there = ", ".join(_with_tasks())
            raise UsageError(f"{self.dataset.name} has no tasks; these datasets have some: {there}")
        return tasks

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a task, or raise UsageError naming those that exist."""
        task = self.dataset.task(cmd_name)
        summary = task.summary[0].upper() + task.summary[1:]
        help = f"{summary}. Scored on {task.evaluated_on}; --template describes FILE."
        command = _command(self.dataset, cmd_name, task)
        return command_of(command, cmd_name, _Command, help=help, short_help=task.summary)


class _Command(Command):
    """The command of a task; its error for an unknown option lists the known ones."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if type(error).__name__ != "NoSuchOption":
                raise
            there = [name for param in self.get_params(ctx) for name in param.opts if "-" in name]
            raise UsageError(f"{error}", remedy=f"There are: {', '.join(there)}.") from error


def _command(dataset: Dataset, name: str, task: "Task") -> Callable[..., None]:
    """Return the command of a task, with the options of the task."""
    accepted = f"Predictions as {task.format.name}, also gzipped, or a log; - is stdin."
    instead = f"Score a baseline instead: {', '.join(task.baselines)}."
    published = f"Score dialogues of a publication: {', '.join(task.subsets) or 'none'}."
    kept = "Save the predictions of the baseline."
    shown = "Write the score for a model repository: .eval_results/NAME.yaml on the Hub."

    def command(
        file: Annotated[str | None, Argument(metavar="[FILE]", help=accepted)] = None,
        folder: BuildDir = Path("build"),
        baseline: Annotated[str | None, Option(metavar="B", help=instead)] = None,
        keep: Annotated[Path | None, Option("--save-predictions", metavar="OUT", help=kept)] = None,
        subset: Annotated[str, Option(metavar="S", help=published)] = "",
        unreadable: Annotated[str, Option(metavar="P", help=UNREAD)] = "wrong",
        entry: Annotated[Path | None, Option("--eval-results", metavar="OUT", help=shown)] = None,
        template: Annotated[bool, Option("--template", help="Describe FILE.")] = False,
        as_json: AsJson = False,
        **own: str | None,
    ) -> None:
        from parley.asking.score import score_file
        from parley.building.built import find_folder
        from parley.cli.task_tables import lay_out_score, lay_out_template, template_as_dict
        from parley.scoring.evaluate import score
        from parley.scoring.gold import Part
        from parley.scoring.predictions import require_free

        asked = {option: own[_OWN + option] for option in task.options}
        options = task.chosen(asked)
        if template:
            if file or baseline or keep or entry:
                raise UsageError("--template scores nothing: leave FILE and the other options out")
            found = (dataset, name, task, *_lines_due(dataset, name, folder, options))
            print_result(
                as_json,
                lambda: template_as_dict(*found),
                lambda: lay_out_template(*found),
            )
            return
        if (file is None) == (baseline is None):
            raise UsageError(
                f"{dataset.name} {name} scores either FILE or a --baseline",
                remedy=f"Baselines: {', '.join(task.baselines) or 'none'}; "
                "--template describes FILE.",
            )
        if keep and not baseline:
            raise UsageError("--save-predictions saves the predictions of a --baseline")
        for new in filter(None, (keep, entry)):
            require_free(new)
        built, part = find_folder(folder, dataset), Part(subset)
        if baseline:
            how: dict[str, Any] = {"baseline": baseline, "keep": keep, "policy": unreadable}
            result = score(built, name, asked, part=part, **how)
        else:
            result = score_file(built, name, asked, str(file), part, unreadable)
        if entry:
            from parley.base.replace import write_whole
            from parley.hub.results import eval_results

            write_whole(entry, eval_results(result, built))
        print_result(as_json, result.as_dict, lambda: lay_out_score(result))

    signature = inspect.signature(command)
    common = [each for each in signature.parameters.values() if each.name != "own"]
    options = [_option(each, values) for each, values in task.options.items()]
    command.__signature__ = signature.replace(parameters=[*common, *options])  # type: ignore[attr-defined]
    return command


_OWN = "own_"  # before the name of a task's option, which may be a word of Python or a name above


def _option(name: str, values: Sequence[str]) -> inspect.Parameter:
    """Return the parameter of a task's own option."""
    first, *rest = values
    told = f"{', '.join([first, *rest])} [default: {first}]."
    declared = Option(f"--{name}", metavar=name.upper(), help=told)
    kind = inspect.Parameter.KEYWORD_ONLY
    annotation = Annotated[str | None, declared]
    return inspect.Parameter(_OWN + name, kind, default=None, annotation=annotation)


def _lines_due(
    dataset: Dataset, name: str, folder: Path, options: Mapping[str, str]
) -> tuple[int | None, bool]:
    """Return the number of predictions for a build, if there is one, and whether it is a sample."""
    from parley.building.built import find_folder
    from parley.scoring.gold import load_gold

    if not (folder / dataset.name).is_dir():
        return None, False
    built = find_folder(folder, dataset)
    return len(load_gold(built, name, options)[0]), built.is_sample


_SCORE = "Score predictions on a task, with the documented scores for comparison."
app.add_typer(typer.Typer(cls=_Scores, help=_SCORE, no_args_is_help=True, **PLAIN), name="score")
