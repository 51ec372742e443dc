"""The Python door: one store as one principal sees it.

Source: docs/spec/model.md §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from audit import keys
from substrate import config
from substrate.config import Config
from substrate.errors import Conflict, Forbidden, Invalid, NotFound
from substrate.escape import quote
from substrate.scopes import principals
from substrate.scopes.caller import Caller
from substrate.store.database import Database
from substrate.store.db import FILE
from substrate.store.ids import IdMaker, system_clock
from substrate.store.transaction import Reader, Transaction

DEFAULT_HOME = "~/.ai-memory"


class Memory:
    """A store as one principal sees it: ``db`` is the store, ``caller`` the principal."""

    def __init__(self, db: Database, caller: Caller) -> None:
        self.db, self.caller = db, caller

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
    ) -> Memory:
        """Open the store in ``home`` (``~/.ai-memory``), making it and its first human, ``human``, on first use.

        The caller is ``as_`` (a handle or id, with ``#instance`` for a copy of an agent), else the home's own
        principal; its key must lie in ``keys``. ``project`` is where it works. Raises NotFound when there is no store
        and ``create`` is off, Forbidden without the key, and what ``Database.open`` raises.
        """
        folder = Path(home if home is not None else DEFAULT_HOME).expanduser()
        made = new_id or IdMaker()
        if create and not (folder / FILE).exists():
            _create(folder, state_dir, clock, made, engine)
        settings = config.read(folder)
        db = Database.open(folder, state_dir=state_dir, clock=clock, new_id=made, settings=settings.engine)
        try:
            if settings.principal is None:
                settings = _first_human(db, settings, human)
            return cls(db, _authenticated(db, as_ or settings.principal or human, project=project))
        except BaseException:
            db.close()
            raise

    def as_(self, ref: str, *, project: str | None = None, session: str | None = None) -> Memory:
        """See the same store as another principal, whose key lies in ``keys``. Raises NotFound, Forbidden."""
        return Memory(self.db, _authenticated(self.db, ref, project=project, session=session))

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Hold the store for one read."""
        with self.db.read() as r:
            yield r

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Hold the store for one transaction in the caller's name."""
        with self.db.write(self.caller.id) as tx:
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
        config.write(home, Config(engine=engine))


def _first_human(db: Database, settings: Config, handle: str) -> Config:
    """Make the first human of the store, registered now if there is none, the home's own principal."""
    with db.connection():  # held from the look to the write, so that two first commands do not both register one
        with db.read() as r:
            humans = [row for row in principals.everyone(r) if row.kind == "human" and row.retired_at is None]
        first = min(humans, key=lambda row: (row.created_at, row.id), default=None)
        settings = Config(first.id if first else _register(db, handle), settings.engine)
        config.write(db.home, settings)
    return settings


def _register(db: Database, handle: str) -> str:
    """Register a human with a key of their own; the key does not outlive a failure."""
    principals.check_handle(handle)
    path = key_path(db.home, db.new_id("hum"))
    key = keys.create(path)
    try:
        with db.write(path.stem) as tx:
            return principals.first_human(tx, handle, key, id=path.stem).id
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _authenticated(db: Database, ref: str, *, project: str | None = None, session: str | None = None) -> Caller:
    name = ref.partition("#")[0]
    with db.read() as r:
        row = principals.by_handle_or_id(r, name)
        path = key_path(db.home, row.id)
        try:
            key = keys.load(path)
        except NotFound as error:
            raise Forbidden(
                f"keys/{row.id}.key is not here, so nobody can act as {quote(name)}",
                hint="act as yourself, or put that key in place",
                reason="key",
            ) from error
        return principals.authenticate(r, ref, key, project=project, session=session)
