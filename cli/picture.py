"""Draw a neighbourhood: as a Mermaid diagram for a terminal, as an SVG file for a browser."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli import show
from substrate.errors import Unavailable
from substrate.escape import html, mermaid_label

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _CHARS = 210, 46, 30, 80, 30
_FILL = {"persona": "#f6d8ae", "reflection": "#cfe3f5", "observation": "#e4efdb"}


def mermaid(found: Mapping[str, Any]) -> str:
    """Give the diagram as Mermaid text."""
    names = {row["id"]: f"n{number}" for number, row in enumerate(found["nodes"])}
    lines = ["graph TD"]
    for row in found["nodes"]:
        label = mermaid_label(f"{show.author(row['by'])}: {_label(row)}")
        lines.append(f'  {names[row["id"]]}["{label}"]')
    for edge in found["links"]:
        lines.append(f"  {names[edge['source_id']]} -->|{edge['relation']}| {names[edge['target_id']]}")
    return "\n".join(lines)


def svg(found: Mapping[str, Any]) -> str:
    """Give the diagram as SVG: personas on top, reflections below them, observations at the bottom."""
    levels: dict[int, list[Mapping[str, Any]]] = {}
    for row in found["nodes"]:
        levels.setdefault(_level(row), []).append(row)
    ordered = [levels[level] for level in sorted(levels)]
    across = max((len(rows) for rows in ordered), default=1)
    width, height = across * (_WIDTH + _GAP_X) + _GAP_X, len(ordered) * (_HEIGHT + _GAP_Y) + _GAP_X
    places = {
        row["id"]: (
            _GAP_X + (at + (across - len(rows)) / 2) * (_WIDTH + _GAP_X),
            _GAP_X + depth * (_HEIGHT + _GAP_Y),
        )
        for depth, rows in enumerate(ordered)
        for at, row in enumerate(rows)
    }
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif"'
        ' font-size="11">',
        '<defs><marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L10 5L0 10z" fill="#777"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    parts += [_edge(edge, places) for edge in found["links"]]
    parts += [_node(row, *places[row["id"]]) for row in found["nodes"]]
    return "\n".join([*parts, "</svg>"]) + "\n"


def save(found: Mapping[str, Any], path: Path) -> None:
    """Write the SVG. Raises Unavailable when the file cannot be written."""
    try:
        path.write_text(svg(found), encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{path} could not be written: {error.strerror}", hint="choose another file") from error


def _level(row: Mapping[str, Any]) -> int:
    """Rank a memory from the top: personas, then deeper reflections before shallower ones, then observations."""
    if row["memory_kind"] == "persona":
        return -1_000
    return -int(row["reflection_depth"])


def _label(row: Mapping[str, Any]) -> str:
    return show.clipped(row.get("title") or row.get("content") or "(forgotten)", _CHARS)


def _head(row: Mapping[str, Any]) -> str:
    return show.clipped(f"{row['memory_kind']} by {show.author(row['by'])}", _CHARS)


def _node(row: Mapping[str, Any], x: float, y: float) -> str:
    fill = _FILL.get(row["memory_kind"], "#eee")
    return (
        f'<g><rect x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{fill}" stroke="#777"/>'
        f'<text x="{x + 8:.0f}" y="{y + 18:.0f}" font-weight="bold">{html(_head(row))}</text>'
        f'<text x="{x + 8:.0f}" y="{y + 35:.0f}">{html(_label(row))}</text></g>'
    )


def _edge(edge: Mapping[str, Any], places: Mapping[str, tuple[float, float]]) -> str:
    (x1, y1), (x2, y2) = places[edge["source_id"]], places[edge["target_id"]]
    down = y2 >= y1
    start, end = (y1 + _HEIGHT, y2) if down else (y1, y2 + _HEIGHT)
    dash = "" if edge["relation"] == "derived_from" else ' stroke-dasharray="5 3"'
    middle = _WIDTH / 2
    return (
        f'<line x1="{x1 + middle:.0f}" y1="{start:.0f}" x2="{x2 + middle:.0f}" y2="{end:.0f}" stroke="#777"{dash}'
        f' marker-end="url(#a)"><title>{html(edge["relation"])}</title></line>'
    )
