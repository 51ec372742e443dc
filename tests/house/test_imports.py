"""What answers at once loads nothing heavy."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"torch", "transformers", "sentence_transformers", "networkx", "numpy", "scipy", "sklearn", "ollama"}


def loaded(module: str) -> set[str]:
    """Answer the top-level modules that a fresh process holds after importing one."""
    script = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["cli.app", "curator.persona.reading", "substrate.store.db"])
def test_a_read_loads_no_heavy_library(module: str):
    assert loaded(module) & HEAVY == set()


def test_a_heavy_library_would_be_noticed():
    assert "networkx" in loaded("networkx")


def test_the_log_can_be_verified_without_a_database():
    assert "duckdb" not in loaded("audit.verify")
