"""Write docs/benchmarks.md and its pictures from what was kept in `benchmarks/results/`: `python -m benchmarks.page`.

A test compares the page with what this writes, and each picture names the results that it was drawn from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import kept
from benchmarks.corpora import ADVERSARIAL

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
PICTURES = PAGE.parent / "pictures"
DRAWN = "drawn from "  # and the digest of the results, in a picture's description

HEAD = """\
# Benchmarks

What was measured, with the command that measures it again. This page is generated: `python -m benchmarks.page` writes
it and its pictures from `benchmarks/results/`, and a test fails when they differ.

## How to read it

- Each table says what was run, when, on which machine and of which version. Times of one machine say little about
  another; the ratios inside one run say more.
- p50 is the median, p95 the time that 95 of a hundred stay under. Times are in milliseconds, on the wall unless a
  column says that they are of the processor.
- A peer is driven as its own documentation shows, without a language model, over the same texts and with the same
  vectors, which are handed to it: what is compared is the store, not the model. Where a peer is faster, the table is
  followed by a line that says so.
- Our writes are signed, synced and bound into the log when they return, and our answers are held against it row by
  row. A peer that does less may well take less time; whether its writes outlive it stands beside it.
- Made-up memories show cost, not quality. Quality is measured on the two data sets named there, which settings were
  chosen on; other conversations may come out otherwise.
- On your own machine: `ai-memory bench`, with `--memories`, with a limit for an operation (`--limit recall=50`), and
  with `--json` for a script. It ends with exit code 1 when a limit is passed.
"""

WHY = """\
Why: a peer that compares vectors alone, or holds its index in memory until it is saved, has less to do for a question.
Ours asks five arms, then reads each hit and the links of the best from the store and holds them against the log. A
write of ours is a row, an event with its signature, the tree and the state over all rows in one transaction, synced,
and then an anchor in another file.
"""

Results = Mapping[str, Any]


def main() -> None:
    """Write the page and the pictures."""
    PAGE.write_text(text(), encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    for name, (stem, draw) in DRAWINGS.items():
        if (found := read(stem)) is not None:
            drawn(name, found, draw)


def text() -> str:
    """Return the page."""
    lines = [HEAD]
    for stem, section in SECTIONS.items():
        if (found := read(stem)) is not None:
            lines += section(found)
    return "\n".join(lines).rstrip() + "\n"


def read(stem: str) -> Results | None:
    """Return what was kept under a name; None where nothing was."""
    place = kept.FOLDER / f"{stem}.json"
    if not place.exists():
        return None
    found: Results = json.loads(place.read_text("utf-8"))
    return found


def digest(found: Results) -> str:
    """Return what names some results in a picture."""
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def ran(found: Results) -> str:
    """Return the line that says how something was measured."""
    seed = f", seed {found['seed']}" if "seed" in found else ""
    return f"`{found['command']}`, {found['date']}, version {found['version']}{seed}, {found['machine']}.\n"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield a table; all but the first column are figures."""
    yield f"| {' | '.join(head)} |"
    yield f"|---{'|---:' * (len(head) - 1)}|"
    yield from (f"| {' | '.join(map(str, row))} |" for row in rows)
    yield ""


def quality(found: Results) -> Iterator[str]:
    """Yield the share of the evidence that recall finds."""
    yield "## Finding the evidence\n"
    yield "The share of the turns or facts that answer a question which are among the first 5, 10 and 20 hits,"
    yield "without a language model. In brackets: 95 % of the means of as many questions drawn again lie there."
    yield "LoCoMo are ten long dialogues, half of which are used here, RealMem dialogues with ten people, half"
    yield "of them too.\n"
    yield ran(found)
    rows = []
    for name, system in found["systems"].items():
        shares = [f"{share:.3f}" for share in system["recall"]["all"]]
        low, high = system["interval"]
        apart = system["recall"].get(ADVERSARIAL)
        far = f"{apart[1]:.3f}" if apart else ""
        rows.append([name, *shares, f"{low:.3f} to {high:.3f}", far, system["questions"]])
    yield from table(["system", "R@5", "R@10", "R@20", "R@10 within", "R@10 adversarial", "questions"], rows)
    yield "![Recall at ten](pictures/quality.svg)\n"


def latency(found: Results) -> Iterator[str]:
    """Yield what a question costs from a thousand memories to a million."""
    yield "## The cost of a question\n"
    yield "In a process that is running, the encoding of the question apart: made-up memories of which the"
    yield "caller may read eight namespaces of ten. `after a write` takes in one more memory first. `nearest`"
    yield "is the share of the ten greatest cosines, by an exact scan in the same run, that recall compares;"
    yield "`same` the share of the first ten hits that come where every memory is ranked. Times are of the"
    yield "processor.\n"
    yield ran(found)
    rows = [
        [
            f"{size['rows']:,}",
            *(f"{size['warm'][name]:.1f}" for name in ("p50", "p95")),
            *(f"{size['after'][name]:.1f}" for name in ("p50", "p95")),
            f"{size['nearest']:.3f}",
            f"{size['same']:.3f}",
            f"{size['gib']:.2f}",
        ]
        for size in found["sizes"]
    ]
    head = ["memories", "p50", "p95", "after a write p50", "p95", "nearest", "same", "GiB"]
    yield from table(head, rows)
    yield from missed(found)
    yield "![The cost of a question](pictures/latency.svg)\n"


def operations(found: Results) -> Iterator[str]:
    """Yield what each operation takes as the number of memories grows."""
    yield "## Each operation\n"
    yield "Through the same actions that the command line and agents call, as `ai-memory bench` does; recall"
    yield "without vectors. p50 / p95.\n"
    yield ran(found)
    names = [row["operation"] for row in found["sizes"][0]["operations"]]
    rows = []
    for at, name in enumerate(names):
        told = [size["operations"][at] for size in found["sizes"]]
        rows.append([name, *(f"{row['p50_ms']:.1f} / {row['p95_ms']:.1f}" for row in told)])
    yield from table(["operation", *(f"{size['memories']:,} memories" for size in found["sizes"])], rows)
    yield "![Each operation](pictures/operations.svg)\n"


def peers(found: Results) -> Iterator[str]:
    """Yield the table of peers of one size."""
    yield f"## Beside others, {found['rows']:,} memories\n"
    yield "One corpus, one run, each in processes of its own. `recall` is one question answered, `store`"
    yield "one memory written on its own, `found` the share of questions whose memory is among the ten hits,"
    yield "`first` opening in another process and the first answer; `kept` says whether the last write was in"
    yield "it, `lasts` whether a write was there after its process was killed as soon as it had returned.\n"
    yield ran(found)
    rows, out = [], []
    for name, system in found["systems"].items():
        if "failed" in system:
            out.append(f"- {name} did not run: `{system['failed']}`")
            continue
        times = [f"{system[what]['p50']:.2f} / {system[what]['p95']:.2f}" for what in ("recall", "store")]
        rows.append(
            [
                system["version"],
                *times,
                f"{system['found']:.2f}",
                f"{1000 * system['first']:.0f}",
                f"{system['bytes'] / 2**20:.0f}",
                "yes" if system["kept"] else "no",
                "yes" if system["lasts"] else "no",
            ]
        )
    head = ["system", "recall p50 / p95", "store p50 / p95", "found", "first", "MiB on disk", "kept", "lasts"]
    yield from table(head, rows)
    yield from out
    yield from missed(found)
    if found["missed"]:
        yield WHY


def together(found: Results) -> Iterator[str]:
    """Yield what two processes at once see of each other."""
    yield "## Two processes at once\n"
    yield "Each writes, tells the other a word of what it wrote, and asks for every word it is told: the memory has"
    yield "to come in that one call. Then both keep the store open and do nothing.\n"
    yield ran(found)
    yield from table(["what", "figure"], [[name, figure] for name, figure in found["figures"].items()])
    yield from missed(found)


def missed(found: Results) -> Iterator[str]:
    """Yield what was wanted and not reached."""
    if found["missed"]:
        yield "Not reached:\n"
        yield from (f"- {text}" for text in found["missed"])
        yield ""


def draw_quality(found: Results, axes: Any) -> None:
    """Draw R@10 of each system."""
    systems = {name: system for name, system in found["systems"].items() if ", " not in name.partition(": ")[2]}
    values = [system["recall"]["all"][1] for system in systems.values()]
    low = [value - system["interval"][0] for value, system in zip(values, systems.values(), strict=True)]
    high = [system["interval"][1] - value for value, system in zip(values, systems.values(), strict=True)]
    axes.barh(list(systems), values, xerr=[low, high], color="#4a6fa5", ecolor="#333333")
    axes.invert_yaxis()
    axes.set_xlabel("R@10")
    axes.set_xlim(0, 1)


def draw_latency(found: Results, axes: Any) -> None:
    """Draw the 95th percentile by size."""
    sizes = [size["rows"] for size in found["sizes"]]
    for name, label in (("warm", "p95"), ("after", "p95 after a write")):
        axes.plot(sizes, [size[name]["p95"] for size in found["sizes"]], marker="o", label=label)
    _grown(axes, "ms of the processor")


def draw_operations(found: Results, axes: Any) -> None:
    """Draw the median of each operation by size."""
    sizes = [size["memories"] for size in found["sizes"]]
    for at, row in enumerate(found["sizes"][0]["operations"]):
        values = [size["operations"][at]["p50_ms"] for size in found["sizes"]]
        axes.plot(sizes, values, marker="o", label=row["operation"])
    _grown(axes, "ms, median")


def _grown(axes: Any, what: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("memories")
    axes.set_ylabel(what)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def drawn(name: str, found: Results, draw: Callable[[Results, Any], None]) -> None:
    """Draw some results; the same ones give the same bytes."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    settings = {"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 9}
    with matplotlib.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
        draw(found, axes)
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None, "Description": DRAWN + digest(found)})
        pyplot.close(figure)


SECTIONS: dict[str, Callable[[Results], Iterator[str]]] = {
    "quality": quality,
    "latency": latency,
    "operations": operations,
    "together": together,
    "peers-10000": peers,
    "peers-100000": peers,
}
DRAWINGS: dict[str, tuple[str, Callable[[Results, Any], None]]] = {
    "quality": ("quality", draw_quality),
    "latency": ("latency", draw_latency),
    "operations": ("operations", draw_operations),
}

if __name__ == "__main__":
    main()
