"""Commands on the store as a whole."""

from typing import TYPE_CHECKING

from cli import report, settings
from cli.door import Answer, command, group, home

if TYPE_CHECKING:
    from substrate.home import Memory

app = group()


@command(app, report.status, "status")
def status(memory: "Memory") -> Answer:
    """Show the store: where it is, what it holds, how it stands to this machine's anchor."""
    from substrate.actions import audit as actions

    return actions.status(memory)


@command(app, report.findings, "doctor", opens=False)
def doctor() -> Answer:
    """Look at everything and say what is wrong and how to mend it; changes nothing."""
    from substrate.store.doctor import examine

    return examine(home(), state_dir=settings.read().state_dir)


@command(app, report.rewritten, "rewrite")
def rewrite(memory: "Memory") -> Answer:
    """Copy the file into a fresh one, so that forgotten text is gone from it."""
    from substrate.actions import audit as actions

    return actions.rewrite(memory)
