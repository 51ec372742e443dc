"""What the documentation says is so: its pages are current, its links lead somewhere, its commands run."""

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = ROOT / "docs" / "reference"
MARKDOWN = MarkdownIt("commonmark").enable("table")
RUN = ("ai-memory ", "python ", "cp ", "AI_MEMORY_")
"""How a line begins that is run; what installs, builds or sets up a shell is only shown."""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_generated_pages_are_those_the_code_would_write():
    pages = runpy.run_path(str(GENERATED / "generate.py"))["pages"]()
    stale = [name(path) for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text]
    assert stale == [], "run: make docs"


def test_every_page_in_the_reference_is_generated():
    pages = runpy.run_path(str(GENERATED / "generate.py"))["pages"]()
    assert set(GENERATED.glob("*.md")) <= pages.keys()


def test_the_readme_is_short():
    assert len(README.read_text("utf-8").splitlines()) <= 160


def links(text: str) -> list[str]:
    tokens = [child for token in MARKDOWN.parse(text) for child in token.children or ()]
    return [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]


def anchors(text: str) -> set[str]:
    """List the anchors that forges give to headings."""
    tokens = MARKDOWN.parse(text)
    titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in links(page.read_text("utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_internal_link_leads_somewhere(page: Path):
    assert broken_links(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path):
    (tmp_path / "b.md").write_text("# One: two\n")
    page = tmp_path / "a.md"
    page.write_text("[a](b.md) [b](b.md#one-two) [c](https://example.org) [d](c.md) [e](b.md#three)\n`[f](d.md)`\n")
    assert broken_links(page) == ["c.md", "b.md#three"]


class Command(NamedTuple):
    """Hold one line to run, the output shown for it, and the exit code it states (`console exit=4`), else 0."""

    line: str
    shown: list[str]
    code: int


def commands(text: str) -> Iterator[Command]:
    """Yield what the page's `console` blocks run after `$ `, and its `python` blocks as scripts, in order."""
    for token in MARKDOWN.parse(text):
        kind, _, option = token.info.partition(" ")
        if token.type == "fence" and kind == "python":
            yield Command(f"python - <<'PYTHON'\n{token.content}PYTHON", [], 0)
        if token.type != "fence" or kind != "console":
            continue
        for part in re.split(r"^\$ ", token.content, flags=re.MULTILINE)[1:]:
            line, _, shown = part.replace("\\\n", "").partition("\n")
            code = int(option.removeprefix("exit=")) if option else 0
            yield Command(line, [row.strip() for row in shown.splitlines() if row.strip()], code)


def misses(command: Command, output: str, code: int) -> list[str]:
    """List what did not come out as shown; `…` in a shown line stands for anything."""
    wrong = [] if code == command.code else [f"exit {code}, not {command.code}"]
    for row in command.shown:
        if not re.search(r"\s*".join(map(re.escape, row.split())).replace("…", ".*"), output):
            wrong.append(f"not shown: {row}")
    return [f"$ {command.line}", *wrong, output] if wrong else []


RUNNABLE = [
    page for page in PAGES if page.parent != GENERATED and page.exists() and any(commands(page.read_text("utf-8")))
]


@pytest.mark.parametrize("page", RUNNABLE, ids=name)
def test_the_commands_of_a_page_do_what_it_shows(page: Path, tmp_path: Path):
    scripts = {
        "ai-memory": "-c 'import sys; sys.argv[0] = \"ai-memory\"; from cli.app import main; main()'",
        "python": "",
    }
    for script, arguments in scripts.items():
        (tmp_path / script).write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
        (tmp_path / script).chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    settings = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "AI_MEMORY_HOME": str(folder / "home"),
    }
    for command in commands(page.read_text("utf-8")):
        if command.line.startswith(RUN):
            done = subprocess.run(
                ["bash", "-c", command.line],
                cwd=folder,
                env=os.environ | settings,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
                check=False,
            )
            assert misses(command, done.stdout, done.returncode) == []


def test_commands_and_their_output_are_read_from_a_page():
    page = "```console exit=4\n$ ai-memory get x\nno memory …\n$ make \\\n  demo\n```\n```python\nprint(1)\n```\n"
    assert list(commands(page)) == [
        Command("ai-memory get x", ["no memory …"], 4),
        Command("make   demo", [], 4),
        Command("python - <<'PYTHON'\nprint(1)\nPYTHON", [], 0),
    ]


def test_an_exit_code_or_a_line_that_differs_from_the_page_is_found():
    command = Command("ai-memory get x", ["no memory … here"], 4)
    assert misses(command, "error: no memory mem-1  here\n", 4) == []
    assert misses(command, "error: no memory mem-1  here\n", 0) != []
    assert misses(command, "no note here\n", 4) != []
