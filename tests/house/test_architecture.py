"""The house keeps its rules, and each rule is shown to find what breaks it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house import architecture
from tests.house.architecture import RULES

ROOT = Path(__file__).resolve().parents[2]
Rule = Callable[[Path], list[str]]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_the_rule(rule: Rule):
    assert rule(ROOT) == []


def lines(count: int, indent: str = "") -> str:
    return "\n".join(f"{indent}x = {number}" for number in range(count)) + "\n"


CATCH_ALL = "try:\n    pass\nexcept Exception:\n    pass\n"
BROKEN = [
    ("packages_import_downwards", "audit/log.py", "from substrate.store import db\n"),
    ("packages_import_downwards", "substrate/actions.py", "def f():\n    import curator.persona\n"),
    ("packages_import_downwards", "cli/app.py", "from tests.clock import Clock\n"),
    ("substrate_imports_lower_floors", "substrate/memory/links.py", "from substrate.recall import lexical\n"),
    ("substrate_imports_lower_floors", "substrate/recall/recall.py", "from substrate.texts import rules\n"),
    ("substrate_imports_lower_floors", "substrate/store/db.py", "from ..scopes.access import check\n"),
    ("substrate_imports_lower_floors", "substrate/limits.py", "from substrate.store import model\n"),
    ("substrate_imports_lower_floors", "substrate/scopes/access.py", "from substrate import Memory\n"),
    ("substrate_imports_lower_floors", "substrate/tools/x.py", ""),
    ("audit_needs_no_other_package", "audit/keys.py", "import yaml\n"),
    ("libraries_have_one_home", "substrate/store/ledger.py", "import duckdb\n"),
    ("libraries_have_one_home", "curator/plan.py", "def f():\n    from ollama import Client\n"),
    ("only_cli_reads_the_environment", "substrate/limits.py", "import os\nHOME = os.environ['HOME']\n"),
    ("only_cli_reads_the_environment", "curator/llm/ollama.py", "from os import getenv\n"),
    ("files_are_short", "tests/clock.py", lines(401)),
    ("files_are_short", "audit/log.py", lines(151)),
    ("functions_are_short", "audit/log.py", "def f(): ...\n" * 99 + "def g():\n" + lines(80, "    ")),
    ("functions_are_short", "audit/log.py", "def f():\n" + lines(55, "    ")),
    ("only_boundaries_catch_everything", "audit/log.py", CATCH_ALL),
    (
        "only_boundaries_catch_everything",
        "audit/log.py",
        "try:\n    pass\nexcept (OSError, BaseException):\n    raise Invalid\n",
    ),
    ("only_boundaries_catch_everything", "cli/app.py", CATCH_ALL * 2),
    ("classes_are_nouns_of_the_domain", "audit/log.py", "class LogManager: ...\n"),
    ("nothing_is_async", "cli/app.py", "async def f(): ...\n"),
    ("tests_use_the_real_thing", "tests/test_a.py", "def test_f():\n    m = mock.Mock()\n    assert m\n"),
    ("tests_assert_something", "tests/test_a.py", "def test_f():\n    print(1)\n"),
    ("tests_do_not_sleep", "tests/test_a.py", "def test_f():\n    time.sleep(1)\n    assert True\n"),
    ("tests_read_no_clock", "tests/test_a.py", "def test_f():\n    assert time.time() < 2\n"),
    ("tests_read_no_clock", "tests/servers/a.py", "from time import process_time\nBEGUN = process_time()\n"),
    ("texts_speak_of_the_product", "docs/a.md", "See /" + "work/main for the rest.\n"),
    ("texts_speak_of_the_product", ".ci/run", "ls ~/." + "library\n"),
]


@pytest.mark.parametrize(("rule", "path", "source"), BROKEN, ids=[rule for rule, _, _ in BROKEN])
def test_a_rule_finds_what_breaks_it(rule: str, path: str, source: str, tmp_path: Path):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(source)
    assert len(getattr(architecture, rule)(tmp_path)) == 1


def test_every_rule_has_a_broken_sample():
    assert {rule for rule, _, _ in BROKEN} == {rule.__name__ for rule in RULES}


def test_a_sound_tree_breaks_no_rule(tmp_path: Path):
    for path, source in {
        "audit/log.py": "import hashlib\nfrom audit.errors import Invalid\nfrom . import keys\n",
        "substrate/limits.py": "from substrate.errors import Invalid\n",
        "substrate/store/db.py": "import duckdb\nfrom substrate import limits\n",
        "substrate/actions.py": "from substrate.recall.recall import recall\n",
        "cli/app.py": "import os\nfrom substrate import Memory\nHOME = os.environ\n" + CATCH_ALL,
        "curator/draft.py": "try:\n    pass\nexcept BaseException:\n    print('cleaned')\n    raise\n",
        "tests/test_a.py": "def test_f():\n    with pytest.raises(Invalid):\n        f()\n",
        "tests/test_b.py": "def holds():\n    assert f()\ndef test_f():\n    holds()\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(source)
    assert [fault for rule in RULES for fault in rule(tmp_path)] == []
