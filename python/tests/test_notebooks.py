"""The notebooks in examples/python run from the first cell to the last, and everything in them shows itself."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent.parent / "examples" / "python"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    document = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in document["cells"] if cell["cell_type"] == kind]


def shown(value: Any) -> str:
    """What a notebook shows of the last line of a cell."""
    for face in ("_repr_html_", "_repr_svg_"):
        if hasattr(value, face):
            return str(getattr(value, face)())
    return repr(value)


def run(code: str, name: str, known: dict[str, Any]) -> str | None:
    """Runs a cell; the value of its last line is shown, if that is an expression."""
    body = ast.parse(code, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, "exec"), known)
    if not isinstance(last, ast.Expr):
        return None
    value = eval(compile(ast.Expression(last.value), name, "eval"), known)
    return None if value is None else shown(value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(FOLDER)
    known: dict[str, Any] = {"__name__": "__main__"}
    said = [run("".join(c["source"]), f"{path.name}, cell {i}", known) for i, c in enumerate(cells(path, "code"))]
    assert any(said) and capsys.readouterr().out


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_its_output(path: Path) -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(path, "code"))
    assert "".join(cells(path, "markdown")[0]["source"]).startswith("# ")


def test_the_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["clicks", "monitoring", "quick_start", "raw_actions"]
