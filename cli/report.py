"""Word what is told of a store, its log and its scopes; all pure, readable without colour."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from substrate.escape import line

Answer = Mapping[str, Any]


def status(found: Answer) -> str:
    """The store in a few lines."""
    kinds: dict[str, int] = {}
    for row in found["memories"]:
        if row["status"] == "active":
            kinds[row["memory_kind"]] = row["count"]
    held = [f"{count} {kind}{'s' * (count != 1)}" for kind, count in sorted(kinds.items())]
    return "\n".join(
        [
            f"home: {line(found['home'])}",
            f"store: {found['store_id']}, {'signed' if found['signed'] else 'unsigned'}, {found['events']} events",
            f"you: {line(found['caller']['handle'])} ({found['caller']['id']})",
            f"holds: {', '.join(held) or 'no memories yet'}",
            f"anchor: {found['situation']}, last written {found['anchored_at'] or 'never'}",
            f"last whole verification: {found['verified_at'] or 'never'}",
        ]
    )


def table(found: Answer, columns: Sequence[str]) -> str:
    """Items as columns, widths from what they hold."""
    rows = [
        [line(str(item.get(column) if item.get(column) is not None else "-")) for column in columns]
        for item in found["items"]
    ]
    widths = [max([len(column), *(len(row[at]) for row in rows)]) for at, column in enumerate(columns)]
    lines = ["  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip()]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)


def fields(found: Answer) -> str:
    """An object, a field a line."""
    return "\n".join(f"{name}: {line(str(value))}" for name, value in found.items() if value is not None)


def space(found: Answer) -> str:
    """A namespace: access, the policy in force and who set it, members."""
    rows = [f"{found['path']}: {found['kind']}, {found['access']}{'' if found['exists'] else ', not made yet'}"]
    rows += [
        f"{name}: {json.dumps(entry['value'])}  ({'set in ' + entry['from'] if entry['from'] else 'default'})"
        for name, entry in sorted(found["policy"].items())
    ]
    rows += [
        f"member: {row['principal_id']}, {row['trust']}"
        + (f", {row['role']}" if row["role"] else "")
        + (f", {', '.join(row['scopes'])}" if row["scopes"] else "")
        + (", waits for its own or its owner's agreement" if row["paused"] else "")
        for row in found["members"]
    ]
    return "\n".join(map(line, rows))


def principal(found: Answer) -> str:
    """A principal and its credentials, one a line."""
    held = found["credentials"]
    rows = [fields({name: value for name, value in found.items() if name != "credentials"})]
    rows += [
        line(f"credential: {row['id']}, {row['kind']}, {row['key_id'] or 'token'}, {row['created_at'][:10]}")
        + (f", for {line(row['instance'])}" if row["instance"] else "")
        + (", revoked" if row["revoked_at"] else "")
        for row in held
    ]
    return "\n".join(rows)


def events(found: Answer) -> str:
    """Events, one a line; of one that is not the caller's the number."""
    return "\n".join(
        f"{event['seq']:>7}  (not yours to see)  {event['hash']}"
        if event.get("hidden")
        else f"{event['seq']:>7}  {event['time'][:19]}  {event['type']:<18}  {line(event['actor'])}"
        f"  {line(event['subject'] or '-')}"
        for event in found["events"]
    )


def verified(found: Answer) -> str:
    """What a whole verification found."""
    anchored = "anchored here" if found["anchored"] else "not anchored here"
    if found["ok"]:
        return f"ok: {found['events']} events and every row hold; {anchored}; head {found['head']}"
    rows = [f"  {fault['kind']}: {line(fault['message'])}" for fault in found["faults"]]
    return "\n".join([f"{len(rows)} faults in {found['events']} events; {anchored}", *rows])


def proved(found: Answer) -> str:
    """What a proof proves."""
    if not found["ok"]:
        return "\n".join(["the proof does not hold:", *(f"  {line(reason)}" for reason in found["reasons"])])
    known = "the key you gave" if found["pinned"] else f"key {found['key']}, which you have to know from elsewhere"
    return (
        f"ok: event {found['sequence']} ({found['type']} {line(found['subject'] or '')}) is in the log of"
        f" {found['store_id']} of {found['size']} events, signed by {known}"
    )


def recovered(found: Answer) -> str:
    """What is missing, and whether it was accepted."""
    rows = [f"situation: {found['situation']}; the log ends at event {found['events_here']}"]
    if found["missing_events"]:
        rows.append("missing: events {} to {}".format(*found["missing_events"]))
    rows += [f"differs: {line(row)}" for row in found["rows"]]
    if found["accepted"]:
        rows.append(f"accepted as event {found['accepted']}; the store goes on from here")
    return "\n".join(rows)


def findings(found: Answer) -> str:
    """What a look at everything found, and how to mend it."""
    return "\n".join(
        f"{'ok  ' if item['ok'] else 'BAD '} {item['what']}: {line(item['found'])}"
        + (f"\n     mend: {line(item['mend'])}" if item["mend"] else "")
        for item in found["findings"]
    )


def rewritten(found: Answer) -> str:
    """How large the file was and is."""
    return f"rewritten: {found['bytes_before']:,} bytes before, {found['bytes_after']:,} after"


def checkpoint(found: Answer) -> str:
    """The note, as it is to be kept."""
    return str(found["checkpoint"]).rstrip("\n")
