"""The commands ``audit``: reading the signed log, proving from it, and what a person decides when it is refused."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import report, settings
from cli.door import INVOCATION, Answer, command, group, home, left_out, passphrase, write
from substrate.errors import Forbidden, Invalid, NotFound, Unavailable
from substrate.escape import quote

if TYPE_CHECKING:
    from audit.attestation import Witness
    from substrate.home import Memory

_MOST = 1024 * 1024

app = group(name="audit", help="The signed log: verify it, prove from it, keep checkpoints.")


@command(app, report.events, "audit log --after 100", tolerates=True)
def log(
    memory: "Memory",
    after: Annotated[int, typer.Option(help="Only events after this number.")] = 0,
    limit: Annotated[int | None, typer.Option(help="Events at most.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only events about this id.")] = None,
) -> Answer:
    """List events, oldest first."""
    from substrate.actions import audit as actions

    return actions.log(memory, after=after, limit=limit, subject=subject)


@command(app, report.verified, "audit verify --checkpoint mailed.txt", opens=False)
def verify(
    checkpoint: Annotated[list[Path] | None, typer.Option(help="A checkpoint kept elsewhere; may be repeated.")] = None,
) -> Answer:
    """Verify everything: every event, every row, the tree, the anchor. Exit 7 when anything does not hold."""
    from substrate.actions import audit as actions
    from substrate.store import recovery

    notes = [_read(path) for path in checkpoint or ()]
    return actions.verified(recovery.verify(home(), state_dir=settings.read().state_dir, notes=notes))


@command(app, report.checkpoint, "audit checkpoint > checkpoint.txt")
def checkpoint(memory: "Memory") -> Answer:
    """Print a signed note over the whole log, to keep elsewhere."""
    from substrate.actions import audit as actions

    return actions.checkpoint(memory)


@command(app, lambda found: str(found["proof"]), "audit prove mem-01k… > proof.json")
def prove(
    memory: "Memory", id: Annotated[str, typer.Argument(help="A memory's id, or the number of an event.")]
) -> Answer:
    """Prove that a memory's event is in the log; anyone can check the proof without the store."""
    from substrate.actions import audit as actions

    return actions.prove(memory, id=id)


@command(app, report.proved, "audit verify-proof proof.json --key 6b0c…", name="verify-proof", opens=False)
def verify_proof(
    path: Annotated[Path, typer.Argument(help="The proof.")],
    key: Annotated[str | None, typer.Option(help="The store's public key, known from elsewhere.")] = None,
) -> Answer:
    """Check a proof; needs no store."""
    from audit import proof

    verdict = proof.check(_read(path), pinned_key=key)
    event = verdict.event
    return {
        "ok": verdict.ok,
        "reasons": list(verdict.reasons),
        "pinned": verdict.pinned,
        "attest_level": verdict.attest_level,
        "store_id": event.store_id if event else None,
        "sequence": event.seq if event else None,
        "type": event.type if event else None,
        "subject": event.subject if event else None,
        "size": verdict.checkpoint.size if verdict.checkpoint else None,
        "key": verdict.checkpoint_key,
    }


@command(
    app, lambda found: f"anchored at event {found['sequence']}", "audit adopt --checkpoint mailed.txt", opens=False
)
def adopt(
    checkpoint: Annotated[Path | None, typer.Option(help="A checkpoint the log must extend.")] = None,
) -> Answer:
    """Anchor a store that is new to this machine, after verifying all of it."""
    from substrate.store import recovery
    from substrate.store.ids import system_clock

    note = _read(checkpoint) if checkpoint else None
    place, state_dir, by = home(), settings.read().state_dir, decider()
    sequence = recovery.adopt(
        place, by, system_clock, note=note, state_dir=state_dir, witness=lambda: witness((place,), by)
    )
    return {"adopted": True, "sequence": sequence}


@command(app, report.recovered, "audit recover --accept-rollback", opens=False)
def recover(
    accept_rollback: Annotated[bool, typer.Option("--accept-rollback", help="Go on from the older state.")] = False,
) -> Answer:
    """List what is missing from a store that was rolled back, and go on from it if you say so."""
    from substrate.store import recovery
    from substrate.store.ids import system_clock

    state_dir = settings.read().state_dir
    loss = recovery.loss(home(), state_dir=state_dir)
    accepted = None
    if accept_rollback:
        by = decider()
        accepted = recovery.accept_rollback(
            home(), by, system_clock, state_dir=state_dir, witness=lambda: witness((home(),), by)
        )
    return {
        "situation": loss.situation,
        "events_here": loss.sequence,
        "events_seen": loss.anchored,
        "missing_events": list(loss.events) if loss.events else None,
        "rows": list(loss.rows),
        "accepted": accepted,
    }


@command(
    app,
    lambda found: f"this copy is {found['store_id']} now",
    "audit fork",
    opens=False,
)
def fork() -> Answer:
    """Give a copied store an identity of its own; AI_MEMORY_HOME chooses the copy."""
    from substrate.store import recovery
    from substrate.store.ids import IdMaker, system_clock

    new_id = IdMaker()("store")
    place, state_dir, by = home(), settings.read().state_dir, decider()
    sequence = recovery.fork(
        place, by, system_clock, new_id, state_dir=state_dir, witness=lambda: witness((place,), by)
    )
    return {"store_id": new_id, "sequence": sequence}


@command(app, report.keys, "audit keys")
def keys(memory: "Memory") -> Answer:
    """Show the keys that signed this store's events; the last one signs now."""
    from substrate.actions import audit as actions

    return actions.keys(memory)


@command(app, report.fields, "audit rotate")
def rotate(memory: "Memory") -> Answer:
    """Have a new key sign from now on and erase the old one."""
    from substrate.actions import audit as actions

    return actions.rotate(memory)


@command(app, lambda found: f"{found['events']} events in {found['path']}", "audit export log.jsonl", tolerates=True)
def export(
    memory: "Memory", path: Annotated[Path, typer.Argument(help="The file to write; - is standard output.")]
) -> Answer:
    """Write the log for verifiers that do not need this program; check it with `python -m audit.independent`."""
    from substrate.actions import audit as actions

    lines = actions.export(memory)
    if str(path) == "-":
        for text in lines:
            write(text.decode().removesuffix("\n"))
        left_out(memory)
        raise typer.Exit
    try:
        with path.open("wb") as file:
            count = sum(1 for text in lines if file.write(text))
    except OSError as error:
        raise Unavailable(f"{path} could not be written: {error.strerror}", hint="choose another file") from error
    return {"path": str(path), "events": count - 1}


def decider(folders: Sequence[Path] = ()) -> str:
    """Name the human who decides about a store that may be refused, by the key that lies in this home.

    Other folders with keys and settings may take its place; the first that has them counts.

    Nothing in such a store can be believed, so a handle cannot be looked up: it takes the id of a human.
    """
    from audit import sealing
    from substrate import config
    from substrate.home import key_path

    found = settings.read()
    homes = folders or (found.home,)
    said = INVOCATION.principal or found.principal
    name = said or next((who for home in homes if (who := config.read(home).principal)), "nobody")
    for place in homes if re.fullmatch("hum-[0-9a-z]{1,64}", name) else ():
        try:
            sealing.load(key_path(place, name))
        except NotFound:
            continue
        return name
    raise Forbidden(
        f"{quote(name)} is no human whose key lies in keys/",
        hint="name yourself by id: --as hum-…; `ls keys` in the home shows whose keys are here",
        reason="key",
    )


def witness(folders: Sequence[Path], principal_id: str) -> "Witness | None":
    """Open the key of somebody who decides, with a passphrase where it is sealed; None where none can be had."""
    from audit import sealing
    from audit.attestation import Witness
    from substrate.home import key_path

    for place in folders:
        try:
            key = sealing.load(key_path(place, principal_id))
        except NotFound:
            continue
        if isinstance(key, sealing.Sealed):
            word = passphrase()
            return None if word is None else Witness(principal_id, sealing.opened(key, word))
        return Witness(principal_id, key)
    return None


def _read(path: Path) -> str:
    """Read a text file. Raises NotFound, Invalid."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}", hint="check the path") from error
    try:
        if len(data) > _MOST:
            raise ValueError("too long")
        return data.decode()
    except ValueError as error:
        raise Invalid(f"{path} is not a text of ours", hint="give the file as it was written") from error
