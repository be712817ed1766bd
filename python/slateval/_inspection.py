"""Whether a log is fit for the job."""

from __future__ import annotations

import json
from typing import Any

from ._text import preformatted


class Inspection:
    """Whether a log is fit for the job: its schema as understood, every check, and what to do.

    Parameters
    ----------
    document : str
        The JSON of `slateval inspect`.
    text : str
        The same for people.

    Examples
    --------
    >>> import slateval
    >>> found = slateval.inspect({"reward": [1.0, 0.0], "mu_1": [0.5, 0.5], "pi_1": [0.9, 0.1]})
    >>> print(str(found).splitlines()[0])
    2 slates, 1 slot
    """

    def __init__(self, document: str, text: str) -> None:
        self._document = document
        self._text = text

    def to_json(self) -> str:
        """The JSON that `slateval inspect --json` writes.

        Returns
        -------
        str
            The document.
        """
        return self._document

    def to_dict(self) -> dict[str, Any]:
        """The JSON as plain values.

        Returns
        -------
        dict
            The document.
        """
        document: dict[str, Any] = json.loads(self._document)
        return document

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return preformatted(self._text)
