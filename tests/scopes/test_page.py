"""The page about scopes names every policy field, path shape and default as the code has them."""

from pathlib import Path

from substrate.scopes import paths
from substrate.scopes.policies import FIELDS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "concepts" / "scopes.md").read_text("utf-8")


def test_every_policy_field_stands_on_the_page_with_its_default():
    for field in FIELDS:
        row = next(line for line in PAGE.splitlines() if f"`{field.name}`" in line and "|" in line)
        if isinstance(field.default, str):
            assert any(f"`{field.default}` |" in line for line in PAGE.splitlines() if f"`{field.name}`" in line), row
        elif isinstance(field.default, bool):
            assert row.endswith("| false |")


def test_every_shape_of_a_path_stands_on_the_page():
    assert all(f"`{shape}`" in PAGE for shapes in paths.SHAPES.values() for shape in shapes.split(" or "))
