"""Names and values from data stay on their line: in messages, in what is printed, in what a notebook shows as text."""

from __future__ import annotations

import re
import subprocess
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import slateval

# One of everything that is obeyed somewhere.
EVERYTHING = (
    "a\n::stop-commands::x\r\t\x1b[2J\x9b2J\x07\x85::stop-commands::x\u2028\u2029\u202e\u2066\u200b\ufeff##[group]z"
)
# Commands where a table begins with them, or where a paragraph is broken before them.
COMMANDS = "::stop-commands::x ::stop-commands::x ::stop-commands::x ##[stop-commands]x"
NAMES = pytest.mark.parametrize("name", [EVERYTHING, COMMANDS], ids=["everything", "commands"])


def harmless(text: str) -> str:
    """The text, once nothing in it is obeyed."""
    for line in text.split("\n"):
        assert not line.lstrip().startswith("::"), line
        assert "##[" not in line or repr(COMMANDS) in line or repr(EVERYTHING) in line, line
        obeyed = [c for c in line if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
        assert not obeyed, line
    return text


def message(call: Callable[[], Any]) -> str:
    with pytest.raises(Exception, match="stop-commands") as caught:
        call()
    assert isinstance(caught.value, (slateval.Error, KeyError)), caught.value
    return harmless(str(caught.value))


def table(name: str, rows: int = 400) -> dict[str, Any]:
    random = np.random.default_rng(1)
    shown = random.integers(0, 2, (rows, 2))
    return {
        "reward": shown.sum(axis=1) + random.integers(0, 4, rows) / 4,
        "mu_1": np.full(rows, 0.5),
        "mu_2": np.full(rows, 0.5),
        "pi_1": np.where(shown[:, 0] == 1, 0.99, 0.01),
        "pi_2": np.where(shown[:, 1] == 1, 0.99, 0.01),
        name: np.array(["plain", name])[random.integers(0, 2, rows)],
    }


@NAMES
def test_results_show_names_on_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.parquet"
    pq.write_table(pa.table(table(name)), path)
    for data in (str(path), table(name)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ev = slateval.evaluate(data, target={name: "pi"}, by=name)
        assert caught, "a check warns, and names the target"
        texts = [str(warning.message) for warning in caught]
        texts += [str(ev), repr(ev), repr(ev[name]), repr(ev[name].mean), repr(ev.comparison(name)), ev.to_json()]
        texts += [repr(segment) for segment in ev.segments] + [repr(segment[name]) for segment in ev.segments]
        texts += [str(slateval.inspect(data, target={name: "pi"}, by=name))]
        texts += [repr(ev[name].checks), repr(ev.summary) if hasattr(ev, "summary") else ""]
        for text in texts:
            harmless(text)
        assert ev.to_dict()["segments"][0]["column"] == name


@NAMES
def test_messages_show_names_on_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.parquet"
    pq.write_table(pa.table(table(name)), path)
    message(lambda: slateval.evaluate(str(path), reward=f"{name}2"))
    message(lambda: slateval.evaluate(str(path), reward=name))
    message(lambda: slateval.evaluate(table(name), reward=f"{name}2"))
    message(lambda: slateval.evaluate({name: [1.0]}))
    message(lambda: slateval.evaluate(str(tmp_path / f"{name}2.parquet")))
    message(lambda: slateval.evaluate(str(path), structure=name))
    message(lambda: slateval.load(str(tmp_path / f"{name}.slateval")))
    message(lambda: slateval.evaluate(str(path), target={name: "pi"})["other"])
    bad = tmp_path / f"bad{name}.parquet"
    pq.write_table(pa.table({**table(name), "reward": np.full(400, np.nan)}), bad)
    lines = message(lambda: slateval.evaluate(str(bad))).split("\n")
    assert len(lines) == 23, "a heading, twenty rows, that reading stopped, and advice"


@NAMES
def test_propensities_show_names_on_one_line(name: str) -> None:
    shown = slateval.propensities([[0, 1]], logging=[0.5, 0.5], target={name: [0.2, 0.8]})
    harmless(repr(shown))
    message(lambda: slateval.propensities([[0, 1]], logging=[0.5, 0.5], target={name: [0.2, 0.9]}))


@NAMES
def test_the_command_shows_columns_of_parquet_on_one_line(name: str, tmp_path: Path, binary: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table(table(name)), path)
    for words in (["inspect", path], ["evaluate", path, "--by", name], ["evaluate", path, "--reward", f"{name}2"]):
        run = subprocess.run([binary, *words], capture_output=True, check=False)
        text = (run.stdout + run.stderr).decode()
        assert "stop-commands" in harmless(text)
        assert not re.search(r"##\[", text)
