"""Keep the keys and tokens that say who calls. Of a token only its SHA-256 is kept.

Source: docs/spec/model.md §1.10, docs/spec/audit.md §3.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import replace

from audit.keys import is_public, key_id
from substrate.errors import Conflict, Invalid, Refused
from substrate.escape import quote
from substrate.scopes import access, paths
from substrate.scopes.caller import Caller
from substrate.scopes.rules import Verdict
from substrate.store.model import CredentialRow, PrincipalRow
from substrate.store.transaction import Reader, Transaction

TOKEN_BYTES = 32
_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_instance(instance: str) -> str:
    """Return the name of a copy of an agent unchanged: letters, digits, '.', '_' and '-'."""
    if not _INSTANCE.fullmatch(instance):
        raise Invalid(
            f"{quote(instance)} names no instance of an agent",
            hint="letters, digits, '.', '_' and '-'; with the agent's handle: agent#instance",
            fields={"instance": "pattern"},
        )
    return instance


def add_key(
    tx: Transaction, caller: Caller, principal_id: str, public_key: str, *, instance: str | None = None
) -> CredentialRow:
    """Register a public key (64 hex digits) of a principal, good for one instance or, without, for all.

    A human adds its own keys, an agent's owner the agent's. A key belongs to one principal for good: one that was ever
    registered is `Conflict`, revoked or not.
    """
    owner = _held(tx, caller, principal_id)
    row = key_row(tx, owner.id, public_key, instance=instance)
    tx.put(row)
    _record(tx, "key_added", owner, row)
    return row


def key_row(tx: Transaction, principal_id: str, public_key: str, *, instance: str | None = None) -> CredentialRow:
    """Make the row of a key without writing it; refuse one that is no key or is somebody's."""
    if not is_public(public_key):
        raise Invalid(
            f"{quote(public_key)} is no Ed25519 public key", hint="64 hex digits", fields={"public_key": "pattern"}
        )
    if tx.count(CredentialRow, "public_key = ?", (public_key,)):
        raise Conflict(f"key {key_id(public_key)} is registered already", hint="make a new key")
    return CredentialRow(
        id=tx.new_id("cred"),
        principal_id=principal_id,
        instance=None if instance is None else check_instance(instance),
        kind="ed25519",
        public_key=public_key,
        created_at=tx.now,
    )


def add_token(
    tx: Transaction, caller: Caller, principal_id: str, *, instance: str | None = None
) -> tuple[CredentialRow, str]:
    """Make a bearer token for a principal; the token is in the answer and nowhere else."""
    owner = _held(tx, caller, principal_id)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = CredentialRow(
        id=tx.new_id("cred"),
        principal_id=owner.id,
        instance=None if instance is None else check_instance(instance),
        kind="bearer",
        token_sha256=digest(token),
        created_at=tx.now,
    )
    tx.put(row)
    _record(tx, "key_added", owner, row)
    return row, token


def revoke(tx: Transaction, caller: Caller, credential_id: str) -> CredentialRow:
    """End a credential; one that has ended stays as it is. A human's last key is `Refused`: nobody could follow it."""
    row = tx.get(CredentialRow, credential_id)
    if row is None or access.ruling(tx, caller, "credentials", _scope(tx, row.principal_id)).verdict < Verdict.YES:
        raise access.missing("credential", credential_id)
    if row.revoked_at is not None:
        return row
    owner = tx.require(PrincipalRow, row.principal_id)
    if owner.kind == "human" and row.kind == "ed25519" and len(valid_keys(tx, owner.id)) == 1:
        raise Refused(f"{credential_id} is the last key of {owner.handle}", hint="add another key first")
    row = replace(row, revoked_at=tx.now)
    tx.put(row)
    _record(tx, "key_revoked", owner, row)
    return row


def valid_keys(r: Reader, principal_id: str) -> list[CredentialRow]:
    """Read a principal's keys that are not revoked, oldest first."""
    where = "principal_id = ? AND kind = 'ed25519' AND revoked_at IS NULL"
    return r.select(CredentialRow, where, (principal_id,), order="created_at, id")


def of_key(r: Reader, principal_id: str, public_key: str) -> CredentialRow | None:
    """Find a principal's credential for a public key, unless revoked."""
    return _presented(r, "principal_id = ? AND public_key = ?", (principal_id, public_key))


def by_token(r: Reader, token: str) -> CredentialRow | None:
    """Find the credential a bearer token is for, unless revoked."""
    return _presented(r, "token_sha256 = ?", (digest(token),))


def of(r: Reader, caller: Caller, principal_id: str) -> list[CredentialRow]:
    """List a principal's credentials, revoked ones too, to whoever may change them."""
    owner = _held(r, caller, principal_id)
    return r.select(CredentialRow, "principal_id = ?", (owner.id,), order="created_at, id")


def digest(token: str) -> str:
    """Hash a token. It is random and long, so a plain hash is as good as a slow one."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _presented(r: Reader, where: str, params: tuple[str, ...]) -> CredentialRow | None:
    """Find the credential that proves a caller.

    Only when none is found is the whole store held against the log: a row that an edit hides can deny, never let in.
    """
    where += " AND revoked_at IS NULL"
    found = r.matching(CredentialRow, where, params) or r.select(CredentialRow, where, params)
    return found[0] if found else None


def _held(r: Reader, caller: Caller, principal_id: str) -> PrincipalRow:
    access.check(r, caller, "credentials", _scope(r, principal_id))
    return r.require(PrincipalRow, principal_id)


def _scope(r: Reader, principal_id: str) -> str:
    row = r.get(PrincipalRow, principal_id)
    if row is None:
        raise access.missing("principal", principal_id)
    return paths.scope_of(row.kind, row.id)


def _record(tx: Transaction, event: str, owner: PrincipalRow, row: CredentialRow) -> None:
    payload = {"principal_id": owner.id, "instance": row.instance} | named(row)
    tx.event(event, subject=row.id, namespace=paths.scope_of(owner.kind, owner.id), payload=payload)


def named(row: CredentialRow) -> dict[str, str]:
    """Name a credential in an event; a key by its id as well, so that the log says whose it is."""
    return {"credential_id": row.id} | ({"key_id": key_id(row.public_key)} if row.public_key else {})
