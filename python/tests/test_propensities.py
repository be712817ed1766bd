"""Propensities from whole policies, against plain loops over rows, slots and items."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import slateval
from slateval.propensities import Propensities, Table, propensities
from slateval.weights import PlackettLuce, Sampler, Slates, UniformRanking

ROWS, SLOTS, ITEMS = 40, 3, 5


def distributions(rng: np.random.Generator, *shape: int) -> Any:
    p = rng.random(shape) + 0.05
    return p / p.sum(axis=-1, keepdims=True)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def actions(rng: np.random.Generator) -> Any:
    return rng.integers(0, ITEMS, (ROWS, SLOTS))


def plain(actions: Any, mu: Any, pi: Any) -> tuple[Any, Any, Any]:
    """What the definitions say, one slot at a time."""
    shown_mu, shown_pi, chi = (np.zeros(actions.shape) for _ in range(3))
    for i, slate in enumerate(actions):
        for k, item in enumerate(slate):
            shown_mu[i, k], shown_pi[i, k] = mu[i, k, item], pi[i, k, item]
            chi[i, k] = sum(pi[i, k, a] ** 2 / mu[i, k, a] for a in range(mu.shape[-1])) - 1
    return shown_mu, shown_pi, chi


def assert_same(p: Propensities, expected: tuple[Any, Any, Any], name: str = "target") -> None:
    np.testing.assert_allclose(p.mu, expected[0], rtol=1e-13)
    np.testing.assert_allclose(p.pi[name], expected[1], rtol=1e-13)
    np.testing.assert_allclose(p.chi[name], expected[2], rtol=1e-10, atol=1e-13)
    assert p.support[name].full and p.support[name].mass == 0


def table_of(p: Any, names: Any) -> dict[str, Any]:
    """Probabilities (C, K, N) as a table; slots from 1."""
    context, slot, item = (part.ravel() for part in np.indices(p.shape))
    shuffled = np.random.default_rng(0).permutation(p.size)
    columns = {"context": np.asarray(names)[context], "slot": slot + 1, "item": item, "probability": p.ravel()}
    return {name: values[shuffled] for name, values in columns.items()}


def test_arrays(rng: np.random.Generator, actions: Any) -> None:
    mu, pi = distributions(rng, ROWS, SLOTS, ITEMS), distributions(rng, ROWS, SLOTS, ITEMS)
    assert_same(propensities(actions, logging=mu, target=pi), plain(actions, mu, pi))


@pytest.mark.parametrize("shape", [(ITEMS,), (SLOTS, ITEMS), (ROWS, SLOTS, ITEMS)])
def test_arrays_broadcast(rng: np.random.Generator, actions: Any, shape: tuple[int, ...]) -> None:
    mu, pi = distributions(rng, ITEMS), distributions(rng, *shape)
    whole = [np.broadcast_to(p, (ROWS, SLOTS, ITEMS)) for p in (mu, pi)]
    assert_same(propensities(actions, logging=mu, target=pi), plain(actions, *whole))
    assert_same(propensities(actions, logging=pi, target=mu), plain(actions, *whole[::-1]))


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_functions_see_bounded_batches(rng: np.random.Generator, actions: Any, batch_size: int) -> None:
    mu, pi = distributions(rng, ROWS, SLOTS, ITEMS), distributions(rng, ROWS, SLOTS, ITEMS)
    sizes = []

    def policy(rows: Any) -> Any:
        sizes.append(len(rows))
        return pi[rows]

    contexts = np.arange(ROWS)
    p = propensities(actions, logging=mu, target=policy, contexts=contexts, batch_size=batch_size)
    assert_same(p, plain(actions, mu, pi))
    assert max(sizes) <= batch_size and sum(sizes) == ROWS


def test_functions_of_features_and_frames(rng: np.random.Generator, actions: Any) -> None:
    pandas = pytest.importorskip("pandas")
    features = rng.random((ROWS, 2))

    def policy(batch: Any) -> Any:
        score = np.asarray(batch)[:, :1, None] + np.arange(ITEMS)[None, None, :] + np.zeros((1, SLOTS, 1))
        return np.exp(score) / np.exp(score).sum(axis=-1, keepdims=True)

    expected = plain(actions, np.full((ROWS, SLOTS, ITEMS), 1 / ITEMS), policy(features))
    for contexts in (features, pandas.DataFrame(features), list(features)):
        p = propensities(actions, logging=np.full(ITEMS, 1 / ITEMS), target=policy, contexts=contexts, batch_size=9)
        assert_same(p, expected)


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow", "stream"])
def test_tables(rng: np.random.Generator, actions: Any, kind: str) -> None:
    names = ["c", "a", "b", "unseen"]
    which = rng.integers(0, 3, ROWS)
    mu, pi = distributions(rng, 4, SLOTS, ITEMS), distributions(rng, 4, SLOTS, ITEMS)
    tables = [as_frame(table_of(p, names), kind) for p in (mu, pi)]
    p = propensities(actions, logging=tables[0], target=tables[1], contexts=np.asarray(names)[which])
    assert_same(p, plain(actions, mu[which], pi[which]))


def as_frame(columns: dict[str, Any], kind: str) -> Any:
    if kind == "dict":
        return columns
    library = pytest.importorskip("pyarrow" if kind == "stream" else kind)
    if kind == "stream":
        return OnlyStream(library.table(columns))
    return library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)


class OnlyStream:
    """A frame of a library that we know nothing of but that it streams Arrow."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def test_tables_beside_arrays_and_functions(rng: np.random.Generator, actions: Any) -> None:
    which = rng.integers(0, 3, ROWS)
    mu, pi = distributions(rng, 3, SLOTS, ITEMS), distributions(rng, SLOTS, ITEMS)
    expected = plain(actions, mu[which], np.broadcast_to(pi, (ROWS, SLOTS, ITEMS)))
    table = table_of(mu, [10, 20, 30])
    contexts = np.array([10, 20, 30])[which]
    targets = {
        "constant": pi,
        "table": Table({k: v for k, v in table_of(pi[None], [0]).items() if k != "context"}, context=None),
        "function": lambda batch: np.broadcast_to(pi, (len(batch), SLOTS, ITEMS)),
    }
    for name, target in targets.items():
        assert_same(propensities(actions, logging=table, target={name: target}, contexts=contexts), expected, name)
    p = propensities(actions, logging=table, target=targets, contexts=contexts, batch_size=11)
    assert list(p.pi) == list(p.chi) == list(p.support) == list(targets)
    for name in targets:
        assert_same(p, expected, name)


def test_tables_are_taken_in_parts(rng: np.random.Generator, actions: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slateval._shown_propensities.ENTRIES_AT_ONCE", 40)
    which = rng.integers(0, 12, ROWS)
    mu, pi = distributions(rng, 12, SLOTS, ITEMS), distributions(rng, 12, SLOTS, ITEMS)
    p = propensities(
        actions, logging=table_of(mu, range(12)), target={"a": table_of(pi, range(12)), "b": pi[0]}, contexts=which
    )
    assert_same(p, plain(actions, mu[which], pi[which]), "a")
    assert_same(p, plain(actions, mu[which], np.broadcast_to(pi[0], (ROWS, SLOTS, ITEMS))), "b")


def test_tables_with_large_item_numbers_are_not_spread_out() -> None:
    table = {"context": [1, 1], "slot": [1, 1], "item": [10**12, 3], "probability": [0.25, 0.75]}
    p = propensities([[10**12], [3]], logging=table, target=table, contexts=[1, 1])
    assert p.mu.ravel().tolist() == [0.25, 0.75]
    assert p.chi["target"].ravel().tolist() == [0, 0]


def test_named_items(rng: np.random.Generator) -> None:
    pi = {"item": ["news", "film"], "probability": [0.25, 0.75]}
    p = propensities([["film"], ["news"]], logging=[0.5, 0.5], target=pi, items=["news", "film"])
    assert p.mu.ravel().tolist() == [0.5, 0.5]
    assert p.pi["target"].ravel().tolist() == [0.75, 0.25]
    with pytest.raises(slateval.InputError, match="row 2, slot 1: 'song' is not an item of `items`"):
        propensities([["film"], ["song"]], logging=[0.5, 0.5], target=[0.5, 0.5], items=["news", "film"])
    with pytest.raises(slateval.InputError, match="give `items`"):
        propensities([["film"], ["news"]], logging=[0.5, 0.5], target=[0.5, 0.5])


@pytest.mark.parametrize("form", ["minus one", "masked", "none"])
def test_slates_of_different_lengths(rng: np.random.Generator, actions: Any, form: str) -> None:
    absent = np.zeros(actions.shape, dtype=bool)
    absent[::3, -1] = True
    mu, pi = distributions(rng, ROWS, SLOTS, ITEMS), distributions(rng, ROWS, SLOTS, ITEMS)
    expected = plain(actions, mu, pi)
    mu[absent] = np.nan
    given: Any = np.where(absent, -1, actions)
    items = None
    if form == "masked":
        given = np.ma.array(actions, mask=absent)
    if form == "none":
        given, items = np.where(absent, None, actions.astype(object)), list(range(ITEMS))
    p = propensities(given, logging=mu, target=pi, items=items)
    assert (np.isnan(p.mu) == absent).all() and (np.isnan(p.pi["target"]) == absent).all()
    assert (p.chi["target"][absent] == 0).all()
    np.testing.assert_allclose(p.mu[~absent], expected[0][~absent])
    np.testing.assert_allclose(p.chi["target"][~absent], expected[2][~absent])


def test_a_table_need_not_have_slots_that_are_never_there() -> None:
    table = {"context": list("aabb"), "slot": [1, 2, 1, 1], "item": [0, 0, 0, 1], "probability": [1, 1, 0.5, 0.5]}
    p = propensities([[0, 0], [1, -1]], logging=table, target=table, contexts=["a", "b"])
    np.testing.assert_array_equal(p.mu, [[1, 1], [0.5, np.nan]])


def test_arguments_and_columns(actions: Any) -> None:
    uniform = np.full(ITEMS, 1 / ITEMS)
    p = propensities(actions, logging=uniform, target=uniform)
    assert set(p.arguments()) == {"logging", "target", "chi"}
    assert list(p.to_columns()) == ["mu_1", "mu_2", "mu_3", "pi_1", "pi_2", "pi_3", "chi_1", "chi_2", "chi_3"]


def test_single_precision_is_given_room(rng: np.random.Generator, actions: Any) -> None:
    mu = distributions(rng, ROWS, SLOTS, ITEMS).astype(np.float32)
    p = propensities(actions, logging=mu, target=mu)
    np.testing.assert_allclose(p.chi["target"], 0, atol=1e-6)
    assert (p.chi["target"] >= 0).all()


UNIFORM = [0.25, 0.25, 0.25, 0.25]


@pytest.mark.parametrize("form", ["array", "table", "function"])
class TestSupport:
    """Slot 2 of context "b" shows item 3 with probability .4 and item 1 with .1, which logging never does."""

    contexts = np.array(["a", "b", "b", "b"])
    actions = np.array([[0, 0], [1, 0], [2, 2], [3, 2]])

    def policies(self, form: str) -> tuple[Any, Any]:
        mu = np.full((2, 2, 4), 0.25)
        mu[1, 1] = [0.5, 0, 0.5, 0]
        pi = np.full((2, 2, 4), 0.25)
        pi[1, 1] = [0.5, 0.1, 0.0, 0.4]
        which = (self.contexts == "b").astype(int)
        if form == "array":
            return mu[which], pi[which]
        if form == "table":
            return table_of(mu, ["a", "b"]), table_of(pi, ["a", "b"])
        return tuple((lambda batch, p=p: p[(np.asarray(batch) == "b").astype(int)]) for p in (mu, pi))  # type: ignore

    def test_error(self, form: str) -> None:
        mu, pi = self.policies(form)
        message = (
            r"target 'new' shows what logging never shows: row 2 \(context 'b'\), slot 2, item 3: probability 0.4 "
            r"under .*37.500% of a slate's actions.*on_unsupported='warn'"
        )
        with pytest.raises(slateval.InputError, match=message):
            propensities(self.actions, logging=mu, target={"new": pi}, contexts=self.contexts)

    def test_warning(self, form: str) -> None:
        mu, pi = self.policies(form)
        with pytest.warns(UserWarning, match="left out"):
            p = propensities(
                self.actions,
                logging=mu,
                target={"new": pi},
                contexts=self.contexts,
                on_unsupported="warn",
                batch_size=2,
            )
        support = p.support["new"]
        assert not support.full and support.worst is not None and "item 3" in support.worst
        np.testing.assert_allclose(support.slots, [0, 0.375])
        assert support.mass == pytest.approx(0.375)
        assert p.chi["new"][:, 1].tolist() == [0, 0, 0, 0]
        assert np.isfinite(p.chi["new"]).all()


def test_left_out_mass_bounds_the_error_of_the_estimate(rng: np.random.Generator) -> None:
    """The exact expectation of the additive weight falls short of an additive truth by at most `mass`."""
    mu = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    pi = np.array([[0.3, 0.5, 0.2], [0.1, 0.6, 0.3]])
    with pytest.warns(UserWarning):
        support = propensities([[0, 0]], logging=mu, target=pi, on_unsupported="warn").support["target"]
    for _ in range(50):
        effect = rng.random((2, 3)) / 2
        truth = (pi * effect).sum()
        estimate = sum(
            mu[0, a] * mu[1, b] * (pi[0, a] / mu[0, a] + pi[1, b] / mu[1, b] - 1) * (effect[0, a] + effect[1, b])
            for a in range(2)
            for b in range(3)
        )
        assert -1e-12 <= truth - estimate <= support.mass + 1e-12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"logging": [0.5, 0.5, 0.1, -0.1]}, r"logging: every slot, item 3: probability -0.1; it must lie in \[0, 1\]"),
        ({"logging": [0.5, 0.5, np.nan, 0]}, "item 2: probability nan"),
        ({"target": [0.5, 0.4, 0, 0]}, "target: every slot: the probabilities sum to 0.9, not 1"),
        ({"target": [[0.5, 0.5, 0, 0], UNIFORM]}, r"target: probabilities must be \(2, 3, items\)"),
        ({"target": {"new": [0.5, 0.5]}}, "target 'new': probabilities of 2 items, another policy's are of 4"),
        ({"logging": [0, 0.5, 0.5, 0]}, "row 1, slot 1: item 0 was shown, but its probability is 0"),
        ({"actions": [[0, 1, 4], [1, 1, 1]]}, "row 1, slot 3: item 4, but the policies know only items 0 to 3"),
        ({"actions": [[0, 1, -2], [1, 1, 1]]}, "row 1, slot 3: -2 is not an item"),
        ({"actions": [[0, 1, 1], [1, 1]]}, "row 2 has 2 slots where row 1 has 3; fill shorter slates with -1"),
        ({"actions": [[[0, 1]]]}, r"actions must be \(n, K\), not \(1, 1, 2\)"),
        ({"target": lambda batch: batch}, "needs `contexts`"),
        ({"target": lambda batch: np.ones((2, 4)), "contexts": [1, 2]}, r"must give .* shape \(2, 3, items\)"),
        ({"target": lambda batch: np.full((2, 3, 5), 0.2), "contexts": [1, 2]}, "5 items, where 4 are known"),
        ({"contexts": [1]}, "1 contexts for 2 rows"),
        ({"target": {"logging": UNIFORM}}, "'logging' cannot be a target's name"),
        ({"target": {}}, "at least one policy"),
        ({"on_unsupported": "ignore"}, "'error' or 'warn'"),
        ({"batch_size": 0}, "batch_size"),
        ({"target": {"item": [0], "probability": [1.0]}}, r"no column 'slot'.*Table\(frame, slot=None\)"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"actions": [[0, 1, 2], [1, 1, 1]], "logging": UNIFORM, "target": UNIFORM} | change
    with pytest.raises(slateval.InputError, match=message):
        propensities(arguments.pop("actions"), **arguments)


def test_bad_batches_are_named_by_row_and_context() -> None:
    mu = np.full((4, 1, 2), 0.5)
    mu[3, 0] = [0.5, 0.6]
    with pytest.raises(
        slateval.InputError, match=r"logging: row 4 \(context 'd'\), slot 1: the probabilities sum to 1.1, not 1"
    ):
        propensities(np.zeros((4, 1), int), logging=mu, target=[0.5, 0.5], contexts=list("abcd"), batch_size=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slot": [0, 0, 1, 1]}, "row 1 of the table: slot 0; slots count from 1 to 1"),
        ({"slot": [1.0, 1.0, 1.0, 1.0]}, "column 'slot' must hold whole numbers"),
        ({"item": [0, 0, 0, 1]}, "row 2 of the table repeats"),
        ({"probability": [0.5, 0.5, 0.5, 1.5]}, r"row 4 of the table: probability is 1.5; it must lie in \[0, 1\]"),
        ({"probability": [0.5, 0.5, 0.5, 0.4]}, r"row 2 \(context 'b'\), slot 1: the probabilities sum to 0.9, not 1"),
        ({"probability": [0.5, 0.5, 0.5]}, "column 'item' has 4 rows, column 'probability' 3"),
        ({"context": list("aacc")}, r"row 2 \(context 'b'\), slot 1: no probabilities"),
        ({"context": ["a", "a", "b", None]}, "column 'context' of the table has nulls"),
        ({"context": None}, r"no column 'context'.*Table\(frame, context=None\)"),
    ],
)
def test_bad_tables_are_named(change: dict[str, Any], message: str) -> None:
    columns: dict[str, Any] = {
        "context": list("aabb"),
        "slot": [1, 1, 1, 1],
        "item": [0, 1, 0, 1],
        "probability": [0.5, 0.5, 0.5, 0.5],
    } | change
    table = {name: values for name, values in columns.items() if values is not None}
    with pytest.raises(slateval.InputError, match=message):
        propensities([[0], [1]], logging=[0.5, 0.5], target=table, contexts=["a", "b"])


def test_a_table_with_contexts_needs_them() -> None:
    table = {"context": ["a"], "slot": [1], "item": [0], "probability": [1.0]}
    with pytest.raises(slateval.InputError, match="give `contexts` "):
        propensities([[0]], logging=table, target=table)


def test_evaluates(rng: np.random.Generator) -> None:
    pytest.importorskip("slateval._slateval", reason="the compiled module is not built")
    slateval = importlib.import_module("slateval")
    mu, pi = distributions(rng, SLOTS, ITEMS), distributions(rng, SLOTS, ITEMS)
    actions = np.stack([rng.choice(ITEMS, 4000, p=mu[k]) for k in range(SLOTS)], axis=1)
    effect = rng.random((SLOTS, ITEMS))
    reward = effect[np.arange(SLOTS), actions].sum(axis=1)
    p = propensities(actions, logging=mu, target=pi)
    ev = slateval.evaluate(reward=reward, structure="additive", **p.arguments())
    mean = ev["target"].mean
    # Six standard errors either side of the estimate: half an interval is about two.
    assert abs(mean.estimate - (pi * effect).sum()) < 3 * (mean.upper - mean.lower) / 2


@pytest.mark.filterwarnings("error")
def test_lazy_tables_are_collected() -> None:
    polars = pytest.importorskip("polars")
    table = {"slot": [1, 1], "item": [0, 1], "probability": [0.25, 0.75]}
    lazy = polars.LazyFrame(table)
    for target in (lazy, {"new": lazy}, Table(lazy, context=None)):
        p = propensities([[1], [0]], logging=lazy, target=target)
        assert p.mu.ravel().tolist() == [0.75, 0.25]


UNIFORM_OF_THREE = [1 / 3, 1 / 3, 1 / 3]
PAIRS = [[0, 1], [1, 2], [2, 0]]
COINS = Slates([[0, 0], [0, 1], [1, 0], [1, 1]], [0.12, 0.28, 0.18, 0.42])
"""Two slots that are filled independently: .4 and .6 for the first, .3 and .7 for the second."""


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (UNIFORM_OF_THREE, "independent"),
        (np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]), "independent"),
        (PlackettLuce([1.0, 0.0, -1.0]), "joint"),
        (PlackettLuce([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), "joint"),
        (UniformRanking(3), "joint"),
        (Slates(PAIRS, [0.5, 0.25, 0.25]), "joint"),
        (COINS, "independent"),
        (Slates(PAIRS, [0.0, 1.0, 0.0]), "independent"),
        (Slates(PAIRS, np.eye(3)), "independent"),
        (Slates(PAIRS, [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]]), "joint"),
    ],
)
def test_slots_that_depend_on_each_other_are_known(target: Any, expected: str) -> None:
    p = propensities(PAIRS, logging=UNIFORM_OF_THREE, target=target)
    assert p.target_slots == expected
    assert p.arguments().get("target_slots") == ("joint" if expected == "joint" else None)


def test_a_ranker_of_one_slot_has_nothing_to_depend_on() -> None:
    for target in (PlackettLuce([1.0, 0.0, -1.0]), UniformRanking(3)):
        assert propensities([[0], [2]], logging=UNIFORM_OF_THREE, target=target).target_slots == "independent"


def test_policies_over_slates_are_looked_up_slot_by_slot() -> None:
    scores = np.array([1.0, 0.0, -0.5])
    worth = np.exp(scores) / np.exp(scores).sum()
    # An item stands second if another stood first.
    second = [sum(worth[b] * worth[a] / (1 - worth[b]) for b in range(3) if b != a) for a in range(3)]
    p = propensities(PAIRS, logging=UNIFORM_OF_THREE, target={"new": PlackettLuce(scores)}, batch_size=2)
    np.testing.assert_allclose(p.pi["new"], [[worth[a], second[b]] for a, b in PAIRS])
    chi = [3 * (worth**2).sum() - 1, 3 * np.square(second).sum() - 1]
    np.testing.assert_allclose(p.chi["new"], np.tile(chi, (3, 1)))
    p = propensities([[0, 1], [1, 1], [2, 0]], logging=UNIFORM_OF_THREE, target=COINS)
    np.testing.assert_allclose(p.pi["target"], [[0.4, 0.7], [0.6, 0.7], [0.0, 0.3]])
    named = propensities([["a", "b"]], items=["a", "b", "c"], logging=UNIFORM_OF_THREE, target=UniformRanking(3))
    np.testing.assert_allclose(named.pi["target"], [[1 / 3, 1 / 3]])


def test_one_joint_target_makes_all_joint_and_this_is_said() -> None:
    targets = {"ranker": UniformRanking(3), "plain": UNIFORM_OF_THREE}
    with pytest.warns(slateval.SlatevalWarning, match="the slots of 'ranker' depend .* evaluate 'plain' apart"):
        p = propensities(PAIRS, logging=UNIFORM_OF_THREE, target=targets)
    assert p.target_slots == "joint" and p.arguments()["target_slots"] == "joint"


@pytest.mark.filterwarnings("error")
def test_the_user_has_the_last_word() -> None:
    p = propensities(PAIRS, logging=UNIFORM_OF_THREE, target=UNIFORM_OF_THREE, target_slots="joint")
    assert p.arguments()["target_slots"] == "joint"
    targets = {"ranker": UniformRanking(3), "plain": UNIFORM_OF_THREE}
    p = propensities(PAIRS, logging=UNIFORM_OF_THREE, target=targets, target_slots="independent")
    assert "target_slots" not in p.arguments()
    with pytest.raises(slateval.InputError, match="target_slots must be 'independent' or 'joint', not 'sideways'"):
        propensities(PAIRS, logging=UNIFORM_OF_THREE, target=UNIFORM_OF_THREE, target_slots="sideways")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("actions", "logging", "target", "message"),
    [
        (PAIRS, UniformRanking(3), UNIFORM_OF_THREE, "logging: .* use slateval.weights.pseudo_inverse"),
        (PAIRS, UNIFORM_OF_THREE, Sampler(lambda c, n, r: None, 3), "target: a Sampler can only be drawn from; give"),
        ([[0, -1], [1, 2]], UNIFORM_OF_THREE, UniformRanking(3), "slates of one length"),
        (PAIRS, UNIFORM_OF_THREE, Slates([[0, 3]], [1.0]), "target: item 3, but others know only 0 to 2"),
        (PAIRS, UNIFORM_OF_THREE, PlackettLuce(np.zeros(60_000)), "of 60,000 sets of items, 50,000 are the most"),
        (PAIRS, UNIFORM_OF_THREE, UniformRanking(1), "needs at least as many items"),
    ],
)
def test_policies_over_slates_that_cannot_be_used(actions: Any, logging: Any, target: Any, message: str) -> None:
    with pytest.raises(slateval.InputError, match=message):
        propensities(actions, logging=logging, target=target)


def test_a_ranker_is_evaluated_as_joint() -> None:
    rng = np.random.default_rng(1)
    actions = rng.integers(0, 3, (4000, 2))
    # One slot, by chance, decides: an additive CDF.
    reward = np.where(rng.random(4000) < 0.5, actions[:, 0], 2 - actions[:, 1]) + rng.integers(0, 10, 4000) / 10
    p = propensities(actions, logging=UNIFORM_OF_THREE, target=PlackettLuce([0.5, 0.0, -0.5]))
    ev = slateval.evaluate(reward=reward, **p.arguments())
    mean = ev["target"].mean
    assert ev.settings["target_slots"] == "joint" and mean.conditional and mean.lower is None
    assert f"{mean:.3f}".endswith(")?") and ")?" in repr(ev["target"])
    assert "for a target whose slots depend on each other" in str(mean.reason)
    assert "Taken for granted" not in str(ev)
    other = slateval.evaluate(reward=reward, **p.arguments() | {"target_slots": "independent"})
    assert other.settings["target_slots"] == "independent" and other["target"].mean.lower is not None
    assert "Taken for granted: the target fills its slots independently" in " ".join(str(other).split())


def test_every_frame_may_be_lazy() -> None:
    polars = pytest.importorskip("polars")
    actions = polars.LazyFrame({"first": [0, 1], "second": [1, 0]})
    table = polars.LazyFrame(
        {"context": ["a", "a", "b", "b"], "item": [0, 1, 0, 1], "probability": [0.3, 0.7, 0.6, 0.4]}
    )
    contexts = polars.LazyFrame({"context": ["a", "b"]})
    lazy = propensities(
        actions, logging=np.full((2, 2), 0.5), target=lambda c: np.full((len(c), 2, 2), 0.5), contexts=contexts
    )
    assert lazy.mu.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    eager = propensities(
        [[0, 1], [1, 0]], logging=Table(table, slot=None), target=Table(table, slot=None), contexts=["a", "b"]
    )
    assert eager.mu.tolist() == [[0.3, 0.7], [0.4, 0.6]]


def test_propensities_are_shown_in_lines_and_become_a_frame() -> None:
    p = propensities(PAIRS, logging=UNIFORM_OF_THREE, target={"new": UNIFORM_OF_THREE})
    assert repr(p).splitlines()[0] == "<Propensities: 3 slates of up to 2 slots, logging 0.333 to 0.333"
    assert repr(p).endswith("new: 0.333 to 0.333, logging shows all of it>")
    frame = p.to_pandas()
    assert list(frame) == list(p.to_columns()) and len(frame) == 3
