"""One small story from beginning to end, held against what it looked like when somebody last read it."""

import json
import os
from pathlib import Path
from typing import Any

from substrate.memory import entities, forgetting, graph, memories
from substrate.memory.timelines import timeline
from substrate.memory.wire import wire, wire_link
from tests.memory.house import House

GOLDEN = Path(__file__).parent / "golden" / "story.json"


def story(house: House) -> dict[str, Any]:
    """Ann moves from Lyon to Ghent, says so twice, and takes back where her key is."""
    lyon = house.remember("I live in Lyon.", name="home", tags=("home",), valid_from="2025-01-01")
    ghent = house.remember("I moved to Ghent.", name="home", tags=("home",), valid_from="2026-05-10")
    key = house.remember("My spare key lies under the blue pot.", house.scout, title="Spare key")
    house.write(entities.add, house.ann, "ann", name="Ann", kind="person")
    house.write(entities.alias, house.ann, "annie", "ann")
    moved = house.reflect("Ann lives in Ghent now.", ghent, entity_id="Annie", valid_from="2026-05-10")
    careful = house.reflect("Ann hides a key at home.", key, ghent, title="On [entity:Ann]", caller=house.scout)
    persona = house.persona("ann", [moved.row, careful.row], text="Ann lives in Ghent and hides a key.")
    house.link(moved.row, lyon, "contradicts")
    near = house.read(graph.neighbourhood, house.ann, persona.id)
    told: dict[str, Any] = {
        "reflected": [moved.wire(False), careful.wire(True)],
        "graph": {"nodes": [row.id for row in near.rows], "links": [wire_link(link) for link in near.links]},
        "paths": house.read(graph.paths, house.ann, persona.id, key.id).wire(),
        "timeline": [moment.wire() for moment in house.read(timeline, house.ann, "ANN")],
    }
    told["forgotten"] = house.forget(key, why="She moved it.", cascade=True).wire()
    rows, total = house.read(memories.list_, house.ann, include_closed=True)
    links = house.read(memories.sources_of, [row.id for row in rows])
    told["memories"] = {"items": [wire(row, links[row.id]) for row in rows], "total": total}
    told["impact"] = [row.id for row in house.read(forgetting.impact, house.ann, ghent.id).memories]
    told["events"] = [
        {"type": event.type, "subject": event.subject, "payload": event.payload}
        for event in house.events()
        if event.seq > 8
    ]
    return told


def test_the_story_is_told_as_it_was(house: House):
    """Set REWRITE_GOLDEN=1 to write the file again, then read the difference."""
    with house.db.read() as r:
        key = r.key_id or ""
    told = json.dumps(story(house), indent=1, sort_keys=True, ensure_ascii=False).replace(key, "key") + "\n"
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(told, encoding="utf-8")
    assert told == GOLDEN.read_text(encoding="utf-8")
