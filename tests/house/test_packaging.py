"""What is installed is what is imported, and what CI runs is what a developer runs."""

import os
import re
import sys
import tomllib
from pathlib import Path

from tests.house.architecture import PACKAGES, imports, product

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAMES = {"nacl": "pynacl", "yaml": "pyyaml"}
"""Libraries whose import has another name than their package."""
CARRIED = {"torch"}
"""Libraries that come with a declared one, which knows the version it needs."""


def declared() -> set[str]:
    listed = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["semantic"]
    return {re.split(r"[<>=\[ ]", line)[0].lower().replace("_", "-") for line in listed}


def test_every_library_that_is_imported_is_declared():
    known = sys.stdlib_module_names | set(PACKAGES) | CARRIED
    used = {name[0] for source in product(ROOT) for name in imports(source)} - known
    assert {NAMES.get(name, name).replace("_", "-") for name in used} - declared() == set()


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
