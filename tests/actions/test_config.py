"""The settings of a home are read whole or refused, and written at once."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate import config
from substrate.config import Config
from substrate.errors import Invalid, Unavailable


def test_a_home_without_settings_has_the_defaults(tmp_path: Path):
    assert config.read(tmp_path) == Config(principal=None, engine={})
    assert config.read(tmp_path / "nothing") == Config()


WORDS = st.text("abz_09", min_size=1, max_size=20)


@given(principal=st.none() | WORDS, engine=st.dictionaries(st.sampled_from(sorted(config.ENGINE)), WORDS))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, principal: str | None, engine: dict[str, str]
):
    home = tmp_path_factory.mktemp("home")
    config.write(home, Config(principal, engine))
    assert config.read(home) == Config(principal, engine)
    assert [path.name for path in home.iterdir()] == ["config.toml"]
    assert (home / "config.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b"principal = 3", "principal"),
        (b"principal = 'a'\ncolour = 'red'\nsize = 3", "colour, size"),
        (b"engine = 3", "engine"),
        (b"[engine]\nthreads = 2", "engine"),
        (b"[engine]\ndefault_order = 'desc'\nlock_configuration = 'false'", "engine.default_order, engine.lock"),
        (b"principal = [", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"principal = 'a'\nprincipal = 'b'", "cannot be read"),
        (b"x" * 100_000, "cannot be read"),
    ],
)
def test_settings_that_are_wrong_are_refused_as_a_whole(tmp_path: Path, text: bytes, named: str):
    (tmp_path / "config.toml").write_bytes(text)
    with pytest.raises(Invalid, match=named) as caught:
        config.read(tmp_path)
    assert caught.value.hint


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_settings_that_others_may_write_are_refused(tmp_path: Path, mode: int):
    config.write(tmp_path, Config("hum-x"))
    (tmp_path / "config.toml").chmod(mode)
    with pytest.raises(Invalid, match="can be written by others"):
        config.read(tmp_path)


def test_settings_that_cannot_be_read_or_written_are_unavailable(tmp_path: Path):
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(Unavailable, match="cannot be read"):
        config.read(tmp_path)
    with pytest.raises(Unavailable, match="could not be written"):
        config.write(tmp_path / "nothing", Config())


def test_a_link_in_the_place_of_the_draft_is_not_followed(tmp_path: Path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    os.symlink(victim, tmp_path / ".config.toml.new")
    with pytest.raises(Unavailable):
        config.write(tmp_path, Config("hum-x"))
    assert victim.read_text() == "mine"
