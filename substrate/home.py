"""The Python door: one store as one principal sees it.

Source: docs/spec/model.md §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from audit import keys, sealing
from audit.attestation import Witness, locked
from substrate import config
from substrate.config import Config
from substrate.errors import AiMemoryError, Conflict, Forbidden, Invalid, NotFound
from substrate.escape import quote
from substrate.scopes import principals
from substrate.scopes.caller import Caller
from substrate.store.database import Database
from substrate.store.db import FILE
from substrate.store.ids import IdMaker, system_clock
from substrate.store.model import PrincipalRow
from substrate.store.transaction import Reader, Transaction

DEFAULT_HOME = "~/.ai-memory"


class Memory:
    """A store (``db``) as one principal (``caller``) sees it, with the home's settings (``config``).

    ``witness`` is the caller with its own key; None while that is sealed.
    """

    def __init__(
        self, db: Database, caller: Caller, config: Config | None = None, witness: Witness | None = None
    ) -> None:
        self.db, self.caller, self.config, self.witness = db, caller, config or Config(), witness

    @classmethod
    def open(
        cls,
        home: Path | str | None = None,
        *,
        as_: str | None = None,
        project: str | None = None,
        state_dir: Path | None = None,
        clock: Callable[[], str] = system_clock,
        new_id: Callable[[str], str] | None = None,
        human: str = "me",
        create: bool = True,
        engine: Mapping[str, str] | None = None,
        tolerant: bool = False,
    ) -> Memory:
        """Open the store in ``home`` (``~/.ai-memory``), making it and its first human, ``human``, on first use.

        No variable of the environment is read here: pass on ``AI_MEMORY_HOME`` where it is to count.

        The caller is ``as_`` (a handle or id, with ``#instance`` for a copy of an agent), else the home's own
        principal; its key must lie in ``keys``. ``project`` is where it works; ``tolerant`` is
        told in ``Database.open``. Raises NotFound when there is no store
        and ``create`` is off, Forbidden without the key, and what ``Database.open`` raises.
        """
        folder = Path(home if home is not None else DEFAULT_HOME).expanduser()
        made = new_id or IdMaker()
        if create and not (folder / FILE).exists():
            _create(folder, state_dir, clock, made, engine)
        settings = config.read(folder)
        db = Database.open(
            folder, state_dir=state_dir, clock=clock, new_id=made, settings=settings.engine, tolerant=tolerant
        )
        try:
            if settings.principal is None:
                settings = _first_human(db, settings, human)
            caller, witness = _authenticated(db, as_ or settings.principal or human, project=project)
            return cls(db, caller, settings, witness)
        except BaseException:
            db.close()
            raise

    def as_(self, ref: str, *, project: str | None = None, session: str | None = None) -> Memory:
        """See the same store as another principal, whose key lies in ``keys``. Raises NotFound, Forbidden."""
        caller, witness = _authenticated(self.db, ref, project=project, session=session)
        return Memory(self.db, caller, self.config, witness)

    def unlock(self, passphrase: str) -> None:
        """Open the caller's sealed key for as long as this object lives. Raises Forbidden for a wrong passphrase."""
        key = sealing.load(key_path(self.db.home, self.caller.id))
        self.witness = Witness(
            self.caller.id, sealing.opened(key, passphrase) if isinstance(key, sealing.Sealed) else key
        )

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Hold the store for one read."""
        with self.db.read() as r:
            yield r

    @contextmanager
    def write(self, *, attest: bool = False) -> Iterator[Transaction]:
        """Hold the store for one transaction in the caller's name; with ``attest`` the caller's own key vouches for it.

        Raises Forbidden when that key is needed and sealed.
        """
        if attest and self.witness is None:
            raise locked(self.caller.id)
        with self.db.write(self.caller.id, self.witness, attests=attest) as tx:
            yield tx

    def close(self) -> None:
        """Close the store."""
        self.db.close()


def key_path(home: Path, principal_id: str) -> Path:
    """Give the place of a principal's key."""
    return home / "keys" / f"{principal_id}.key"


def _create(
    home: Path,
    state_dir: Path | None,
    clock: Callable[[], str],
    new_id: Callable[[str], str],
    engine: Mapping[str, str] | None,
) -> None:
    unknown = sorted(set(engine or ()) - config.ENGINE)
    if unknown:
        raise Invalid(
            f"not an engine setting: {', '.join(unknown)}", hint=f"there are {', '.join(sorted(config.ENGINE))}"
        )
    try:
        Database.create(home, state_dir=state_dir, clock=clock, new_id=new_id, settings=engine).close()
    except Conflict:
        return  # another process was faster
    if engine:
        config.write(home, replace(config.read(home), engine=engine))


def _first_human(db: Database, settings: Config, handle: str) -> Config:
    """Make the first human of the store, registered now if there is none, the home's own principal."""
    with db.connection():  # held from the look to the write, so that two first commands do not both register one
        with db.read() as r:
            humans = [row for row in principals.everyone(r) if row.kind == "human" and row.retired_at is None]
        first = min(humans, key=lambda row: (row.created_at, row.id), default=None)
        settings = replace(settings, principal=first.id if first else _register(db, handle))
        config.write(db.home, settings)
    return settings


def _register(db: Database, handle: str) -> str:
    """Register a human with a key of their own."""
    principals.check_handle(handle)
    id = db.new_id("hum")
    with new_key(db, id) as key, db.write(id) as tx:
        return principals.first_human(tx, handle, key, id=id).id


@contextmanager
def new_key(db: Database, principal_id: str) -> Iterator[keys.Key]:
    """Make a principal's key for the block that registers it; the key does not outlive a failure.

    A write can fail after its commit, as when the anchor finds no space. So the key goes only when it is certain that
    nobody was registered with it.
    """
    path = key_path(db.home, principal_id)
    key = keys.create(path)
    try:
        yield key
    except BaseException:
        with suppress(AiMemoryError, OSError), db.read() as r:
            if r.get(PrincipalRow, principal_id) is None:
                path.unlink(missing_ok=True)
        raise


def _authenticated(
    db: Database, ref: str, *, project: str | None = None, session: str | None = None
) -> tuple[Caller, Witness | None]:
    """Make the caller whose key lies in ``keys``. A sealed key does for everything but decisions."""
    name = ref.partition("#")[0]
    with db.read() as r:
        row = principals.by_handle_or_id(r, name)
        path = key_path(db.home, row.id)
        try:
            key = sealing.load(path)
        except NotFound as error:
            raise Forbidden(
                f"keys/{row.id}.key is not here, so nobody can act as {quote(name)}",
                hint="act as yourself, or put that key in place",
                reason="key",
            ) from error
        caller = principals.authenticate(r, ref, key, project=project, session=session)
        return caller, None if isinstance(key, sealing.Sealed) else Witness(caller.id, key)
