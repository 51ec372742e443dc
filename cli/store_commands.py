"""Commands on the store as a whole."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import care, report, settings
from cli.door import Answer, Words, command, group, home, progress, say

if TYPE_CHECKING:
    from substrate.home import Memory

app = group()


@command(app, report.status, "status")
def status(memory: "Memory") -> Answer:
    """Show the store: where it is, what it holds, how it stands to its anchor, whose key is sealed, what waits."""
    from curator.actions import waiting
    from substrate.actions import audit as actions

    return {**actions.status(memory), **waiting(memory)}


@command(app, None, "tick")
def tick(
    memory: "Memory",
    now: Annotated[bool, typer.Option("--now", help="Also what failed and waits for its next attempt.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing and give way to other processes.")] = False,
    shift: Annotated[int | None, typer.Option("--shift", hidden=True, help="The lock that was handed over.")] = None,
) -> tuple[Answer, Words]:
    """Do what is due: reflections and personas by cadence, files and recall that lag behind. Waits for nobody."""
    from curator.actions import work
    from curator.shift import adopt

    settings.require_model()  # a job would fail on it for good
    if quiet:
        os.nice(10)
    taken = adopt(memory.db.home, shift) if shift is not None else None
    found = work(memory, now=now, progress=None if quiet else progress, taken=taken)
    return found, (lambda _: "") if quiet else report.ticked


@command(app, report.findings, "doctor", opens=False)
def doctor() -> Answer:
    """Look at everything and say what is wrong and how to mend it; changes nothing."""
    from substrate.store.doctor import examine

    found = settings.read()
    lost = (found.home / "keys").is_dir()  # a store was here
    return examine(found.home if lost else home(), state_dir=found.state_dir)


@command(app, care.backed_up, "backup /media/disk --keys")
def backup(
    memory: "Memory",
    target: Annotated[
        Path, typer.Argument(metavar="FILE|FOLDER", help="A new file, or a folder to put one into.", show_default=False)
    ],
    keys: Annotated[bool, typer.Option("--keys", help="With the keys: whoever has the backup can sign.")] = False,
) -> Answer:
    """Write a compacted and verified copy of the store to one file, while work goes on."""
    from substrate.actions import audit as actions

    return actions.backup(memory, target, with_keys=keys)


@command(app, care.restored, "restore store-01k….backup", opens=False)
def restore(
    source: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="The backup; without one the store keeps what still holds."),
    ] = None,
    other_store: Annotated[
        bool, typer.Option("--other-store", help="Also where another store lies, which is moved aside.")
    ] = False,
) -> Answer:
    """Bring a damaged, older or lost store back from a backup and from what its own log still proves."""
    from cli.audit_commands import decider, witness
    from substrate.memory.forgetting import erase_again
    from substrate.store import restore as restoring
    from substrate.store.ids import system_clock
    from substrate.store.ledger import state_folder

    found = settings.read()
    return care.answer(
        restoring.restore(
            found.home,
            source,
            state_dir=found.state_dir or state_folder(found.home),
            decider=decider,
            erase=erase_again,
            clock=system_clock,
            other_store=other_store,
            witness=witness,
        )
    )


@command(app, report.rewritten, "rewrite")
def rewrite(memory: "Memory") -> Answer:
    """Copy the file into a fresh one, so that forgotten text is gone from it."""
    from substrate.actions import audit as actions

    return actions.rewrite(memory)


@command(app, report.reindexed, "reindex --model ~/models/e5-small")
def reindex(
    memory: "Memory",
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|FOLDER", help="From now on vectors of this model: all-MiniLM-L6-v2, or a folder."),
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Delete the index first.")] = False,
) -> Answer:
    """Bring the recall index up to date, with a vector for every memory; interrupted, it goes on where it stopped."""
    from substrate.actions import recall as actions

    try:
        return actions.reindex(memory, model=model, anew=anew, progress=progress)
    except KeyboardInterrupt:
        say("\nwhat is done is kept; `ai-memory reindex` goes on, and so does the worker")
        raise
