"""Commands on the signed log, and those on the store as a whole."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import settings, show
from cli.door import INVOCATION, As, AsJson, answer, opened, say, write
from substrate.errors import Invalid, NotFound, Unavailable
from substrate.escape import line

audit = typer.Typer(
    help="The signed log: verify it, prove from it, keep checkpoints.", no_args_is_help=True, rich_markup_mode=None
)
_MOST = 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the commands on the whole store."""
    app.command(epilog="Example: ai-memory status")(status)
    app.command(epilog="Example: ai-memory doctor")(doctor)
    app.command(epilog="Example: ai-memory rewrite")(rewrite)


def status(principal: As = None, as_json: AsJson = False) -> None:
    """Show the store: where it is, what it holds, how it stands to this machine's anchor."""
    from substrate.actions import audit as actions

    with opened(principal, create=False) as memory:
        found = actions.status(memory)
    answer(found, as_json, show.status)


def doctor(as_json: AsJson = False) -> None:
    """Look at everything and say what is wrong and how to mend it; changes nothing."""
    from substrate.store.doctor import examine

    found = settings.read()
    report = examine(_home(), state_dir=found.state_dir)
    answer(report, as_json, _doctored)
    if not report["ok"]:
        raise typer.Exit(7)


def _doctored(found: Any) -> str:
    return "\n".join(
        f"{'ok  ' if item['ok'] else 'BAD '} {item['what']}: {line(item['found'])}"
        + (f"\n     mend: {line(item['mend'])}" if item["mend"] else "")
        for item in found["findings"]
    )


def rewrite(principal: As = None, as_json: AsJson = False) -> None:
    """Copy the file into a fresh one, so that forgotten text is gone from it."""
    from substrate.actions import audit as actions

    with opened(principal, create=False) as memory:
        found = actions.rewrite(memory)
    answer(found, as_json, lambda f: f"rewritten: {f['bytes_before']:,} bytes before, {f['bytes_after']:,} after")


@audit.command("log", epilog="Example: ai-memory audit log --after 100")
def log(
    after: Annotated[int, typer.Option(help="Only events after this number.")] = 0,
    limit: Annotated[int | None, typer.Option(help="Events at most.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only events about this id.")] = None,
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """List events, oldest first."""
    from substrate.actions import audit as actions

    with opened(principal, create=False) as memory:
        found = actions.log(memory, after=after, limit=limit, subject=subject)
    answer(found, as_json, _events)


def _events(found: Any) -> str:
    return "\n".join(_event(event) for event in found["events"])


def _event(event: Any) -> str:
    if event.get("hidden"):
        return f"{event['seq']:>7}  (not yours to see)"
    who, what = line(event["actor"]), line(event["subject"] or "-")
    return f"{event['seq']:>7}  {event['time'][:19]}  {event['type']:<18}  {who}  {what}"


@audit.command("verify", epilog="Example: ai-memory audit verify --checkpoint mailed.txt")
def verify(
    checkpoint: Annotated[list[Path] | None, typer.Option(help="A checkpoint kept elsewhere; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Verify everything: every event, every row, the tree, the anchor. Exit 7 when anything does not hold."""
    from substrate.store import recovery

    found = settings.read()
    notes = [_read(path) for path in checkpoint or ()]
    report = recovery.verify(_home(), state_dir=found.state_dir, notes=notes)
    shown = {
        "ok": report.ok,
        "anchored": report.anchored,
        "store_id": report.store_id,
        "events": report.events,
        "head": report.head,
        "faults": [
            {"kind": f.kind, "sequence": f.sequence, "subject": f.subject, "message": f.message} for f in report.faults
        ],
    }
    answer(shown, as_json, _verified)
    if not report.ok:
        raise typer.Exit(7)


def _verified(found: Any) -> str:
    anchored = "anchored here" if found["anchored"] else "not anchored here"
    if found["ok"]:
        return f"ok: {found['events']} events and every row hold; {anchored}; head {found['head']}"
    rows = [f"  {fault['kind']}: {line(fault['message'])}" for fault in found["faults"]]
    return "\n".join([f"{len(found['faults'])} faults in {found['events']} events; {anchored}", *rows])


@audit.command("checkpoint", epilog="Example: ai-memory audit checkpoint > checkpoint.txt")
def checkpoint(principal: As = None, as_json: AsJson = False) -> None:
    """Print a signed note over the whole log, to keep elsewhere."""
    from substrate.actions import audit as actions

    with opened(principal, create=False) as memory:
        found = actions.checkpoint(memory)
    answer(found, as_json, lambda f: f["checkpoint"].rstrip("\n"))


@audit.command("prove", epilog="Example: ai-memory audit prove mem-01k… > proof.json")
def prove(
    id: Annotated[str, typer.Argument(help="A memory's id, or the number of an event.")],
    principal: As = None,
    as_json: AsJson = False,
) -> None:
    """Prove that a memory's event is in the log; anyone can check the proof without the store."""
    from substrate.actions import audit as actions

    with opened(principal, create=False) as memory:
        found = actions.prove(memory, id=id)
    del as_json  # a proof is JSON already
    write(found["proof"])


@audit.command("verify-proof", epilog="Example: ai-memory audit verify-proof proof.json --key 6b0c…")
def verify_proof(
    path: Annotated[Path, typer.Argument(help="The proof.")],
    key: Annotated[str | None, typer.Option(help="The store's public key, known from elsewhere.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a proof; needs no store."""
    from audit import proof

    verdict = proof.check(_read(path), pinned_key=key)
    event = verdict.event
    shown = {
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
    answer(shown, as_json, _proved)
    if not verdict.ok:
        raise typer.Exit(7)


def _proved(found: Any) -> str:
    if not found["ok"]:
        return "\n".join(["the proof does not hold:", *(f"  {line(reason)}" for reason in found["reasons"])])
    known = "the key you gave" if found["pinned"] else f"key {found['key']}, which you have to know from elsewhere"
    return (
        f"ok: event {found['sequence']} ({found['type']} {line(found['subject'] or '')}) is in the log of"
        f" {found['store_id']} of {found['size']} events, signed by {known}"
    )


@audit.command("adopt", epilog="Example: ai-memory audit adopt --checkpoint mailed.txt")
def adopt(
    checkpoint: Annotated[Path | None, typer.Option(help="A checkpoint the log must extend.")] = None,
    as_json: AsJson = False,
) -> None:
    """Anchor a store that is new to this machine, after verifying all of it."""
    from substrate.store import recovery

    found = settings.read()
    note = _read(checkpoint) if checkpoint else None
    sequence = recovery.adopt(_home(), _actor(), _clock(), note=note, state_dir=found.state_dir)
    answer({"adopted": True, "sequence": sequence}, as_json, lambda f: f"anchored at event {f['sequence']}")


@audit.command("recover", epilog="Example: ai-memory audit recover --accept-rollback")
def recover(
    accept_rollback: Annotated[bool, typer.Option("--accept-rollback", help="Go on from the older state.")] = False,
    as_json: AsJson = False,
) -> None:
    """List what is missing from a store that was rolled back, and go on from it if you say so."""
    from substrate.store import recovery

    found = settings.read()
    loss = recovery.loss(_home(), state_dir=found.state_dir)
    shown: dict[str, Any] = {
        "situation": loss.situation,
        "events_here": loss.sequence,
        "events_seen": loss.anchored,
        "missing_events": list(loss.events) if loss.events else None,
        "rows": list(loss.rows),
        "accepted": None,
    }
    if accept_rollback:
        shown["accepted"] = recovery.accept_rollback(_home(), _actor(), _clock(), state_dir=found.state_dir)
    answer(shown, as_json, _recovered)


def _recovered(found: Any) -> str:
    rows = [f"situation: {found['situation']}; the log ends at event {found['events_here']}"]
    if found["missing_events"]:
        rows.append("missing: events {} to {}".format(*found["missing_events"]))
    rows += [f"differs: {line(row)}" for row in found["rows"]]
    if found["accepted"]:
        rows.append(f"accepted as event {found['accepted']}; the store goes on from here")
    return "\n".join(rows)


@audit.command("fork", epilog="Example: AI_MEMORY_HOME=~/copy ai-memory audit fork")
def fork(as_json: AsJson = False) -> None:
    """Give a copied store an identity of its own."""
    from substrate.store import recovery
    from substrate.store.ids import IdMaker

    found = settings.read()
    new_id = IdMaker()("store")
    sequence = recovery.fork(_home(), _actor(), _clock(), new_id, state_dir=found.state_dir)
    answer({"store_id": new_id, "sequence": sequence}, as_json, lambda f: f"this copy is {f['store_id']} now")


@audit.command("keys", epilog="Example: ai-memory audit keys")
def keys(principal: As = None, as_json: AsJson = False) -> None:
    """Show the key that signs this store's events."""
    from substrate.actions import audit as actions

    with opened(principal, create=False) as memory:
        found = actions.keys(memory)
    answer(found, as_json, show.fields)


@audit.command("export", epilog="Example: ai-memory audit export log.jsonl")
def export(
    path: Annotated[Path, typer.Argument(help="The file to write; - is standard output.")],
    principal: As = None,
) -> None:
    """Write the log for verifiers that do not need this program; check it with `python -m audit.independent`."""
    from substrate.actions import audit as actions

    with opened(principal, create=False) as memory:
        lines = actions.export(memory)
        if str(path) == "-":
            sys.stdout.buffer.writelines(lines)
            return
        try:
            with path.open("wb") as file:
                file.writelines(lines)
        except OSError as error:
            raise Unavailable(f"{path} could not be written: {error.strerror}", hint="choose another file") from error
    say(f"written: {path}")


def _home() -> Path:
    from substrate.store.db import FILE

    home = settings.read().home
    if not (home / FILE).exists():
        raise NotFound(f"no store in {home}", hint="choose the folder with AI_MEMORY_HOME")
    return home


def _actor() -> str:
    """Name who decides: the home's own principal, who need not be able to open a store that is refused."""
    from substrate import config

    return INVOCATION.principal or config.read(settings.read().home).principal or "owner"


def _clock() -> Any:
    from substrate.store.ids import system_clock

    return system_clock


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST).decode()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not text", hint="give the file as it was written") from error
