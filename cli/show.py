"""Word answers for a terminal: stored text is quoted, headed by its author, and cannot control the terminal.

One function an answer; all pure. Readable without colour. Source: docs/spec/model.md §5; DESIGN §8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from substrate.escape import line, terminal

Answer = Mapping[str, Any]


def memory(found: Answer) -> str:
    """A memory whole: who wrote it when, what it says, what it rests on."""
    lines = [heading(found)]
    if found.get("title"):
        lines.append(f"title: {line(found['title'])}")
    if found.get("name"):
        lines.append(f"name: {line(found['name'])}")
    if found.get("description"):
        lines.append(f"about: {line(found['description'])}")
    if found.get("tags"):
        lines.append(f"tags: {', '.join(map(line, found['tags']))}")
    if found.get("mentioned_entity_id"):
        lines.append(f"entity: {line(found['mentioned_entity_id'])}")
    for key in ("valid_from", "valid_until", "superseded_by"):
        if found.get(key):
            lines.append(f"{key.replace('_', ' ')}: {found[key]}")
    if found.get("derived_from"):
        lines.append(f"derived from: {', '.join(found['derived_from'])}")
    return "\n".join([*lines, quoted(found)])


def heading(found: Answer) -> str:
    """One line: kind, id, author, day, namespace, and the status where it is not active."""
    state = "" if found["status"] == "active" else f", {found['status']}"
    return (
        f"{found['memory_kind'].capitalize()} {found['id']}, {author(found['by'])}, {found['created_at'][:10]},"
        f" {line(found['namespace'])}{state}"
    )


def author(by: Answer) -> str:
    """Who wrote: handle, instance."""
    name = by.get("handle") or by.get("id") or "unknown"
    return line(f"{name}#{by['instance']}" if by.get("instance") else name)


def quoted(found: Answer) -> str:
    """The text behind marks of quotation; for a tombstone who forgot it and why."""
    if found.get("content") is None:
        gone = found.get("deleted") or {}
        why = f": {line(gone['reason'])}" if gone.get("reason") else ""
        return f"  (forgotten by {line(gone.get('by') or 'unknown')} on {(gone.get('at') or '')[:10]}{why})"
    return quote(found["content"])


def quote(text: str) -> str:
    """Put a mark before each line of a stored text."""
    return "\n".join(f"> {part}" for part in terminal(text).split("\n"))


def written(found: Answer) -> str:
    """The id of what was written, and what it says in one line."""
    return f"{found['id']}  {found['status']}  {clipped(found.get('content') or '')}"


def clipped(text: str, most: int = 80) -> str:
    """A text on one line, cut."""
    shown = line(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def summary(row: Answer) -> str:
    """Who wrote a memory, and its title or its first words."""
    return f"{author(row['by'])}: {clipped(row.get('title') or row.get('content') or '(forgotten)')}"


def listed(found: Answer) -> str:
    """A page of memories, one a line, and how many there are."""
    rows = [
        f"{row['id']}  {row['memory_kind']:<11}  {row['created_at'][:10]}  {summary(row)}"
        + ("" if row["status"] == "active" else f"  ({row['status']})")
        for row in found["items"]
    ]
    return "\n".join([*rows, f"{len(found['items'])} of {found['total']}"])


def hits(found: Answer) -> str:
    """Recalled memories, best first: score, arms, citation, text.

    A score counts from the mean of all that was looked through, so one that is not above it says nothing by itself.
    """
    blocks = []
    for hit in found["hits"]:
        arms = ", ".join(f"{name} {score:.2f}" for name, score in hit["arms"].items())
        found_by = f"score {hit['score']:.3f} ({arms})" if hit["score"] > 0 or not arms else f"found by {arms}"
        blocks.append(f"{heading(hit['memory'])}\n{found_by}\n{quoted(hit['memory'])}")
    if budget := found["tokens"]:
        blocks.append(_spent(budget))
    elif found["left_out"]:
        blocks.append(f"{found['left_out']} more left out; ask for them with --max and --chars")
    return "\n\n".join(blocks) or "nothing found"


def _spent(budget: Answer) -> str:
    """How a budget of tokens was spent, and what had no room in it."""
    spent = f"{budget['used']:,} of {budget['most']:,} tokens, counted by {line(budget['counted_by'])}"
    if not budget["left_out"]:
        return spent
    left = [f"  {row['tokens']:,} tokens: {line(row['citation'])}" for row in budget["left_out"]]
    return "\n".join([f"{spent}; left out, for want of {budget['wanting']:,} more:", *left])


def reflected(found: Answer) -> str:
    """A reflection as written."""
    about = f" about {line(found['entity_id'])}" if found["entity_id"] else ""
    due = "; a persona is due" if found["persona_due"] else ""
    return f"{found['id']}  reflection{about}, rests on {len(found['sources'])}, depth {found['reflection_depth']}{due}"


def forgotten(found: Answer) -> str:
    """What is gone, what is stale now, what says the same elsewhere."""
    lines = [f"forgotten: {', '.join(found['ids']) or found['id']}"]
    if found["personas"]:
        lines.append(f"persona versions forgotten: {', '.join(found['personas'])}")
    for again in found["regenerated"]:
        made = again["persona_id"] or f"not regenerated: {again['why_not']}"
        lines.append(f"persona of {line(again['entity_id'])} in {line(again['namespace'])}: {line(made)}")
    if found["stale"]:
        lines.append(f"rests on it still: {', '.join(found['stale'])}")
        lines.append(f"this takes it too: ai-memory forget {found['id']} --cascade")
    if found["repeated"]:
        lines.append(f"says the same and was not touched: {', '.join(found['repeated'])}")
    lines += [f"file left: {line(left)}" for left in found["files_left"]]
    return "\n".join(lines)


def persona(found: Answer) -> str:
    """The Markdown of a persona; where it is stale that stands on top."""
    shown = found["persona"]
    envelope = shown["envelope"]
    top = "> Stale: a reflection it cites is no longer active. Regenerate it.\n\n" if shown["stale"] else ""
    weakest = envelope.get("attest_weakest")
    model = shown["model"]
    by = f"the {model} curator" if model == "extractive" else line(model)
    foot = (
        f"\n<!-- version {shown['version']} of {shown['generated_at'][:10]}, by {by},"
        f" attestation {shown['attest_level']} (weakest {weakest}) -->"
    )
    return top + terminal(shown["body_md"].rstrip("\n")) + "\n" + foot


def written_by(found: Answer, seconds: float) -> str:
    """Who wrote a persona: a model and what it cost, or what is built in and why."""
    by, envelope = found["written_by"], found["persona"]["envelope"]
    if envelope["model"] == "extractive":
        return f"written by the built-in extractive curator: {line(by['why'])}"
    calls, tokens = envelope["calls"], envelope["input_tokens"] + envelope["output_tokens"]
    asked = "1 call" if calls == 1 else f"{calls} calls"
    return f"written by {line(envelope['model'])}: {asked}, {tokens:,} tokens, {seconds:.1f} s"


def claims(found: Answer) -> str:
    """The claims of a persona, each with its number in reading order, its id, and whether it is pinned."""
    rows = []
    for number, claim in enumerate(found["persona"]["claims"], start=1):
        pin = "  pinned" if claim["pinned"] else ""
        rows.append(f"{number:>3}  {claim['id']}{pin}  {line(claim['text'] or '')}")
    return "\n".join(rows)


def pinned(found: Answer) -> str:
    """A claim as pinned, or as let go."""
    return f"{found['claim_id']}  {'pinned' if found['pinned'] else 'not pinned'}  {clipped(found['text'] or '')}"


def history(found: Answer) -> str:
    """The versions of a persona, newest first."""
    rows = [
        f"{row['version']:>4}  {row['created_at'][:16]}  {row['status']:<10}  {row['id']}"
        f"  {row['words'] or 0} words from {row['sources_total'] or 0} reflections"
        for row in found["versions"]
    ]
    return "\n".join(rows) or "no version yet"


def difference(found: Answer) -> str:
    """What one version says and the other does not."""
    lines = [f"version {found['before']} -> {found['after']}: {found['kept']} claims kept"]
    lines += [f"+ {terminal(claim['text'])}" for claim in found["added"]]
    lines += [f"- {terminal(claim['text'])}" for claim in found["dropped"]]
    lines += [f"~ {terminal(pair['after']['text'])} (cites other reflections)" for pair in found["recited"]]
    return "\n".join(lines)


def why(found: Answer) -> str:
    """A claim and, below it, who said what it rests on."""
    lines = [f"[^{found['footnote']}] {terminal(claim)}" for claim in found["claims"]]
    depth: dict[str, int] = {}
    for row in found["chain"]:
        step = depth.get(row["id"], 0)
        for below in row["derived_from"]:
            depth.setdefault(below, step + 1)
        day = (row["valid_from"] or row["created_at"])[:10]
        state = "" if row["status"] == "active" else f", {row['status']}"
        pad = "  " * (step + 1)
        lines.append(f"{pad}{row['memory_kind']} {row['id']}, {author(row['by'])}, {day}{state}")
        lines.append("\n".join(f"{pad}{part}" for part in quote(row["content"] or "(forgotten)").split("\n")))
    if found["hidden"]:
        lines.append(f"{found['hidden']} more that you may not read")
    return "\n".join(lines)


def checked(found: Answer) -> str:
    """Whether a persona holds."""
    if found["ok"]:
        stale = "; it is stale: a reflection it cites is no longer active" if found["stale"] else ""
        return f"version {found['version']} holds: footnotes, claims, edges and event agree{stale}"
    return "\n".join([f"version {found['version']} does not hold:", *(f"  {line(fault)}" for fault in found["faults"])])


def link(found: Answer) -> str:
    """A link as written."""
    return f"{found['source_id']} -{found['relation']}-> {found['target_id']} ({found['attest_level']})"


def paths(found: Answer) -> str:
    """Paths, one a line."""
    rows = []
    for path in found["paths"]:
        text = path[0]["id"]
        for step in path[1:]:
            arrow = f"-{step['relation']}->" if step["direction"] == "out" else f"<-{step['relation']}-"
            text += f" {arrow} {step['id']}"
        rows.append(text)
    if found.get("left_out"):
        rows.append("there are more")
    return "\n".join(rows) or "no path"


def graph(found: Answer) -> str:
    """The memories around one and the links between them."""
    rows = [f"{row['id']}  {row['memory_kind']:<11}  {summary(row)}" for row in found["nodes"]]
    rows += [f"{row['source_id']} -{row['relation']}-> {row['target_id']}" for row in found["links"]]
    if found["left_out"]:
        rows.append("there are more; --depth and --relation ask for fewer")
    return "\n".join(rows)


def timeline(found: Answer) -> str:
    """Moments, one a line, oldest first."""
    return "\n".join(
        f"{moment['at'][:16]}  {moment['what']:<11}  {line(moment['id'])}"
        + (f"  {line(moment['other'])}" if moment.get("other") else "")
        + (f"  by {line(moment['by'])}" if moment.get("by") else "")
        + (f"  {clipped(moment['title'])}" if moment.get("title") else "")
        for moment in found["moments"]
    )


def impact(found: Answer) -> str:
    """What would fall."""
    lines = []
    for key, what in (("wordings", "itself"), ("memories", "rests on it"), ("personas", "persona version")):
        lines += [f"{what}: {row['id']}  {summary(row)}" for row in found[key]]
    for text, versions in Counter(claim["text"] or "" for claim in found["claims"]).items():
        lines.append(f"claim: {clipped(text, 100)}" + (f" (in {versions} versions)" if versions > 1 else ""))
    lines += [
        f"persona drawn anew: {line(place['entity_id'])} in {line(place['namespace'])}" for place in found["entities"]
    ]
    lines += [f"kept: {row['id']}" for row in found["kept"]]
    if found["barred"]:
        lines.append(f"you may not erase: {', '.join(found['barred'])}")
    return "\n".join(lines)


def entity(found: Answer) -> str:
    """What is known of an entity."""
    rows = [f"{line(found['display'])} ({line(found['entity_id'])}) in {line(found['namespace'])}"]
    rows.append("registered" if found["registered"] else "not registered")
    if found["names"]:
        rows.append(f"names: {', '.join(map(line, found['names']))}")
    rows.append(f"reflections: {found['reflections']}")
    rows.append(f"persona: {found['persona_id'] or 'none'}")
    return "\n".join(rows)


def entity_row(found: Answer) -> str:
    """An entity or alias as registered."""
    name = found.get("alias_folded")
    return (
        f"{line(name)} -> {line(found['entity_id'])}"
        if name
        else f"{line(found['entity_id'])}  {line(found['canonical_name'])}"
    )


def merged(found: Answer) -> str:
    """A merge as done."""
    gone = f"; retired {', '.join(found['retired'])}" if found["retired"] else ""
    return f"{line(found['entity_id'])} goes on as {line(found['survivor'])}{gone}"
