"""The settings of a home are read whole or refused, and written at once."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate import config
from substrate.config import Config, Models
from substrate.errors import Invalid, Unavailable
from substrate.home import Memory


def test_a_home_without_settings_has_the_defaults(tmp_path: Path):
    assert config.read(tmp_path) == Config(principal=None, engine={})
    assert config.read(tmp_path / "nothing") == Config()


WORDS = st.text("abz_09", min_size=1, max_size=20)


NAMES = st.none() | st.text("abz019:._-/\"\\\\'#", min_size=1, max_size=20)
CHOICES = st.sampled_from(["cheap", "off", "extractive", "ollama/llama3.2:3b", 'openai/a"b\\c/d'])
MODELS = st.builds(
    Models,
    persona=CHOICES,
    reflect=CHOICES,
    ollama_url=st.sampled_from([Models.ollama_url, "https://box:4000/ollama"]),
    ollama_model=NAMES,
    openai_url=st.sampled_from([Models.openai_url, "http://[::1]:8080/v1"]),
    openai_model=NAMES,
    openai_key_file=st.sampled_from([None, "/run/openai key", "~/k\u00e9y \U0001f511"]),
    timeout_s=st.floats(0.1, 3_600) | st.integers(1, 3_600),
    calls_per_day=st.integers(0, 10**9),
    context_tokens=st.integers(512, 10**8),
    input_price=st.integers(0, 10**9),
)


@given(
    principal=st.none() | WORDS,
    engine=st.dictionaries(st.sampled_from(sorted(config.ENGINE)), WORDS),
    tier=st.sampled_from(config.TIERS),
    models=MODELS,
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    principal: str | None,
    engine: dict[str, str],
    tier: str,
    models: Models,
):
    home = tmp_path_factory.mktemp("home")
    config.write(home, Config(principal, engine, tier, models))
    assert config.read(home) == Config(principal, engine, tier, models)
    assert [path.name for path in home.iterdir()] == ["config.toml"]
    assert (home / "config.toml").stat().st_mode & 0o777 == 0o600


def test_a_key_is_never_written_nor_shown(tmp_path: Path):
    kept = Config("hum-x", models=Models(openai_model="gpt", openai_key="sk-ours"))
    config.write(tmp_path, kept)
    assert "sk-ours" not in (tmp_path / "config.toml").read_text() + repr(kept)
    assert config.read(tmp_path).models == Models(openai_model="gpt")


def test_every_fault_among_the_models_is_named_with_what_belongs_there(tmp_path: Path):
    (tmp_path / "config.toml").write_text(
        "tier = 'genius'\nmodel = 'x'\n[models]\npersona = 'gpt'\nreflect = 3\nopenai_key = 'sk-ours'\ncolour = 1\n"
        "ollama_url = 'http://me:pw@host'\nopenai_url = 'ftp://host'\nollama_model = 'a b'\nopenai_key_file = 'key'\n"
        "timeout_s = inf\ncalls_per_day = -1\ncontext_tokens = true\ninput_price = 1.5\n"
    )
    with pytest.raises(Invalid) as caught:
        config.read(tmp_path)
    names = (
        "calls_per_day colour context_tokens input_price ollama_model ollama_url openai_key openai_key_file openai_url"
    )
    named = [f"models.{name}" for name in f"{names} persona reflect timeout_s".split()]
    assert caught.value.message.endswith(": " + ", ".join(["model", *named, "tier"]))
    assert "sk-ours" not in str(caught.value.as_json())
    for told in ("openai_key_file", "http or https", "keyword, semantic, smart, autonomous", "ollama/<model>"):
        assert told in caught.value.hint


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b"principal = 3", "principal"),
        (b"principal = 'a'\ncolour = 'red'\nsize = 3", "colour, size"),
        (b"engine = 3", "engine"),
        (b"models = 3", "models"),
        (b"tier = ['smart']", "tier"),
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


def test_a_home_that_is_made_keeps_what_its_file_says_already(tmp_path: Path):
    written = Config(tier="autonomous", models=Models(persona="off"))
    (tmp_path / "home").mkdir(mode=0o700)
    config.write(tmp_path / "home", written)
    Memory.open(tmp_path / "home", state_dir=tmp_path / "state", engine={"threads": "1"}).close()
    found = config.read(tmp_path / "home")
    assert (found.tier, found.models, found.engine) == (written.tier, written.models, {"threads": "1"})
    assert found.principal
