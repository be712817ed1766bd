"""Files of a directory that are no logs, and columns of which one of two is read."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import slateval
from conftest import Log

STRANGE = {"b.csv.bz2": b"BZh91AY&SY", "c.orc": b"ORC\x08\x03", "README": b"What this is.\n"}


@pytest.fixture
def folder(log: Log, tmp_path: Path) -> Path:
    """A log whose second file has no ending, and files that are no logs."""
    table = pa.table(log.columns())
    half = table.num_rows // 2
    pq.write_table(table.slice(0, half), tmp_path / "a.parquet")
    pq.write_table(table.slice(half), tmp_path / "000001_0")
    for name, content in STRANGE.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def names(found: dict[str, object]) -> dict[str, str]:
    return {Path(file["name"]).name: file["reason"] for file in found["log"]["ignored"]}  # type: ignore[index]


REASONS = {"README": "text", "b.csv.bz2": "bzip2", "c.orc": "orc"}


def test_files_are_read_by_their_contents_and_others_are_named(folder: Path, log: Log) -> None:
    with pytest.warns(slateval.SlatevalWarning, match=r"3 files left out .*README \(text") as warned:
        ev = slateval.evaluate(folder, structure="additive", band="none")
    assert [warning.filename for warning in warned if "left out" in str(warning.message)] == [__file__]
    assert ev.to_dict()["log"]["rows"] == pa.table(log.columns()).num_rows
    assert names(ev.to_dict()) == REASONS
    found = slateval.inspect(folder, structure="additive")
    assert "c.orc (an ORC file)" in str(found)
    assert names(found.to_dict()) == REASONS


def test_they_may_be_refused_or_left_out_without_a_warning(folder: Path) -> None:
    with pytest.raises(slateval.FileError, match='on_unknown_file="skip"'):
        slateval.evaluate(folder, structure="additive", on_unknown_file="fail")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*left out")
        warnings.filterwarnings("ignore", category=slateval.SlatevalWarning, message=".*structure")
        ev = slateval.evaluate(folder, structure="additive", band="none", on_unknown_file="skip")
    assert names(ev.to_dict()) == REASONS
    with pytest.raises(slateval.InputError, match='"warn", "fail" or "skip"'):
        slateval.evaluate(folder, on_unknown_file="never")  # type: ignore[arg-type]


def test_parts_that_others_read_remember_them(folder: Path) -> None:
    with pytest.warns(slateval.SlatevalWarning, match="3 files left out"):
        tasks = slateval.plan(folder, structure="additive")
    assert len(tasks) == 2
    merged = slateval.merge(map(slateval.partial, tasks))
    assert names(merged.evaluate(band="none").to_dict()) == REASONS
    with pytest.raises(slateval.FileError, match="3 files"):
        slateval.plan(folder, structure="additive", on_unknown_file="fail")
    summary = slateval.Summary(structure="additive", on_unknown_file="skip")
    summary.add(folder)
    assert names(slateval.Summary.from_bytes(summary.to_bytes()).evaluate(band="none").to_dict()) == REASONS


def test_of_a_list_and_numbered_columns_the_one_that_is_read_is_named() -> None:
    data = pa.table({"reward": [1.0, 0.0], "mu": [[0.5], [0.5]], "mu_1": [0.25, 0.25], "pi_1": [0.5, 0.5]})
    with pytest.warns(slateval.SlatevalWarning, match="has both `mu` and `mu_1`: the list `mu` is read"):
        slateval.evaluate(data, structure="additive", band="none")
    assert "has both `mu` and `mu_1`" in str(slateval.inspect(data, structure="additive"))
