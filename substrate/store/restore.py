"""Bring a store back: the backup, and on top of it whatever the damaged file still proves.

Events of the damaged log that follow the backup's verify on their own, so they are kept; so is every row that is what
they committed to. What is left over is lost, and a signed event binds what stands in its place. Everything is built in
a folder of its own and verified whole before it takes its place; what was there is moved aside.

Source: docs/spec/audit.md §2.4 and §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from audit import anchor as anchors
from audit import files, keys
from audit.anchor import Anchor
from audit.attestation import Witness
from audit.errors import AiMemoryError, Conflict, Integrity, Unavailable
from audit.event import Event, event_hash
from audit.verify import verify_log
from substrate.store import backup
from substrate.store.backup import Manifest
from substrate.store.baton import Baton
from substrate.store.database import Database
from substrate.store.db import FILE, Connection
from substrate.store.file import rewrite_file
from substrate.store.inspection import inspect
from substrate.store.keyring import KEY_FILE
from substrate.store.log import EventRow, event_rows, hash_at, iterate_events, parsed, store_after
from substrate.store.merge import Merged, bring_forward
from substrate.store.model import PersonaHeadRow
from substrate.store.placing import place
from substrate.store.rebuild import rebuild
from substrate.store.remains import Remains
from substrate.store.salvage import proven_events
from substrate.store.transaction import Transaction
from substrate.store.workshop import workshop

Erase = Callable[[Transaction, Iterable[str]], tuple[str, ...]]
Decider = Callable[[Sequence[Path]], str]
Vouch = Callable[[Sequence[Path], str], Witness | None]


@dataclass(frozen=True, kw_only=True)
class Restored:
    """What a restore did, by id and by number of event.

    ``kept`` counts the events after the backup that the damaged log still proved; ``missing_events`` are the first and
    the last that this machine has seen and nobody has any more, ``lost`` what could still be read of them. Of the rows
    those ``missing`` are gone, ``older`` ones are as the backup holds them, ``erased`` ones were forgotten after it and
    were erased again. ``sequence`` is the number of the event ``restored``, None where no key could sign one;
    ``older_key`` says that the backup's key took the place of the home's, which its log does not know.
    """

    store_id: str
    sequence: int | None = None
    backup_sequence: int | None
    kept: int = 0
    missing_events: tuple[int, int] | None = None
    lost: tuple[Event, ...] = ()
    missing: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    set_aside: Path | None = None
    older_key: bool = False
    anchor_unread: bool = False


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What is to be put in place of what; ``public`` is the key in force at the end of what is there."""

    remains: Remains
    manifest: Manifest
    given_up: Merged
    genesis: str | None
    foreign: bool
    anchor: Anchor | None
    anchor_unread: bool
    tail: list[EventRow] = field(default_factory=list)
    lost: tuple[Event, ...] = ()
    public: str | None = None

    @property
    def store_id(self) -> str:
        return store_after(parsed(self.tail[-1])) if self.tail else self.manifest.store_id

    @property
    def end(self) -> int:
        """The last event that is there."""
        return self.manifest.sequence + len(self.tail)

    @property
    def begun(self) -> Event | None:
        """The event of a restore that died before it was anchored: this machine's anchor is still the one it names."""
        for event in map(parsed, self.tail if self.anchor else ()):
            if event.type == "restored" and self.anchor and event.payload.get("from_hash") == self.anchor.event_hash:
                return event
        return None

    @property
    def missing(self) -> tuple[int, int] | None:
        seen, begun = self.anchor.sequence if self.anchor else 0, self.begun
        first = begun.seq if begun else self.end + 1
        return (first, seen) if seen >= first else None


def restore(
    home: Path,
    source: Path | None,
    *,
    state_dir: Path,
    decider: Decider,
    erase: Erase,
    clock: Callable[[], str],
    other_store: bool = False,
    witness: Vouch = lambda _folders, _actor: None,
) -> Restored:
    """Put a backup in the place of a store that is damaged, behind or not there; see the module.

    Without a ``source`` the damaged store is the base itself: it keeps what its log proves and gives up the rest.

    ``decider`` names who decides, from folders in which keys may lie, and ``witness`` opens their key there where it is
    sealed; ``erase`` puts tombstones in the place of
    memories and gives their ids. Raises Integrity for a backup that does not hold or is of another history than this
    machine has seen; Conflict for one of another store unless ``other_store`` says so, and where there is nothing to
    restore; Unavailable without the key that has to sign. Nothing is changed then.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        hint = "choose a folder with AI_MEMORY_HOME"
        raise Unavailable(f"cannot make {home}: {error.strerror}", hint=hint) from error
    holder = Baton(home, opened=lambda: None, closing=lambda: None)
    try:
        with holder.held(), workshop(home, "restore") as shop:
            new = shop / "new"
            new.mkdir(mode=0o700)
            remains = Remains.of(home, shop / "old")
            try:
                base, given_up = _unpacked(source, new) if source else rebuild(remains.openable(), new)
                plan = _planned(home, new, remains, base, given_up, state_dir, other_store)
                found = _built(home, new, plan, decider, erase, clock, witness)
            finally:
                remains.close()
            aside = place(home, new, time=clock(), other_store=plan.foreign, older_key=found.older_key)
            if found.sequence is not None:
                anchor = anchors.read(anchors.path(new / "state", found.store_id))
                if anchor is not None:
                    anchors.write(anchors.path(state_dir, found.store_id), anchor)
            return replace(found, set_aside=aside)
    finally:
        holder.close()


def _unpacked(source: Path, new: Path) -> tuple[Manifest, Merged]:
    with backup.opened(source) as file:
        manifest, signature = backup.unpack(file, new)
    backup.check(new, manifest, signature)
    return manifest, Merged()


def _planned(
    home: Path,
    new: Path,
    remains: Remains,
    manifest: Manifest,
    given_up: Merged,
    state_dir: Path,
    other_store: bool,
) -> _Plan:
    """Hold the backup against what lies here and what this machine has seen; raises when it must not take its place."""
    foreign = remains.there and not remains.is_of(manifest)
    if foreign and not other_store:
        raise Conflict(
            f"the backup is of {manifest.store_id}, and {home} holds {remains.store_id}",
            hint="choose another folder with AI_MEMORY_HOME, or say --other-store: what is there is moved aside",
        )
    connection = Connection(new / FILE)
    try:
        first = parsed(event_rows(connection, 0, 1)[0])
        genesis = first.payload.get("public_key")
        anchor, unread = _seen(state_dir, manifest.store_id if foreign else remains.now(manifest))
        plan = _Plan(
            remains=remains,
            manifest=manifest,
            given_up=given_up,
            genesis=genesis,
            foreign=foreign,
            anchor=anchor,
            anchor_unread=unread,
        )
        if anchor is not None:
            _check_seen(connection, anchor, plan)
        rows = [] if foreign else remains.events(manifest.sequence)
        tail, public = _proven(connection, rows, plan)
        plan = replace(plan, tail=tail, public=public)
        _check_tail(plan)
        if not foreign:
            remains.check_needed(manifest, anchor, state_dir)
        missing = plan.missing
        if anchor is not None and missing is not None and not foreign:
            known = {event_hash(row[1]) for row in chain(iterate_events(connection), tail)}
            plan = replace(plan, lost=tuple(proven_events(remains.files, anchor.event_hash, known.__contains__)))
            if plan.lost and plan.lost[0].seq < missing[0]:
                raise _another_history()
    finally:
        connection.close()
    return plan


def _seen(state_dir: Path, store_id: str) -> tuple[Anchor | None, bool]:
    """Read this machine's anchor; the second answer is whether there is one that cannot be read."""
    try:
        return anchors.read(anchors.path(state_dir, store_id)), False
    except Integrity:
        return None, True


def _check_seen(connection: Connection, anchor: Anchor, plan: _Plan) -> None:
    if anchor.genesis_key != plan.genesis:
        raise Integrity("the backup begins with another key than this store", hint="it was forged; take another")
    if anchor.sequence <= plan.manifest.sequence and hash_at(connection)(anchor.sequence) != anchor.event_hash:
        raise _another_history()


def _check_tail(plan: _Plan) -> None:
    """Refuse events after the backup's that this machine has seen otherwise: a copy of the store went on by itself."""
    if plan.anchor is None or plan.begun or not plan.manifest.sequence < plan.anchor.sequence <= plan.end:
        return
    sequence, data, _, _ = plan.tail[plan.anchor.sequence - plan.manifest.sequence - 1]
    if event_hash(data) != plan.anchor.event_hash:
        raise Integrity(
            f"event {sequence} here is not the one this machine has seen: a copy went on by itself",
            hint=f"move {FILE} away and restore again; of the copy, `ai-memory audit fork` makes a store of its own"
            " in another folder (AI_MEMORY_HOME, AI_MEMORY_STATE)",
            situation="diverged",
        )


def _another_history() -> Integrity:
    return Integrity(
        "the backup is of another history than the one this machine has seen",
        hint="restore it into a folder of its own (AI_MEMORY_HOME, AI_MEMORY_STATE), then `ai-memory audit fork`",
        situation="diverged",
    )


def _proven(connection: Connection, rows: list[EventRow], plan: _Plan) -> tuple[list[EventRow], str | None]:
    """Give the events that verify on top of the backup's log, in order, and the key in force after them."""
    good = rows
    while True:
        store_id = plan.manifest.store_id
        if good:
            try:
                store_id = store_after(parsed(good[-1]))
            except Integrity:
                good = good[:-1]
                continue
        faults, summary = verify_log(chain(iterate_events(connection), good), store_id, plan.genesis)
        if not faults:
            return good, summary.keys[-1] if summary.keys else None
        broken = min((fault.sequence for fault in faults if fault.sequence is not None), default=0)
        good = good[: max(0, min(broken - plan.manifest.sequence, len(good)) - 1)]


def _built(
    home: Path,
    new: Path,
    plan: _Plan,
    decider: Decider,
    erase: Erase,
    clock: Callable[[], str],
    witness: Vouch,
) -> Restored:
    """Build the restored store in the folder that the backup was unpacked into, and verify it whole."""
    connection = Connection(new / FILE)
    try:
        merged = bring_forward(connection, plan.tail, plan.remains.connection) if plan.tail else plan.given_up
    finally:
        connection.close()
    found = Restored(
        store_id=plan.store_id,
        backup_sequence=plan.manifest.sequence if plan.manifest.files else None,
        kept=len(plan.tail),
        missing_events=plan.missing,
        lost=plan.lost,
        missing=merged.missing,
        older=merged.older,
        anchor_unread=plan.anchor_unread,
    )
    signer = None if plan.public is None else _signer(() if plan.foreign else (home,), new, plan.public)
    if plan.public is None or signer is not None:
        folders = (new,) if plan.foreign else (home, new)
        by = decider(folders)
        found = _signed(new, plan, found, merged, by, erase, clock, lambda: witness(folders, by))
    elif plan.anchor is not None or merged.changes:
        raise Unavailable(
            "the key that has to sign the restore is neither in keys/ nor in the backup",
            hint="put the store's key file into keys/, or take a backup that was made with --keys",
        )
    rewrite_file(new / FILE)
    report = inspect(new, state_dir=new / "state")
    if report.faults:
        raise Integrity(f"the restored store does not hold: {report.faults[0].message}", hint="nothing was changed")
    replaced = signer is not None and signer.parent.parent == new and (home / KEY_FILE).exists() and not plan.foreign
    return replace(found, older_key=replaced)


def _signer(homes: Sequence[Path], new: Path, public: str) -> Path | None:
    """Find the file of the key in force, here or in the backup, and lay it ready beside the copy that is built."""
    for folder in (*homes, new):
        for path in sorted((folder / "keys").glob("store.key*")):
            try:
                fits = keys.load(path).public == public
            except AiMemoryError:
                continue
            if not fits:
                continue
            if path != new / KEY_FILE:
                (new / KEY_FILE).unlink(missing_ok=True)
                files.create(new / KEY_FILE, path.read_bytes())
            return path
    return None


def _signed(
    new: Path,
    plan: _Plan,
    found: Restored,
    merged: Merged,
    by: str,
    erase: Erase,
    clock: Callable[[], str],
    witness: Callable[[], Witness | None],
) -> Restored:
    """Record the restore, erase again what was forgotten since the backup, and anchor the result."""
    db = Database.open(new, state_dir=new / "state", clock=clock, lenient=True)
    try:
        with db.read() as r:
            sealed = r.sealed(by)
        with db.write(by, witness() if sealed else None) as tx:
            tx.accept(merged.changes)
            _empty_heads(tx)
            payload = {
                "by": by,
                "backup_sequence": plan.manifest.sequence if plan.manifest.files else None,
                "to_sequence": plan.end,
                "from_sequence": plan.anchor.sequence if plan.anchor else None,
                "from_hash": plan.anchor.event_hash if plan.anchor else None,
            }
            sequence = tx.event("restored", subject=plan.store_id, namespace=None, payload=payload)
            erased = erase(tx, _forgotten(plan))
        with db.connection() as connection:
            db.ledger.adopt(connection)
    finally:
        db.close()
    older = tuple(name for name in found.older if name not in erased)
    return replace(found, sequence=sequence, erased=tuple(sorted(erased)), older=older)


def _empty_heads(tx: Transaction) -> None:
    """Let no head name a persona that was not brought back as the newest."""
    dangling = tx.query(
        "SELECT h.namespace, h.entity_id FROM persona_heads h LEFT JOIN memories m ON m.id = h.persona_id"
        " WHERE h.persona_id IS NOT NULL AND m.status IS DISTINCT FROM 'active'"
    )
    heads = tx.get_many(PersonaHeadRow, dangling)
    tx.put(*(replace(head, persona_id=None) for head in heads.values()))


def _forgotten(plan: _Plan) -> list[str]:
    """List the ids that events after the backup say were erased."""
    events = chain((parsed(row) for row in plan.tail), plan.lost)
    return [str(id) for event in events if event.type == "erased" for id in event.payload.get("ids", ())]
