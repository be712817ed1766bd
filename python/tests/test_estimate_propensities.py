"""Propensities estimated from a log: by hand, by a classifier, and what an evaluation says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import slateval
from slateval import estimate_propensities


class Frequencies:
    """A classifier for one feature of few values: the frequencies within each."""

    def fit(self, features: Any, items: Any) -> None:
        self.classes_ = np.unique(items)
        self.seen = {
            value: [np.mean(items[features[:, 0] == value] == item) for item in self.classes_]
            for value in np.unique(features[:, 0])
        }
        self.fitted = len(items)

    def predict_proba(self, features: Any) -> Any:
        return np.array([self.seen[value] for value in features[:, 0]])


def log(rows: int, seed: int = 1) -> tuple[Any, Any, Any, Any]:
    """Two slots of three items; logging looks at the device, and so does the reward. Uniform target."""
    rng = np.random.default_rng(seed)
    device = rng.integers(0, 2, rows)
    mu = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])[device]
    actions = np.stack([[rng.choice(3, p=p) for p in mu] for _ in range(2)], axis=1)
    reward = actions.sum(axis=1) * (1 + device) + rng.integers(0, 3, rows)
    return actions, device, reward, mu


def test_frequencies_by_hand() -> None:
    actions = [[0, 2], [0, 1], [1, 1], [1, 1]]
    exact = estimate_propensities(actions, ["a", "a", "a", "b"], smoothing=0)
    np.testing.assert_allclose(exact.mu, [[2 / 3, 1 / 3], [2 / 3, 2 / 3], [1 / 3, 2 / 3], [1, 1]])
    smooth = estimate_propensities(actions, ["a", "a", "a", "b"], smoothing=2)
    # In slot 1 half of the whole log is item 0: two rows' worth add one row of each item.
    np.testing.assert_allclose(smooth.mu[:, 0], [(2 + 1) / 5, (2 + 1) / 5, (1 + 1) / 5, (1 + 1) / 3])
    np.testing.assert_allclose(smooth.rows(0, 4).sum(axis=2), 1)
    np.testing.assert_allclose(estimate_propensities(actions).mu[:, 0], 0.5)


def test_cells_are_combinations_of_columns() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    actions = np.array([[0], [1], [0], [0], [1], [0]])
    columns = {"device": ["p", "p", "w", "w", "p", "w"], "new": [True, True, False, False, False, True]}
    expected = [1 / 2, 1 / 2, 1, 1, 1, 1]
    for context in (columns, pandas.DataFrame(columns), polars.DataFrame(columns), polars.LazyFrame(columns)):
        with pytest.warns(slateval.SlatevalWarning, match="100% of the rows are in contexts with fewer than 20 rows"):
            found = estimate_propensities(actions, context, smoothing=0)
        np.testing.assert_allclose(found.mu.ravel(), expected)


def test_a_classifier_never_sees_the_rows_it_predicts() -> None:
    """Leaving out a row's own item lowers its frequency: to (n - 1) / (N - 1) with as many folds as rows."""
    actions = np.array([[0], [0], [0], [1], [1]])
    found = estimate_propensities(actions, np.zeros((5, 1)), classifier=Frequencies(), folds=5, smoothing=0)
    np.testing.assert_allclose(found.mu.ravel(), [2 / 4, 2 / 4, 2 / 4, 1 / 4, 1 / 4])
    assert "Frequencies, 5 folds" in repr(found)


def test_slots_that_are_not_there_are_nan() -> None:
    found = estimate_propensities([[0, 1], [1, -1], [0, 1]], smoothing=0)
    np.testing.assert_allclose(found.mu, [[2 / 3, 1], [1 / 3, np.nan], [2 / 3, 1]])


@pytest.mark.parametrize("classifier", [None, Frequencies()])
def test_with_all_that_logging_saw_the_truth_is_found(classifier: Any) -> None:
    actions, device, reward, mu = log(20_000)
    context = device if classifier is None else device[:, None]
    estimated = estimate_propensities(actions, context, classifier=classifier)
    true = np.take_along_axis(mu[:, None, :].repeat(2, axis=1), actions[:, :, None], axis=2)[:, :, 0]
    # Cells of about 10,000 rows: five standard errors of a share.
    assert np.abs(estimated.mu - true).max() < 5 * np.sqrt(0.25 / 9_000)
    p = slateval.propensities(actions, logging=estimated, target=np.full((2, 3), 1 / 3))
    assert p.source == "estimated" and "estimated logging" in repr(p)
    with pytest.warns(slateval.SlatevalWarning, match="estimated from the log and are taken as known"):
        ev = slateval.evaluate(reward=reward, **p.arguments())
    mean = ev["target"].mean
    # Two slots of mean item 1, times 1 or 2, plus 1.
    truth = 2 * (1 + device).mean() + 1
    assert abs(float(mean) - truth) < 4 * (mean.upper - mean.lower) / 2 / 1.96


def test_without_it_the_answer_is_wrong() -> None:
    """Logging showed better items where rewards are higher; an estimate that is not told of it cannot know."""
    actions, device, reward, _ = log(20_000)
    estimated = estimate_propensities(actions)
    with pytest.warns(slateval.SlatevalWarning, match="whatever else the logging policy looked at biases every number"):
        ev = slateval.evaluate(reward=reward, target=np.full(actions.shape, 1 / 3), **estimated.arguments())
    truth = 2 * (1 + device).mean() + 1
    assert abs(float(ev["target"].mean) - truth) > 0.1


def test_the_mark_survives_files_and_merging(tmp_path: Any) -> None:
    actions, device, reward, _ = log(2000)
    estimated = estimate_propensities(actions, device)
    columns = estimated.to_columns() | {"reward": reward} | {f"pi_{k + 1}": np.full(2000, 1 / 3) for k in range(2)}
    day = slateval.Summary(propensities="estimated")
    day.add(columns)
    merged = slateval.merge([day, day.to_bytes()])
    path = tmp_path / "day.slateval"
    merged.save(path)
    with pytest.warns(slateval.SlatevalWarning, match="estimated from the log"):
        ev = slateval.load(path)
    assert "estimated-propensities" in {check["name"] for check in ev["target"].diagnostics["checks"]}
    assert ev.settings["propensities"] == "estimated"
    other = slateval.Summary()
    other.add(columns)
    with pytest.raises(slateval.InputError, match=r"propensities: .*known"):
        slateval.merge([day, other])
    with pytest.raises(slateval.InputError, match="propensities `guessed`: must be known or estimated"):
        slateval.evaluate(columns, propensities="guessed")


def test_items_are_matched_by_name() -> None:
    actions = [["b", "a"], ["a", "a"], ["a", "b"]]
    estimated = estimate_propensities(actions, smoothing=0)
    target = np.array([[0.0, 0.5, 0.5], [0.0, 0.25, 0.75]])
    p = slateval.propensities(actions, logging=estimated, target=target, items=["c", "b", "a"])
    np.testing.assert_allclose(p.mu, [[1 / 3, 2 / 3], [2 / 3, 2 / 3], [2 / 3, 1 / 3]])
    np.testing.assert_allclose(p.pi["target"], [[0.5, 0.75], [0.5, 0.75], [0.5, 0.25]])
    with pytest.raises(slateval.InputError, match="logging was estimated for item 'b', which is not one of `items`"):
        slateval.propensities([["a", "a"]] * 3, logging=estimated, target=target, items=["a", "c", "d"])


def test_a_target_knows_items_that_were_never_shown() -> None:
    estimated = estimate_propensities([[0], [1]])
    with pytest.raises(slateval.InputError, match="target shows what logging never shows"):
        slateval.propensities([[0], [1]], logging=estimated, target=[0.4, 0.4, 0.2])
    with pytest.warns(UserWarning, match="left out"):
        p = slateval.propensities([[0], [1]], logging=estimated, target=[0.4, 0.4, 0.2], on_unsupported="warn")
    assert p.support["target"].mass == pytest.approx(0.2)


class Broken(Frequencies):
    """Gives numbers that are no probabilities."""

    def predict_proba(self, features: Any) -> Any:
        return super().predict_proba(features) * 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"smoothing": -1}, slateval.InputError, "smoothing `-1.0`: must not be negative"),
        ({"context": [1]}, slateval.InputError, "1 contexts for 4 rows of actions"),
        ({"context": [1.0, np.nan, 1.0, 2.0]}, slateval.InputError, "context has nulls"),
        ({"classifier": Frequencies()}, slateval.InputError, "a classifier needs `context`"),
        ({"classifier": object(), "context": [1, 1, 1, 1]}, slateval.DataTypeError, "needs fit"),
        ({"classifier": Frequencies(), "context": [1] * 4, "folds": 1}, slateval.InputError, "folds `1`"),
        ({"classifier": Broken(), "context": [1] * 4, "folds": 2}, slateval.InputError, "probabilities that sum to 1"),
        ({"context": np.zeros((4, 1, 1))}, slateval.InputError, r"context must be \(n,\) or \(n, d\)"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        estimate_propensities([[0], [1], [0], [1]], **arguments)


def test_targets_are_not_estimated() -> None:
    estimated = estimate_propensities([[0], [1]])
    with pytest.raises(slateval.InputError, match="a target's probabilities must be known"):
        slateval.propensities([[0], [1]], logging=[0.5, 0.5], target=estimated)
    with pytest.raises(slateval.InputError, match="give the same actions to both"):
        slateval.propensities([[0]], logging=estimated, target=[0.5, 0.5])
