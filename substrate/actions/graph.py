"""Actions on links, entities and what lies around a memory.

Source: docs/spec/model.md §5; docs/spec/requirements.md S3-11.
"""

from __future__ import annotations

from dataclasses import asdict

from substrate.actions.registry import Json, action
from substrate.home import Memory
from substrate.memory import entities, forgetting, graph, links
from substrate.memory.timelines import timeline as moments
from substrate.memory.wire import wire, wire_link


@action("link", writes=True)
def link(
    memory: Memory,
    *,
    source: str,
    target: str,
    relation: str,
    valid_from: str | None = None,
    valid_until: str | None = None,
    attest: bool = False,
) -> Json:
    """Tie one memory to another by a relation; with ``attest`` the caller's own key vouches for it."""
    with memory.write(attest=attest) as tx:
        row = links.link(tx, memory.caller, source, target, relation, valid_from=valid_from, valid_until=valid_until)
    return wire_link(row)


@action("graph", writes=False)
def neighbourhood(
    memory: Memory, *, id: str, relation: str | None = None, reverse: bool = False, depth: int | None = None
) -> Json:
    """Show the memories around one, and the links between them."""
    with memory.read() as r:
        found = graph.neighbourhood(r, memory.caller, id, relation=relation, reverse=reverse, depth=depth)
    return {
        "nodes": [wire(row) for row in found.rows],
        "links": [wire_link(row) for row in found.links],
        "left_out": found.left_out,
    }


@action("paths", writes=False)
def paths(memory: Memory, *, source: str, target: str, depth: int | None = None) -> Json:
    """Show every path from one memory to another, shortest first."""
    with memory.read() as r:
        return graph.paths(r, memory.caller, source, target, depth=depth).wire()


@action("timeline", writes=False)
def timeline(memory: Memory, *, id: str, namespace: str | None = None) -> Json:
    """Show what happened to a memory or an entity, in order."""
    with memory.read() as r:
        return {"moments": [moment.wire() for moment in moments(r, memory.caller, id, namespace=namespace)]}


@action("impact", writes=False)
def impact(memory: Memory, *, id: str, namespace: str | None = None, keep_supported: bool = False) -> Json:
    """Show what ``forget --cascade`` would take with a memory, without doing it."""
    with memory.read() as r:
        found = forgetting.impact(r, memory.caller, id, namespace=namespace, keep_supported=keep_supported)
    return {
        "wordings": [wire(row) for row in found.wordings],
        "memories": [wire(row) for row in found.memories],
        "personas": [wire(row) for row in found.personas],
        "claims": [{"persona_id": c.persona_id, "text": c.text, "sources": list(c.sources)} for c in found.claims],
        "entities": [{"entity_id": entity, "namespace": place} for entity, place in found.entities],
        "kept": [wire(row) for row in found.kept],
        "barred": list(found.barred),
    }


@action("entity_add", writes=True)
def entity_add(
    memory: Memory, *, entity: str, namespace: str = "global", name: str | None = None, kind: str | None = None
) -> Json:
    """Register an entity, or change the name it is shown by."""
    with memory.write() as tx:
        return asdict(entities.add(tx, memory.caller, entity, namespace=namespace, name=name, kind=kind))


@action("entity_alias", writes=True)
def entity_alias(memory: Memory, *, alias: str, entity: str, namespace: str = "global") -> Json:
    """Let another name stand for an entity."""
    with memory.write() as tx:
        return asdict(entities.alias(tx, memory.caller, alias, entity, namespace=namespace))


@action("entity_merge", writes=True)
def entity_merge(memory: Memory, *, gone: str, survivor: str, namespace: str = "global") -> Json:
    """Let one entity go on as another; the persona of the one that goes is retired."""
    with memory.write() as tx:
        found = entities.merge(tx, memory.caller, gone, survivor, namespace=namespace)
    return {
        "entity_id": found.entity_id,
        "survivor": found.survivor,
        "retired": list(found.retired),
        "due": [list(place) for place in found.due],
    }


@action("entity_show", writes=False)
def entity_show(memory: Memory, *, entity: str, namespace: str = "global") -> Json:
    """Show what is known of an entity: its names, its reflections, its persona."""
    with memory.read() as r:
        found = entities.show(r, memory.caller, entity, namespace=namespace)
    return asdict(found) | {"names": list(found.names)}
