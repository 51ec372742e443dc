"""Every command explains itself, and a wrong command line is an error like every other."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from cli.app import ROOMS, app
from tests.cli.terminal import Terminal

NAMES = {
    *("remember", "recall", "get", "list", "edit", "retire", "forget", "link", "reflect", "persona", "entity", "paths"),
    *("graph", "timeline", "impact", "space", "who", "audit", "status", "doctor", "rewrite", "demo", "init"),
    *("tick", "mcp", "distil", "backup", "restore", "reindex", "bench"),
}


def tree(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each group and command with the words that lead to it."""
    yield path, command
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from tree(command.get_command(None, name), (*path, name))


TREE = list(tree(typer.main.get_command(app)))
COMMANDS = [(path, command) for path, command in TREE if not hasattr(command, "list_commands")]


def test_the_commands_are_those_promised():
    assert {path[0] for path, _ in TREE if path} == NAMES
    assert {name for names in ROOMS.values() for name in names} == NAMES


def test_a_module_holds_the_commands_the_table_names():
    for room, names in ROOMS.items():
        group = typer.main.get_group(__import__(f"cli.{room}", fromlist=["app"]).app)
        assert group.name in names or {*group.commands} == {*names}


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_the_help_of_a_command_has_an_example(path: tuple[str, ...], command: Any, empty: Terminal):
    done = empty(*path, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Example: ai-memory {' '.join(path)}" in done.out
    assert command.help and command.help.splitlines()[0].endswith(".")
    assert {"--json", "--as"} <= {option for parameter in command.params for option in parameter.opts}
    assert all(parameter.help for parameter in command.params)


@pytest.mark.parametrize("path", [(), ("entity",), ("space",), ("who",), ("audit",)])
def test_a_group_named_alone_shows_its_commands(path: tuple[str, ...], empty: Terminal):
    alone, asked = empty(*path), empty(*path, "--help")
    assert (alone.code, alone.err, alone.out) == (0, "", asked.out)
    assert "Commands:" in alone.out


@pytest.mark.parametrize(
    ("line", "says", "hint"),
    [
        (["get"], "Missing argument 'id'", "`ai-memory get --help`"),
        (["get", "a", "b"], "unexpected extra argument", "`ai-memory get --help`"),
        (["list", "--lmit", "3"], "No such option: --lmit", "-- before a text that begins with a dash"),
        (["list", "--limit", "x"], "Invalid value for '--limit'", "`ai-memory list --help`"),
        (["list", "--limit"], "'--limit' requires an argument", "`ai-memory --help`"),
        (["reflect", "a", "b"], "Missing option '--from'", "`ai-memory reflect --help`"),
        (["persna", "mara"], "No such command 'persna'", "did you mean persona?"),
        (["who", "lst"], "No such command 'lst'", "did you mean list?"),
        (["--as"], "'--as' requires an argument", "`ai-memory --help`"),
        (["--nonsense"], "No such option: --nonsense", "`ai-memory --help`"),
        (["zzz"], "No such command 'zzz'", "`ai-memory --help`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_is_invalid_and_says_what_to_do(line: list[str], says: str, hint: str, empty: Terminal):
    done = empty(*line)
    assert (done.code, done.out) == (2, "")
    error, shown = done.err.splitlines()
    assert error.startswith("error: ") and says in error
    assert shown.startswith("hint: ") and hint in shown
    asked = empty("--json", *line)
    assert (asked.code, asked.out) == (2, "")
    assert asked.error["code"] == "invalid"
    assert says in asked.error["message"]
    assert hint in asked.error["details"]["hint"]


def test_json_is_honoured_behind_a_wrong_command_line_too(empty: Terminal):
    assert empty("list", "--lmit", "3", "--json").error["code"] == "invalid"
    assert empty("get", "--json").error["details"]["reason"] == "usage"


def test_json_after_a_double_dash_is_a_text(empty: Terminal):
    assert empty("get", "a", "b", "--", "--json").err.startswith("error: ")


def test_the_version_is_told(empty: Terminal):
    done = empty("--version")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("ai-memory")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_installed_and_completes(shell: str, empty: Terminal):
    script = empty.process("--show-completion", shell, env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})
    assert (script.code, script.err) == (0, "")
    assert "_AI_MEMORY_COMPLETE" in script.out
    variables = {
        "_AI_MEMORY_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "ai-memory per",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "ai-memory per",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    assert "persona" in empty.process(env=variables).out


def test_options_and_subcommands_complete(empty: Terminal):
    def completed(line: str) -> set[str]:
        words = line.split(" ")
        found = empty.process(
            env={"_AI_MEMORY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        )
        return {*found.out.split()}

    assert {"--history", "--namespace"} <= completed("ai-memory persona --")
    assert completed("ai-memory audit ver") == {"verify", "verify-proof"}
    assert completed("ai-memory ") == NAMES
