"""Read the requirements manifest, and find the tests that prove its lines without running them."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent
MANIFEST = TESTS / "requirements.toml"


@dataclass(frozen=True)
class Requirement:
    """Hold one line: status is `proved`, `partial` or `deferred`; a reason stands with the last two."""

    id: str
    section: str
    sentence: str
    status: str = "proved"
    reason: str = ""


def load(path: Path = MANIFEST) -> dict[str, Requirement]:
    """Read the manifest in its order; raise ValueError for a second sentence or state, or a state of no line."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    sentences: dict[str, tuple[str, str]] = {}
    for section in document["section"]:
        for id, sentence in section.items():
            if id == "name":
                continue
            if id in sentences:
                raise ValueError(f"{id} has two sentences")
            sentences[id] = (section["name"], sentence)
    states = {id: ("partial", reason) for id, reason in document.get("partial", {}).items()}
    for group in document.get("deferred", ()):
        for id in group["ids"]:
            if id in states:
                raise ValueError(f"{id} has two states")
            states[id] = ("deferred", group["reason"])
    if unknown := states.keys() - sentences.keys():
        raise ValueError(f"states for lines that do not exist: {sorted(unknown)}")
    return {id: Requirement(id, *words, *states.get(id, ("proved", ""))) for id, words in sentences.items()}


def claims(tests: Path = TESTS) -> dict[str, list[str]]:
    """Map each id named by `pytest.mark.requirement` to the tests that carry it, as `file::test`.

    Works on the source, so `-k` and `-n` do not matter. Raise ValueError for a mark that pytest would not run: one
    with anything but literal ids, or one on something that is no test.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        marks = [node for node in ast.walk(tree) if _is_mark(node)]
        carried = list(_carriers(tree, path.relative_to(tests).as_posix()))
        if len(marks) != len(carried):
            raise ValueError(f"{path}: a requirement mark stands on something that is no test")
        for test, mark in carried:
            for argument in mark.args:
                if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                    raise ValueError(f"{path}:{mark.lineno}: requirement ids must be literals")
                found.setdefault(argument.value, []).append(test)
    return found


def _is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement"


def _carriers(tree: ast.Module, file: str) -> Iterator[tuple[str, ast.Call]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield from ((file, mark) for mark in ast.walk(node.value) if _is_mark(mark))  # type: ignore[misc]
        bodies = node.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test") else []
        for definition in [node, *bodies]:
            if isinstance(definition, ast.FunctionDef | ast.ClassDef) and definition.name.lower().startswith("test"):
                for decorator in definition.decorator_list:
                    marks = [mark for mark in ast.walk(decorator) if _is_mark(mark)]
                    yield from ((f"{file}::{definition.name}", mark) for mark in marks)  # type: ignore[misc]
