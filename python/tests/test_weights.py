"""The pseudo-inverse weight, by listing every slate: what it must equal, and what its mean must be."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
import slateval
import textbook_pseudo_inverse as textbook
from slateval.weights import PlackettLuce, Sampler, Slates, UniformRanking, pseudo_inverse
from textbook_pseudo_inverse import marginals, plackett_luce, rankings


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize(("items", "slots"), [(2, 1), (3, 2), (4, 3), (5, 3), (3, 3), (4, 4), (1, 1)])
class TestRankers:
    """Plackett-Luce logging, every slate listed."""

    def test_the_weight_gives_the_targets_distribution(self, items: int, slots: int, rng: np.random.Generator) -> None:
        """E_mu[G U] = E_pi[U] for U with a mean that is a sum of slot effects, for any target over the same slates."""
        slates = rankings(items, slots)
        scores = rng.normal(size=items)
        mu = plackett_luce(scores, slates)
        pi = rng.dirichlet(np.ones(len(slates)))
        w = pseudo_inverse(slates, PlackettLuce(scores), marginals(slates, pi, items))
        assert w.error is None and (w.unsupported < 1e-9).all()
        assert mu @ w.weights == pytest.approx(1, abs=1e-9)
        for _ in range(5):
            effects = rng.random((slots, items)) / slots
            u = effects[np.arange(slots), slates].sum(axis=1)
            assert mu @ (w.weights * u) == pytest.approx(pi @ u, abs=1e-9)

    def test_a_target_may_rank_too(self, items: int, slots: int, rng: np.random.Generator) -> None:
        slates = rankings(items, slots)
        logging, target = rng.normal(size=(2, items))
        expected = marginals(slates, plackett_luce(target, slates), items)
        by_policy = pseudo_inverse(slates, PlackettLuce(logging), PlackettLuce(target))
        by_marginals = pseudo_inverse(slates, PlackettLuce(logging), expected)
        np.testing.assert_allclose(by_policy.weights, by_marginals.weights, rtol=1e-9, atol=1e-9)

    def test_equal_scores_rank_uniformly(self, items: int, slots: int, rng: np.random.Generator) -> None:
        slates = rankings(items, slots)
        target = rankings(items, slots)[rng.integers(0, len(slates), len(slates))]
        closed = pseudo_inverse(slates, UniformRanking(items), target)
        listed = pseudo_inverse(slates, PlackettLuce(np.zeros(items)), target)
        np.testing.assert_allclose(closed.weights, listed.weights, rtol=1e-9, atol=1e-9)
        same = pseudo_inverse(slates, UniformRanking(items), UniformRanking(items))
        np.testing.assert_allclose(same.weights, 1, atol=1e-9)


@pytest.mark.parametrize(("items", "slots"), [(6, 3), (8, 4), (5, 5), (30, 2)])
def test_the_weights_are_the_textbooks(items: int, slots: int, rng: np.random.Generator) -> None:
    """Listed slates and NumPy's eigenvalues; some items are never shown, and some targets are out of reach."""
    slates = rankings(items, slots)
    scores = 2 * rng.normal(size=items)
    scores[: 2 if items > slots + 2 else 0] = -np.inf
    p = plackett_luce(scores, slates)
    possible = slates[p > 0]
    shown = possible[rng.integers(0, len(possible), 50)]
    for q in (
        marginals(slates, plackett_luce(rng.normal(size=items), slates), items),
        np.full((slots, items), 1 / items),
    ):
        expected, beyond = textbook.weights(shown, slates, p, q)
        if beyond > 1e-6:
            with pytest.warns(UserWarning, match="out of the log's reach"):
                w = pseudo_inverse(shown, PlackettLuce(scores), q, on_unsupported="warn")
        else:
            w = pseudo_inverse(shown, PlackettLuce(scores), q)
        np.testing.assert_allclose(w.weights, expected, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(w.unsupported, beyond, atol=1e-9)
        listed = Slates(possible, p[p > 0])
        action = "ignore" if beyond > 1e-6 else "error"
        with warnings.catch_warnings():
            warnings.simplefilter(action)  # type: ignore[arg-type]
            by_list = pseudo_inverse(shown, listed, q, on_unsupported="warn")
        np.testing.assert_allclose(by_list.weights, expected, rtol=1e-7, atol=1e-7)


def test_a_ranker_with_two_million_slates_is_exact() -> None:
    """Five slots of 20 items: the weights of 20,000 drawn slates have mean 1, and so has each item the target shows."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=20)
    shown = np.argsort(-(scores + rng.gumbel(size=(20_000, 20))), axis=1)[:, :5]
    goal = PlackettLuce(scores + rng.normal(size=20) / 2)
    w = pseudo_inverse(shown, PlackettLuce(scores), goal)
    assert w.error is None and w.unsupported.max() < 1e-9
    target = np.argsort(-(np.asarray(goal.scores) + rng.gumbel(size=(20_000, 20))), axis=1)[:, :5]
    counts = {
        "slates": lambda slates: np.ones(len(slates)),
        "item 3": lambda slates: (slates == 3).sum(axis=1),
        "item 7 in slot 2": lambda slates: slates[:, 1] == 7,
    }
    for name, count in counts.items():
        weighted, seen = w.weights * count(shown), count(target)
        error = np.hypot(weighted.std(), seen.std()) / np.sqrt(20_000)
        assert abs(weighted.mean() - seen.mean()) < 5 * error, name


def test_uniform_ranking_by_hand() -> None:
    """K=3, N=5, one slate: G = 4H + 2Q - 5, between -3 and 13, E[G^2] = 13. K=N: G = (N-1)H - (N-2)."""
    slates = rankings(5, 3)
    hits = (slates == [0, 1, 2]).sum(axis=1)
    anywhere = np.isin(slates, [0, 1, 2]).sum(axis=1)
    w = pseudo_inverse(slates, UniformRanking(5), [0, 1, 2]).weights
    np.testing.assert_allclose(w, 4 * hits + 2 * anywhere - 5)
    assert (w.min(), w.max()) == pytest.approx((-3, 13))
    assert np.mean(w**2) == pytest.approx(13)
    slates = rankings(4, 4)
    w = pseudo_inverse(slates, UniformRanking(4), [3, 2, 1, 0]).weights
    np.testing.assert_allclose(w, 3 * (slates == [3, 2, 1, 0]).sum(axis=1) - 2)


def test_uniform_ranking_of_many_items_needs_no_matrix() -> None:
    w = pseudo_inverse([[0, 1], [1, 2]], UniformRanking(20_000), UniformRanking(20_000))
    np.testing.assert_allclose(w.weights, 1)
    assert w.error is None


def test_independent_slots_give_the_additive_weight(rng: np.random.Generator) -> None:
    mu, pi = rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(3), 3)
    slates = np.array(list(product(range(3), repeat=3)))
    chosen = np.arange(3), slates
    w = pseudo_inverse(slates, Slates(slates, mu[chosen].prod(axis=1)), pi)
    np.testing.assert_allclose(w.weights, 1 + (pi[chosen] / mu[chosen] - 1).sum(axis=1), rtol=1e-9, atol=1e-9)


def test_each_row_has_its_own_policies(rng: np.random.Generator) -> None:
    slates = rankings(4, 2)
    scores = rng.normal(size=(3, 4))[rng.integers(0, 3, 30)]
    goals = rng.normal(size=(2, 4))[rng.integers(0, 2, 30)]
    shown = slates[rng.integers(0, len(slates), 30)]
    q = np.array([marginals(slates, plackett_luce(goal, slates), 4) for goal in goals])
    probabilities = np.array([plackett_luce(score, slates) for score in scores])
    together = pseudo_inverse(shown, PlackettLuce(scores), PlackettLuce(goals)).weights
    one_by_one = [pseudo_inverse(shown[i : i + 1], PlackettLuce(scores[i]), q[i]).weights[0] for i in range(30)]
    np.testing.assert_allclose(together, one_by_one, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pseudo_inverse(shown, PlackettLuce(scores), q).weights, together, atol=1e-9)
    np.testing.assert_allclose(pseudo_inverse(shown, Slates(slates, probabilities), q).weights, together, atol=1e-9)


def test_rare_items_are_not_taken_for_impossible_ones() -> None:
    """Scores far apart: probabilities down to 1e-9 still count."""
    slates = rankings(4, 2)
    scores = np.array([0.0, -5.0, -10.0, -20.0])
    mu = plackett_luce(scores, slates)
    w = pseudo_inverse(slates, PlackettLuce(scores), [3, 1])
    assert mu @ w.weights == pytest.approx(1, abs=1e-6)
    hit = (slates[:, 0] == 3).astype(float)
    assert mu @ (w.weights * hit) == pytest.approx(1, abs=1e-6)


def sample(scores: Any) -> Any:
    def draw(context: Any, size: int, rng: np.random.Generator) -> Any:
        return np.argsort(-(np.asarray(scores) + rng.gumbel(size=(size, len(scores)))), axis=1)[:, :3]

    return draw


@pytest.mark.parametrize("kind", ["ranker", "sampler", "sampled target"])
def test_drawn_weights_are_within_their_error(kind: str, rng: np.random.Generator) -> None:
    slates = rankings(5, 3)
    scores, goal = rng.normal(size=(2, 5)) / 2
    exact = pseudo_inverse(slates, PlackettLuce(scores), PlackettLuce(goal)).weights
    q = marginals(slates, plackett_luce(goal, slates), 5)
    drawn: Any = {
        "ranker": lambda: pseudo_inverse(slates, PlackettLuce(scores), q, slate_limit=0),
        "sampler": lambda: pseudo_inverse(slates, Sampler(sample(scores), 5), q),
        "sampled target": lambda: pseudo_inverse(slates, PlackettLuce(scores), Sampler(sample(goal), 5)),
    }[kind]()
    assert drawn.error is not None and (drawn.error > 0).all()
    # Standard errors with 19 degrees of freedom; 60 slates, but only K(N-1)+1 independent effects.
    score = (drawn.weights - exact) / drawn.error
    assert np.abs(score).max() < 5
    assert 0.4 < np.sqrt(np.mean(score**2)) < 2
    assert drawn.error.max() < 0.2


def test_the_error_falls_with_the_draws(rng: np.random.Generator) -> None:
    slates, scores = rankings(5, 3), rng.normal(size=5) / 2
    errors: list[Any] = [
        pseudo_inverse(slates, PlackettLuce(scores), [0, 1, 2], slate_limit=0, samples=samples).error
        for samples in (4000, 64000)
    ]
    # Sixteen times the draws: a quarter of the error, give or take that of a standard error from 20 parts.
    assert 2.5 < errors[0].mean() / errors[1].mean() < 6.5


def test_draws_are_repeatable_and_differ_by_seed() -> None:
    def weights(seed: int) -> Any:
        return pseudo_inverse([[0, 1]], PlackettLuce(np.arange(4.0)), [1, 0], slate_limit=0, seed=seed).weights

    assert weights(1) == weights(1)
    assert weights(1) != weights(2)


def test_samplers_see_contexts(rng: np.random.Generator) -> None:
    seen = []

    def draw(context: Any, size: int, rng: np.random.Generator) -> Any:
        seen.append(str(context))
        first = rng.integers(0, 2, (size, 1))
        return np.hstack([first, 1 - first]) + (2 if context == "late" else 0)

    sampler = Sampler(draw, items=4, contexts=np.array(["early", "late", "early"]))
    w = pseudo_inverse([[0, 1], [2, 3], [1, 0]], sampler, [[0, 1], [2, 3], [0, 1]])
    assert sorted(seen) == ["early", "late"]
    np.testing.assert_allclose(w.weights, [2, 2, 0], atol=0.1)


def test_targets_out_of_reach() -> None:
    """Logging shows (0, 1) or (1, 0); item 2 is never there."""
    logging = Slates([[0, 1], [1, 0]], [0.5, 0.5])
    q = np.array([[0.5, 0.2, 0.3], [0.2, 0.5, 0.3]])
    with pytest.raises(
        slateval.InputError, match=r"100.000% of the rows, most in row 1: a probability of 0.3 is out of"
    ):
        pseudo_inverse([[0, 1]], logging, q)
    with pytest.warns(UserWarning, match="left out"):
        w = pseudo_inverse([[0, 1]], logging, q, on_unsupported="warn")
    assert w.unsupported[0] == pytest.approx(0.3)
    # Each item is shown, but never item 0 in both slots.
    with pytest.raises(slateval.InputError, match="out of the log's reach"):
        pseudo_inverse([[0, 1]], logging, [0, 0])
    with pytest.raises(slateval.InputError, match="out of the log's reach"):
        pseudo_inverse([[0, 1]], UniformRanking(2), [0, 0])


@pytest.mark.parametrize(
    ("actions", "logging", "target", "message"),
    [
        ([[0, 0]], UniformRanking(3), [0, 1], r"row 1: slate \[0, 0\] was shown, but has probability 0 under logging"),
        ([[0, 7]], UniformRanking(3), [0, 1], "has probability 0 under logging"),
        ([[0, 2]], PlackettLuce([0.0, 0.0, -np.inf]), [0, 1], "has probability 0 under logging"),
        ([[0, 2]], Slates([[0, 1], [1, 2]], [0.5, 0.5]), [0, 1], "has probability 0 under logging"),
        ([[0, 1]], PlackettLuce([0.0]), [0, 1], "at least as many items, there are 1"),
        ([[0, 1]], PlackettLuce([0.0, np.nan]), [0, 1], "scores must be numbers"),
        ([[0, 1]], PlackettLuce(np.zeros((2, 3))), [0, 1], "a row for each of 1 rows"),
        ([[0, 1]], Slates([[0, 1], [0, 1]], [0.5, 0.5]), [0, 1], "different from each other"),
        ([[0, 1]], Slates([[0, 1], [1, 0]], [0.5, 0.6]), [0, 1], "sum to 1"),
        ([[0, 1]], UniformRanking(3), [0, 1, 2], "a target of whole numbers is one slate"),
        ([[0, 1]], UniformRanking(3), [0, 3], "target is of 4 items, logging of 3"),
        ([[0, 1]], UniformRanking(3), np.full((2, 3), 0.3), "slot 1: the probabilities sum to 0.9, not 1"),
        ([[0, 1]], UniformRanking(3), np.array([[2.0, -1, 0], [0, 0, 1]]), r"item 0: probability 2.0; it must lie"),
        ([[0, 1]], PlackettLuce(np.zeros(5000)), [0, 1], "need a matrix of 10000 rows"),
        ([[0, -1]], UniformRanking(3), [0, 1], "row 1, slot 2: -1; items count from 0"),
        ([[0.5, 1]], UniformRanking(3), [0, 1], "whole numbers of shape"),
        (
            [[1, 0]],
            Sampler(lambda c, n, r: np.tile([0, 1], (n, 1)), 2),
            [0, 1],
            "no slates drawn from logging tell of it",
        ),
        ([[0, 1]], Sampler(lambda c, n, r: np.tile([0, 5], (n, 1)), 2), [0, 1], "an item outside 0 to 1"),
        ([[0, 1]], Sampler(lambda c, n, r: np.zeros((n, 3), int), 2), [0, 1], "the sampler must give whole numbers"),
    ],
)
def test_bad_input_is_named(actions: Any, logging: Any, target: Any, message: str) -> None:
    with pytest.raises(slateval.InputError, match=message):
        pseudo_inverse(actions, logging, target)


def test_functions_are_wrapped() -> None:
    with pytest.raises(slateval.DataTypeError, match="wrap a function as Sampler"):
        pseudo_inverse([[0, 1]], lambda: None, [0, 1])  # type: ignore[arg-type]


def test_evaluates(rng: np.random.Generator) -> None:
    pytest.importorskip("slateval._slateval", reason="the compiled module is not built")
    slateval = importlib.import_module("slateval")
    slates, scores = rankings(4, 2), rng.normal(size=4) / 2
    shown = slates[rng.choice(len(slates), 5000, p=plackett_luce(scores, slates))]
    effects = rng.random((2, 4))
    reward = effects[np.arange(2), shown].sum(axis=1)
    w = pseudo_inverse(shown, PlackettLuce(scores), [2, 3])
    ev = slateval.evaluate(reward=reward, **w.arguments())
    mean = ev["target"].mean
    assert abs(mean.estimate - effects[[0, 1], [2, 3]].sum()) < 3 * (mean.upper - mean.lower) / 2


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ([0, 1], "independent"),
        (np.full((2, 3), 1 / 3), "independent"),
        (UniformRanking(3), "joint"),
        (PlackettLuce([1.0, 0.0, 0.0]), "joint"),
        (Slates([[0, 1], [1, 0]], [0.5, 0.5]), "joint"),
        (Slates([[0, 1], [2, 1]], [0.5, 0.5]), "independent"),
        (Sampler(lambda c, n, r: np.stack([r.permutation(3)[:2] for _ in range(n)]), 3), "joint"),
        (Sampler(lambda c, n, r: np.tile([2, 0], (n, 1)), 3), "independent"),
    ],
)
def test_slots_that_depend_on_each_other_are_passed_on(target: Any, expected: str) -> None:
    w = pseudo_inverse([[0, 1], [1, 2]], UniformRanking(3), target, samples=200)
    assert w.target_slots == expected
    assert w.arguments().get("target_slots") == ("joint" if expected == "joint" else None)
    ev = slateval.evaluate(reward=[0.0, 1.0], band="none", **w.arguments())
    assert ev.settings["target_slots"] == expected


def test_identical_contexts_are_computed_once(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand rows of three policies are three policies to the native part."""
    scores = rng.normal(size=(3, 6))
    which = rng.integers(0, 3, 1000)
    shown = np.argsort(rng.random((1000, 6)), axis=1)[:, :3]
    native, policies = slateval._slateval.pseudo_inverse, []

    def counted(request: str, arrays: Any, tell: Any) -> Any:
        policies.append(len(np.unique(arrays["policy"])))
        return native(request, arrays, tell)

    monkeypatch.setattr(slateval._slateval, "pseudo_inverse", counted)
    pseudo_inverse(shown, PlackettLuce(scores[which]), [0, 1, 2])
    assert policies == [3]


def test_progress_is_told_in_rows(rng: np.random.Generator) -> None:
    told: list[tuple[int, int | None]] = []
    scores = rng.normal(size=(4, 6))[np.arange(40) % 4]
    shown = np.argsort(rng.random((40, 6)), axis=1)[:, :3]
    pseudo_inverse(shown, PlackettLuce(scores), [0, 1, 2], progress=lambda rows, total: told.append((rows, total)))
    assert told[-1] == (40, 40)
    told.clear()
    sampler = Sampler(sample(rng.normal(size=6) / 2), 6, contexts=np.arange(40) % 2)
    pseudo_inverse(shown, sampler, [0, 1, 2], progress=lambda rows, total: told.append((rows, total)))
    assert told[-1] == (40, 40)


def test_threads_change_nothing(rng: np.random.Generator) -> None:
    scores = rng.normal(size=(8, 6)) / 3
    shown = np.argsort(rng.random((8, 6)), axis=1)[:, :3]
    for limit in (0, 50_000):
        one, many = (
            pseudo_inverse(shown, PlackettLuce(scores), [0, 1, 2], slate_limit=limit, samples=2000, threads=threads)
            for threads in (1, 4)
        )
        np.testing.assert_array_equal(one.weights, many.weights)
        assert (one.error is None) == (limit > 0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_ends_it() -> None:
    program = """
        import numpy as np
        from slateval.weights import PlackettLuce, pseudo_inverse
        scores = np.random.default_rng(1).normal(size=(100_000, 20))
        print("started", flush=True)
        pseudo_inverse(np.tile(np.arange(5), (100_000, 1)), PlackettLuce(scores), np.arange(5))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors


def test_a_line_tells_what_was_found() -> None:
    ranker = PlackettLuce([0.0, 0.0, 0.0])
    assert repr(pseudo_inverse([[0, 1], [1, 0]], ranker, [0, 1])).endswith("mean 3, exact>")
    drawn = pseudo_inverse([[0, 1], [1, 0]], ranker, [0, 1], slate_limit=0)
    assert "standard errors up to 0.0" in repr(drawn)
