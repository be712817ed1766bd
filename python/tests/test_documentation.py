"""The documentation: the README's Python runs, its output is the real one; commands, flags, links and files exist."""

from __future__ import annotations

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OTHER_PROGRAMS = {
    "--all-targets",
    "--example",
    "--examples",
    "--features",
    "--locked",
    "--no-deps",
    "--path",
    "--prefix",
}
OTHER_PROGRAMS |= {"--release", "--tool", "--workspace"}
"""Flags of cargo, npm, pip and valgrind."""
OTHER_PROGRAMS |= {"--build", "--growth", "--huge", "--kind", "--only", "--write"}
"""Flags of benches/compare.py."""
NO_COMMAND = {"--verbose", "--version"}
"""Flags of `slateval` itself."""


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return [code for found, code in FENCE.findall(text(page)) if found == language]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("code", blocks(README, "python"))
def test_python_of_the_readme_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The README names files as one does at the root of the repository.
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})


def test_the_readme_has_python_and_rust() -> None:
    assert len(blocks(README, "python")) == 1
    assert len(blocks(README, "rust")) == 1, "crates/slateval/src/lib.rs runs it as a doctest"
    # rustdoc takes a block without a language for Rust, and would run it.
    assert not blocks(README, "")


def test_the_readme_shows_what_the_command_prints(binary: Path) -> None:
    [line] = [line for line in blocks(README, "sh")[1].splitlines() if line.startswith("cargo run")]
    _, _, arguments = line.partition(" -- ")
    done = subprocess.run([str(binary), *shlex.split(arguments)], cwd=ROOT, capture_output=True, check=True)
    printed = iter(done.stdout.decode("utf-8").splitlines())
    # In this order; an ellipsis stands for any lines.
    skipping = False
    for wanted in blocks(README, "text")[0].splitlines():
        if wanted == "…":
            skipping = True
        elif skipping:
            assert wanted in printed, f"not printed, or not in this place: {wanted}"
            skipping = False
        else:
            assert next(printed) == wanted


@cache
def flags(binary: Path, command: str) -> set[str]:
    """What a subcommand takes; for `simulate`, what any of its worlds takes."""
    worlds = ["additive", "pairwise", "ratings", "cascade"] if command == "simulate" else [None]
    found = set()
    for world in worlds:
        words = [str(binary), command, *filter(None, [world]), "--help"]
        found |= set(FLAG.findall(subprocess.run(words, capture_output=True, check=True).stdout.decode("utf-8")))
    return found


COMMANDS = ["evaluate", "inspect", "merge", "show", "update", "log", "gate", "simulate", "reproduce"]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_of_the_documentation_take_their_flags(page: Path, binary: Path) -> None:
    for line in "".join(blocks(page, "sh")).splitlines():
        found = re.search(r"\bslateval (\w+)|cargo run --release -- (\w+)", line.partition("#")[0])
        if not found:
            continue
        command = found[1] or found[2]
        assert command in COMMANDS, line
        unknown = set(FLAG.findall(line[found.end() :].partition("#")[0])) - flags(binary, command)
        assert not unknown, line


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_flags_named_in_the_documentation_exist(page: Path, binary: Path) -> None:
    known = set().union(*(flags(binary, command) for command in COMMANDS)) | OTHER_PROGRAMS | NO_COMMAND
    assert set(FLAG.findall(text(page))) <= known


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_of_the_documentation_lead_somewhere(page: Path) -> None:
    for link in (a or b for a, b in LINK.findall(text(page))):
        path, _, place = link.partition("#")
        if ":" in path:
            continue
        file = page.parent / path if path else page
        assert file.exists(), link
        if place:
            assert place in headings(file), link


def headings(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", text(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_examples_named_in_the_documentation_exist(page: Path) -> None:
    for crate, example in re.findall(r"-p (\S+) --example (\w+)", text(page)):
        folder = ROOT / "crates" / crate / "examples"
        assert (folder / f"{example}.rs").exists() or (folder / example / "main.rs").exists()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_named_in_the_documentation_exist(page: Path) -> None:
    named = set(re.findall(r"`((?:crates|python|docs|examples|benches|tests)/[\w./-]+)`", text(page)))
    # The tests install these.
    made = {"tests/browser/node_modules"}
    assert [path for path in sorted(named - made) if not (ROOT / path).exists()] == []


ARCHITECTURE = ROOT / "docs" / "architecture.md"
STEP = re.compile(r"^Paths are in (?:`([^`]+)`|the repository)\.$|^\|[^|]+\| `([^`]+)` \|([^|]+)\|$", re.MULTILINE)


def steps() -> list[tuple[Path, str]]:
    """Each file of the table of readers, with a name that is to be found in it."""
    found, base = [], ROOT
    for line in STEP.finditer(text(ARCHITECTURE)):
        if line[2] is None:
            base = ROOT / (line[1] or "")
        elif "/" in line[2]:
            found += [(base / line[2], wanted.rpartition("::")[2]) for wanted in re.findall(r"`([^`]+)`", line[3])]
    return found


def defined(wanted: str, source: str) -> bool:
    return re.search(rf"\b(?:fn|struct|enum|trait|def|class) {wanted}\b", source) is not None


@pytest.mark.parametrize(("file", "wanted"), [step for step in steps() if step[0].suffix in {".rs", ".py"}])
def test_the_table_of_readers_names_what_there_is(file: Path, wanted: str) -> None:
    assert defined(wanted, text(file))


def test_the_architecture_names_files_and_tests_that_exist() -> None:
    folders = [*(ROOT / "crates").glob("*/*"), ROOT / "python", ROOT / "docs"]
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in {".rs", ".py", ".md"}]
    named = set(re.findall(r"`([^`\s]+)`", text(ARCHITECTURE)))
    paths = {word for word in named if word.endswith((".rs", ".py", ".md"))}
    assert len(steps()) > 10 and len(paths) > 60, "the tables are where this test looks for them"
    assert [path for path in paths if not any(file.as_posix().endswith("/" + path) for file in files)] == []
    sources = "\n".join(text(file) for file in files)
    tests = {word for word in named if re.fullmatch(r"[a-z]+(_[a-z0-9]+){2,}", word)}
    assert len(tests) > 20
    assert [test for test in sorted(tests) if not defined(test, sources)] == []
