"""Humans and agents: registering them, finding them, and telling who calls from a key or a token.

Source: docs/spec/model.md §1.10 and §4; docs/spec/audit.md §3.
"""

from __future__ import annotations

import re
from dataclasses import replace

from audit.keys import Key
from audit.sealing import Sealed
from substrate import limits
from substrate.errors import Conflict, Forbidden, Invalid, Refused
from substrate.escape import quote
from substrate.identifiers import fold
from substrate.scopes import access, credentials, paths
from substrate.scopes.caller import CURATOR, HUB, Caller
from substrate.secrets import redact
from substrate.store.model import CredentialRow, NamespaceRow, PrincipalRow
from substrate.store.transaction import Reader, Transaction

__all__ = [
    "CURATOR",
    "HUB",
    "Caller",
    "authenticate",
    "authenticate_token",
    "by_handle_or_id",
    "caller_for",
    "check_handle",
    "everyone",
    "find",
    "first_human",
    "register",
    "retire",
]

PREFIXES = {"human": "hum", "agent": "agt"}
RESERVED = frozenset({"all", "curator", "hub", "owner", "roster"})
_HANDLE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def register(
    tx: Transaction,
    caller: Caller,
    kind: str,
    handle: str,
    *,
    owner: str | None = None,
    lead: str | None = None,
    public_key: str | None = None,
    id: str | None = None,
    public_page: bool = False,
) -> PrincipalRow:
    """Add a human or an agent with its own scope, and its first key when one is given. Only humans register.

    `owner` (an agent's human, the caller by default) and `lead` are handles or ids. `id` is one the caller drew with
    `new_id` before, so that a key file can bear its name.
    """
    if kind not in PREFIXES:
        raise Invalid(f"{quote(kind)} is no kind of principal", hint="human or agent", fields={"kind": "choice"})
    id = _fresh_id(tx, kind, id)
    access.check(tx, caller, "create", paths.scope_of(kind, id))
    handle = check_handle(handle)
    if tx.count(PrincipalRow, "handle = ?", (handle,)):
        raise Conflict(f"handle {quote(handle)} is taken", hint="choose another one")
    if kind == "human" and (owner, lead) != (None, None):
        raise Invalid(
            "a human has neither owner nor lead", hint="they belong to agents", fields={"owner": "agents_only"}
        )
    row = PrincipalRow(
        id=id,
        kind=kind,
        handle=handle,
        owner_id=_owner(tx, caller.id if owner is None else owner) if kind == "agent" else None,
        lead_id=None if lead is None else _live(tx, lead).id,
        public_page=public_page,
        created_at=tx.now,
    )
    _write(tx, row, credentials.key_row(tx, id, public_key) if public_key else None)
    return row


def first_human(tx: Transaction, handle: str, key: Key | None, *, id: str | None = None) -> PrincipalRow:
    """Register the human who uses a new store, without anybody's leave. `Conflict` once there is a human.

    Without a key (an unsigned store) nobody can authenticate as that human.
    """
    if tx.count(PrincipalRow, "kind = 'human'"):
        raise Conflict("this store has a human already", hint="`ai-memory who add human` adds another")
    id = _fresh_id(tx, "human", id)
    row = PrincipalRow(id=id, kind="human", handle=check_handle(handle), created_at=tx.now)
    if tx.get(NamespaceRow, paths.GLOBAL) is None:
        tx.put(NamespaceRow(path=paths.GLOBAL, kind="global", created_at=tx.now))
    _write(tx, row, credentials.key_row(tx, id, key.public) if key else None)
    return row


def retire(tx: Transaction, caller: Caller, ref: str) -> PrincipalRow:
    """End a principal: it reads and writes nothing any more, what it wrote stays. The human itself or the owner may.

    The last human who can act, with a key that is not revoked, is `Refused`: nobody could follow.
    """
    row = by_handle_or_id(tx, ref)
    scope = paths.scope_of(row.kind, row.id)
    access.check(tx, caller, "policy", scope)
    if row.retired_at is not None:
        return row
    if row.kind == "human" and not _others(tx, row.id):
        raise Refused(
            f"{row.handle} is the last human who can act here",
            hint="add another human first: `ai-memory who add human HANDLE`",
            reason="last_human",
        )
    row = replace(row, retired_at=tx.now)
    tx.put(row)
    tx.event("membership_changed", subject=row.id, namespace=scope, payload={"principal_id": row.id, "retired": True})
    return row


def by_handle_or_id(r: Reader, ref: str) -> PrincipalRow:
    """Find a principal, retired ones too. Raises NotFound."""
    row = find(r, ref)
    if row is None:
        raise access.missing("principal", ref)
    return row


def find(r: Reader, ref: str) -> PrincipalRow | None:
    """Find a principal by id or handle, retired ones too; None when there is none."""
    if not isinstance(ref, str) or len(ref) > limits.REF_BYTES:
        return None
    if row := r.get(PrincipalRow, ref):
        return row
    if not _HANDLE.fullmatch(ref):
        return None
    # a handle is never changed, so a row that is there and holds is the one; only absence needs the whole store
    found = r.matching(PrincipalRow, "handle = ?", (ref,)) or r.select(PrincipalRow, "handle = ?", (ref,))
    return found[0] if found else None


def everyone(r: Reader) -> list[PrincipalRow]:
    """List all principals by handle."""
    return r.select(PrincipalRow, order="handle")


def people(r: Reader) -> list[PrincipalRow]:
    """List the humans who are not retired, by handle."""
    return r.select(PrincipalRow, "kind = 'human' AND retired_at IS NULL", order="handle")


def caller_for(r: Reader, ref: str, *, project: str | None = None, session: str | None = None) -> Caller:
    """Make the caller that `handle`, `id` or either with `#instance` names. This trusts the name: see `authenticate`.

    `project` is `owner/name` or the path. Raises NotFound, and Forbidden for a retired principal.
    """
    name, marked, instance = ref.partition("#")
    row = by_handle_or_id(r, name)
    if row.retired_at is not None:
        raise Forbidden(f"{row.handle} is retired", hint="act as somebody else", reason="retired")
    if marked and row.kind != "agent":
        raise Invalid(
            f"{quote(ref)} names no instance of an agent",
            hint="only agents have instances",
            fields={"instance": "agents_only"},
        )
    if marked:
        credentials.check_instance(instance)
    return Caller(
        id=row.id,
        kind="agent" if row.kind == "agent" else "human",
        handle=row.handle,
        instance=instance or None,
        project=paths.project_path(project) if project else None,
        session=session,
    )


def authenticate(
    r: Reader, ref: str, key: Key | Sealed, *, project: str | None = None, session: str | None = None
) -> Caller:
    """Make the caller that `ref` names, if the key at hand is an unrevoked one of that principal.

    A key registered for one instance makes that instance. Raises Forbidden otherwise.
    """
    caller = caller_for(r, ref, project=project, session=session)
    credential = credentials.of_key(r, caller.id, key.public)
    if credential is not None and credential.instance in (None, caller.instance or credential.instance):
        return _as_instance(caller, credential)
    raise Forbidden(
        f"the key at hand is no valid key of {quote(ref)}",
        hint="`ai-memory who key` lists and adds keys",
        reason="key",
    )


def authenticate_token(r: Reader, token: str, *, project: str | None = None, session: str | None = None) -> Caller:
    """Make the caller a bearer token stands for. Raises Forbidden for one that is unknown or revoked."""
    credential = credentials.by_token(r, token)
    if credential is None:
        raise Forbidden("the token is not valid", hint="`ai-memory who token` makes one", reason="token")
    return _as_instance(caller_for(r, credential.principal_id, project=project, session=session), credential)


def check_handle(handle: str) -> str:
    """Return a handle unchanged: lower-case letters, digits, '.', '_', '-', and nothing that reads like an id."""
    if not isinstance(handle, str) or not _HANDLE.fullmatch(handle):
        near = re.sub(r"[^a-z0-9._-]+", "-", fold(redact(handle)[: limits.HANDLE_CHARS])).strip("-._") if handle else ""
        rule = "lower-case letters, digits, '.', '_' and '-', starting with a letter or digit, at most 64"
        raise Invalid(
            f"{quote(handle)} is no handle",
            hint=f"{rule}; try '{near}'" if near else rule,
            fields={"handle": "pattern"},
        )
    if handle in RESERVED or handle.startswith(tuple(f"{prefix}-" for prefix in PREFIXES.values())):
        raise Invalid(f"handle {quote(handle)} is reserved", hint="choose another one", fields={"handle": "reserved"})
    return handle


def _as_instance(caller: Caller, credential: CredentialRow) -> Caller:
    return replace(caller, instance=credential.instance) if credential.instance else caller


def _fresh_id(tx: Transaction, kind: str, id: str | None) -> str:
    id = id or tx.new_id(PREFIXES[kind])
    if not id.startswith(f"{PREFIXES[kind]}-"):
        raise Invalid(f"{quote(id)} is no id of a {kind}", hint=f"draw it with new_id('{PREFIXES[kind]}')")
    if tx.get(PrincipalRow, paths.subject_of(paths.parse(paths.scope_of(kind, id)))):
        raise Conflict(f"{id} is registered already", hint="draw a new id")
    return id


def _others(r: Reader, id: str) -> bool:
    """Say whether another human can act: is not retired and has a key."""
    return any(credentials.valid_keys(r, row.id) for row in people(r) if row.id != id)


def _live(r: Reader, ref: str) -> PrincipalRow:
    row = by_handle_or_id(r, ref)
    if row.retired_at is not None:
        raise Invalid(f"{row.handle} is retired", hint="name somebody else")
    return row


def _owner(r: Reader, ref: str) -> str:
    row = _live(r, ref)
    if row.kind != "human":
        raise Invalid(f"{row.handle} is an agent", hint="an agent is owned by a human", fields={"owner": "humans_only"})
    return row.id


def _write(tx: Transaction, row: PrincipalRow, key: CredentialRow | None) -> None:
    scope = paths.scope_of(row.kind, row.id)
    tx.put(row, NamespaceRow(path=scope, kind=paths.kind_of(scope), created_at=tx.now), *([key] if key else []))
    payload = {"principal_id": row.id}
    if key is None:
        tx.event("policy_changed", subject=row.id, namespace=scope, payload=payload | {"namespace": scope})
    else:
        tx.event("key_added", subject=row.id, namespace=scope, payload=payload | credentials.named(key))
