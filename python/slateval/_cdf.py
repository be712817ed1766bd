"""A policy's distribution: a table, and a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _slateval
from ._tidy import Tidy

if TYPE_CHECKING:
    import numpy as np


class Cdf(Tidy):
    """A policy's CDF: a function of rewards, and a table with a row for each bin of rewards.

    The columns are `reward`, `raw`, `estimate`, `lower` and `upper`. Any Arrow library takes the table without a copy
    (`pyarrow.table(cdf)`, `polars.DataFrame(cdf)`); `cdf["estimate"]` is a NumPy array, with NaN where the band is
    missing.

    Parameters
    ----------
    table : Table
        The rows.

    Examples
    --------
    >>> import slateval
    >>> ev = slateval.evaluate(reward=[1.0, 0.0], logging=[[0.5], [0.5]], target=[[0.9], [0.1]], band="none")
    >>> cdf = ev["target"].cdf
    >>> round(cdf(0.5), 3)
    0.1
    >>> cdf["reward"], cdf["estimate"].round(3)
    (array([0., 1.]), array([0.1, 1. ]))
    """

    def __init__(self, table: _slateval.Table) -> None:
        self._table = table

    def __call__(self, reward: Any) -> Any:
        """The estimated share of slates with at most this reward.

        Parameters
        ----------
        reward : float or array
            One reward or several.

        Returns
        -------
        float or numpy.ndarray
            The share; an array for an array. `Policy.prob` has intervals.
        """
        import numpy as np

        wanted = np.asarray(reward, dtype=float)
        steps = np.concatenate([[0.0], self["estimate"]])
        found = np.where(np.isnan(wanted), np.nan, steps[np.searchsorted(self["reward"], wanted, side="right")])
        return float(found) if wanted.ndim == 0 else found

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._table.__arrow_c_schema__()

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._table.column_names

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> np.ndarray[Any, Any]:
        import numpy as np

        return np.frombuffer(self._table.column_bytes(column))

    def to_numpy(self) -> dict[str, Any]:
        """All columns as NumPy arrays.

        Returns
        -------
        dict of numpy.ndarray
            The columns by name.
        """
        return {name: self[name] for name in self.column_names}

    def _columns(self) -> dict[str, Any]:
        return self.to_numpy()

    def __repr__(self) -> str:
        reward = self["reward"]
        return f"<slateval.Cdf: {len(self):,} rewards from {reward[0]:.6g} to {reward[-1]:.6g}>"
