"""Pictures that show themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from . import _slateval
from ._errors import DataTypeError, InputError

PlotName = Literal["cdf", "difference", "tails", "segments", "weights"]
"""What can be drawn."""

NAMES = ("cdf", "difference", "tails", "segments", "weights")


class Plot:
    """A picture of an evaluation: shows itself in a notebook, and is saved as SVG or PNG.

    Parameters
    ----------
    names : list of str
        What is drawn.
    svg : str
        The drawing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import slateval
    >>> ev = slateval.evaluate("examples/slates.parquet", target={"new": "pi_new"})
    >>> plot = ev.plot("cdf")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot.save(pathlib.Path(folder) / "cdf.svg")
    """

    def __init__(self, names: Sequence[str], svg: str) -> None:
        self.names = list(names)
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture, as SVG or PNG by the ending of the name.

        Parameters
        ----------
        path : str or path
            The file, which ends in `.svg` or `.png`.

        Raises
        ------
        InputError
            For another ending.
        FileError
            For a file that cannot be written.
        """
        _slateval.write_svg(self.svg, os.fspath(path))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<slateval.Plot of {', '.join(self.names)}>"


def chosen(what: object) -> tuple[list[str], str | None]:
    """The names of pictures, and the path to write them to, where one was given."""
    if what is None:
        return ["cdf", "difference"], None
    if isinstance(what, os.PathLike) or (isinstance(what, str) and what not in NAMES and Path(what).suffix):
        return ["cdf", "difference"], os.fspath(what)
    names = [what] if isinstance(what, str) else what
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise DataTypeError(f"a plot is chosen by name: {', '.join(NAMES)}, or a list of these")
    for name in names:
        if name not in NAMES:
            raise InputError(f"there is no plot {name!r}; there are {', '.join(NAMES)}. A path ends in .svg or .png")
    return list(names), None
