"""Text that shows itself as it is."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ._slateval import shown

__all__ = ["Text", "aligned", "preformatted", "shown"]


class Text(str):
    """A text of several lines: shown as it is in a terminal, and in a fixed-width face in a notebook.

    Examples
    --------
    >>> Text("policy  mean\\nnew      0.5")
    policy  mean
    new      0.5
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return preformatted(self)


def preformatted(text: str) -> str:
    """HTML that shows a text in a fixed-width face, whatever the page around it does."""
    style = (
        "line-height: 1.2; white-space: pre; font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    )
    return f'<pre style="{style}">{html.escape(text)}</pre>'


def aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of cells below each other, each column as wide as its widest cell.

    Examples
    --------
    >>> print(aligned([("mean", "0.5"), ("cvar 10%", "0.25")]))
    mean      0.5
    cvar 10%  0.25
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
