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
            f"people: {', '.join(map(_person, found['people']))}",
            f"holds: {', '.join(held) or 'no memories yet'}",
            f"anchor: {found['situation']}, last written {found['anchored_at'] or 'never'}",
            f"last whole verification: {found['verified_at'] or 'never'}",
            *(_waiting(found) if "jobs" in found else []),
        ]
    )


def _person(row: Answer) -> str:
    return f"{line(row['handle'])} (key {'sealed' if row['sealed'] else 'open'})"


def _waiting(found: Answer) -> list[str]:
    """What is due, what waits and what failed, a line each; then what was asked of models today."""
    rows = [f"due now: persona of {line(item['entity_id'])} in {line(item['namespace'])}" for item in found["due"]]
    rows += [f"{job['state']}: {_job(job)}" for job in found["jobs"]]
    asked = found["model_calls"]
    if asked["today"]:
        running = f", {asked['running']} under way" if asked["running"] else ""
        rows.append(f"model calls today: {asked['today']} of {asked['most']}, {asked['failed']} failed{running}")
    return rows


def _job(job: Answer) -> str:
    """What a job is about, how often it was begun, when it is tried next and why it failed."""
    about = f" of {line(job['entity_id'])}" if job.get("entity_id") else ""
    tried = f", {job['attempts']} attempts" if job["attempts"] else ""
    again = f", next {job['next_attempt_at'][:19]}" if job["next_attempt_at"] else ""
    why = f": {line(job['message'])} ({line(job['reason'])})" if job["message"] else ""
    return f"{job['kind']}{about} in {line(job['namespace'])}{tried}{again}{why}"


def ticked(found: Answer) -> str:
    """What was done, one job a line."""
    if found["held_by"]:
        pid = found["held_by"]["pid"]
        return (
            f"another process is at it{f' (pid {pid})' if pid else ''}; nothing done here,"
            " `ai-memory status` shows what is left"
        )
    rows = [_ran(job) for job in found["ran"]]
    if found["exported"]:
        rows.append(f"files written: {found['exported']}")
    if found["encoded"]:
        rows.append(f"encoded for recall: {found['encoded']} memories")
    rows = rows or ["nothing was due"]
    for job in found["waiting"]:
        about = f"{job['kind']} of {line(job['entity_id'])}" if job.get("entity_id") else job["kind"]
        rows.append(f"waits until {job['next_attempt_at'][:19]}: {about} in {line(job['namespace'])}")
    return "\n".join([*rows, *(["`ai-memory tick --now` does not wait"] if found["waiting"] else [])])


def _ran(job: Answer) -> str:
    outcome = {"not_needed": "no longer needed", "waiting": "failed, waits for its next attempt"}
    about = f" of {line(job['entity_id'])}" if job.get("entity_id") else ""
    version = f", version {job['version']}" if "version" in job else ""
    why = f": {line(job['message'])} ({line(job['reason'])})" if job.get("message") else ""
    said = outcome.get(job["outcome"], job["outcome"])
    return f"{job['kind']}{about} in {line(job['namespace'])}: {said}{version}{why}"


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


def keys(found: Answer) -> str:
    """The keys of the store, those of the past too."""
    rows = [fields({name: value for name, value in found.items() if name != "epochs"})]
    rows += [
        f"epoch {row['epoch']}: from event {row['from_sequence']}, {row['public_key'] or 'unsigned'}"
        for row in found["epochs"]
    ]
    return "\n".join(rows)


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
        f"{event['seq']:>7}  (not yours to see)  {event['leaf']}"
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
        f"{'ok  ' if item['ok'] else 'BAD '} {item['name']}: {line(item['found'])}"
        + (f"\n     mend: {line(item['mend'])}" if item["mend"] else "")
        for item in found["findings"]
    )


def rewritten(found: Answer) -> str:
    """How large the file was and is, and which files beside it could not be taken away."""
    lines = [f"rewritten: {found['bytes_before']:,} bytes before, {found['bytes_after']:,} after"]
    return "\n".join([*lines, *(f"file left: {line(left)}" for left in found["files_left"])])


def reindexed(found: Answer) -> str:
    """How many memories the index holds, and whose vectors they have."""
    held = f"indexed: {found['memories']:,} memories"
    if found["why_not"]:
        return f"{held}; no vectors: {line(found['why_not'])}"
    model = f"{line(found['model_id'])} ({found['dimension']} dimensions)"
    return f"{held}; vectors of {model}, {found['encoded']:,} made now"


def checkpoint(found: Answer) -> str:
    """The note, as it is to be kept."""
    return str(found["checkpoint"]).rstrip("\n")
