"""Rows of pandas arguments are put together by their indexes, or refused; never by position against them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import slateval
from slateval.compat.obp import from_bandit_feedback
from slateval.compat.scope_rl import from_logged_dataset
from slateval.propensities import Table
from slateval.weights import PlackettLuce, Sampler, Slates, UniformRanking, pseudo_inverse

ROWS = 400
RANDOM = np.random.default_rng(7)
SHUFFLED = RANDOM.permutation(ROWS)
ITEMS = RANDOM.integers(0, 2, size=(ROWS, 2))
LOG = pd.DataFrame(
    {"mu_1": 0.5, "mu_2": 0.5, "pi_1": 0.9 - 0.8 * ITEMS[:, 0], "pi_2": 0.8 - 0.6 * ITEMS[:, 1]},
    index=[f"slate {row}" for row in range(ROWS)],
)
LOG["reward"] = 1.0 - ITEMS.mean(axis=1) + RANDOM.normal(0, 0.1, ROWS)
LOG["device"] = np.where(ITEMS[:, 0] == 1, "phone", "web")
LOG["user"] = np.arange(ROWS) // 2
MU, PI = LOG[["mu_1", "mu_2"]], LOG[["pi_1", "pi_2"]]


def arguments(**changed: Any) -> dict[str, Any]:
    return {"reward": LOG["reward"], "logging": MU, "target": PI, **changed}


def evaluated(**changed: Any) -> str:
    return slateval.evaluate(**arguments(**changed)).to_json()


CHI = PI**2 / 0.5
ARGUMENTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "logging": (MU * np.linspace(0.5, 1, ROWS)[:, None], {}),
    "target": (PI, {}),
    "chi": (CHI, {}),
    "anywhere": (0.9 + PI * np.linspace(0, 0.1, ROWS)[:, None], {"structure": "ranking:5"}),
    "weight": (LOG["pi_1"] / 0.5, {"structure": "given", "logging": None, "target": None}),
    "by": (LOG["device"], {}),
    "cluster": (LOG["user"], {}),
}


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_the_same_labels_in_another_order_are_aligned(argument: str) -> None:
    value, settings = ARGUMENTS[argument]
    in_order = evaluated(**settings, **{argument: value})
    assert evaluated(**settings, **{argument: value.iloc[SHUFFLED]}) == in_order
    # A wrong order would have been noticed: without labels, rows are put together by position.
    assert evaluated(**settings, **{argument: value.iloc[SHUFFLED].to_numpy()}) != in_order


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_other_labels_are_refused(argument: str) -> None:
    value, settings = ARGUMENTS[argument]
    other = value.set_axis([f"slate {row + 1}" for row in range(ROWS)], axis=0)
    with pytest.raises(slateval.InputError) as caught:
        evaluated(**settings, **{argument: other})
    message = str(caught.value)
    assert f"reward and {argument} have different pandas indexes: 1 of the 400 labels" in message, message
    assert "'slate 0'" in message and ".to_numpy()" in message and ".reset_index(drop=True)" in message, message


def test_several_arrays_in_one_argument_are_aligned_one_by_one() -> None:
    by = {"device": LOG["device"], "user": (LOG["user"] // 100).rename("group")}
    plain = evaluated(target={"a": PI, "b": MU}, by=by)
    shuffled = {name: column.iloc[SHUFFLED] for name, column in by.items()}
    assert evaluated(target={"a": PI.iloc[SHUFFLED], "b": MU.iloc[SHUFFLED]}, by=shuffled) == plain
    assert evaluated(target={"a": PI, "b": MU}, by=LOG[["device"]].iloc[SHUFFLED]) == evaluated(
        target={"a": PI, "b": MU}, by=LOG[["device"]]
    )
    listed = [column.iloc[SHUFFLED] for column in by.values()]
    assert evaluated(by=listed) == evaluated(by=list(by.values()))
    with pytest.raises(slateval.InputError, match=r"reward and target\['b'\] have different pandas indexes"):
        evaluated(target={"a": PI, "b": MU.reset_index(drop=True)})


def test_repeated_labels_are_refused_unless_they_are_in_the_same_order() -> None:
    labels = ["a", "b"] * (ROWS // 2)
    reward, mu = LOG["reward"].set_axis(labels), MU.set_axis(labels, axis=0)
    assert evaluated(reward=reward, logging=mu, target=PI.to_numpy()) == evaluated()
    with pytest.raises(slateval.InputError, match="repeated labels in different orders"):
        evaluated(reward=reward, logging=mu.set_axis(labels[::-1], axis=0), target=PI.to_numpy())


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("aab", "xxy", "3 of the 3 labels of reward, such as 'a', are not in the index of logging"),
        ("aab", "abc", "1 of the 3 labels of logging, such as 'c', are not in the index of reward"),
        ("abc", "aab", "1 of the 3 labels of reward, such as 'c', are not in the index of logging"),
        ("aab", "abb", "the label 'a' stands for 2 of the rows of reward, and for 1 of the rows of logging"),
    ],
)
def test_repeated_labels_that_differ_are_said_to_differ(first: str, second: str, message: str) -> None:
    reward, mu = pd.Series(1.0, list(first)), pd.Series(0.5, list(second))
    with pytest.raises(slateval.InputError) as caught:
        slateval.evaluate(reward=reward, logging=mu, target=np.full(3, 0.5))
    found = str(caught.value)
    assert f"reward and logging have different pandas indexes: {message}. If" in found, found
    assert "order" not in found.partition(". ")[0], found


def test_what_has_no_index_stays_as_it_is() -> None:
    in_order = evaluated()
    assert evaluated(logging=MU.to_numpy(), target=PI.to_numpy().tolist()) == in_order
    assert (
        evaluated(reward=LOG["reward"].to_numpy(), logging=MU, target=PI.reset_index(drop=True).to_numpy()) == in_order
    )
    shorter = MU.iloc[:-1]
    with pytest.raises(slateval.InputError, match="different numbers of rows: reward 400, logging 399"):
        evaluated(logging=shorter)


def test_equal_ranges_are_not_compared_label_by_label(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the labels of a range were looked at")

    plain = [frame.reset_index(drop=True) for frame in (LOG["reward"], MU, PI)]
    for method in ("get_indexer", "is_unique", "to_numpy", "__array__", "_data"):
        monkeypatch.setattr(pd.RangeIndex, method, property(refuse) if method in ("is_unique", "_data") else refuse)
    slateval.evaluate(reward=plain[0], logging=plain[1], target=plain[2])


def test_dicts_of_columns_are_aligned() -> None:
    columns = {name: LOG[name] for name in ("reward", "mu_1", "mu_2", "pi_1", "pi_2", "device")}
    shuffled = columns | {"pi_1": LOG["pi_1"].iloc[SHUFFLED], "device": LOG["device"].iloc[SHUFFLED]}
    assert slateval.evaluate(shuffled, by="device").to_json() == slateval.evaluate(columns, by="device").to_json()
    summary = slateval.Summary()
    with pytest.raises(slateval.InputError, match="reward and pi_1 have different pandas indexes"):
        summary.add(columns | {"pi_1": LOG["pi_1"].reset_index(drop=True)})


def test_policies_are_read_in_the_order_of_the_actions() -> None:
    actions = pd.DataFrame(ITEMS, index=LOG.index)
    users = pd.Series(ITEMS[:, 0] * 2 + ITEMS[:, 1], LOG.index)
    scores = pd.DataFrame(RANDOM.normal(size=(ROWS, 3)), LOG.index)
    table = {"context": [0, 0, 1, 1, 2, 2, 3, 3], "item": [0, 1] * 4, "probability": [0.5, 0.5, 0.4, 0.6] * 2}
    uniform = np.full(2, 0.5)

    def pi(contexts: Any) -> Any:
        return slateval.propensities(actions, contexts=contexts, logging=uniform, target=Table(table, slot=None)).pi

    assert (pi(users.iloc[SHUFFLED])["target"] == pi(users)["target"]).all()
    with pytest.raises(slateval.InputError, match="actions and contexts have different pandas indexes"):
        pi(users.reset_index(drop=True))
    logging = np.full(3, 1 / 3)
    known = slateval.propensities(actions, logging=logging, target=PlackettLuce(scores))
    again = slateval.propensities(actions, logging=logging, target=PlackettLuce(scores.iloc[SHUFFLED]))
    assert (known.pi["target"] == again.pi["target"]).all()
    columns = {name: pd.Series(values) for name, values in table.items()}
    reordered = columns | {"probability": columns["probability"].iloc[::-1]}
    assert (Table(reordered).column("probability") == table["probability"]).all()
    estimated = slateval.estimate_propensities(actions, users.iloc[SHUFFLED])
    assert (estimated.mu == slateval.estimate_propensities(actions, users).mu).all()


ACTIONS = pd.DataFrame(ITEMS, LOG.index, ["first", "second"])
USERS = pd.Series(ITEMS[:, 0] * 2 + RANDOM.integers(0, 2, ROWS), LOG.index)


def known(actions: Any) -> slateval.Propensities:
    return slateval.propensities(
        actions, logging=[[0.6, 0.4], [0.3, 0.7]], target={"a": [[0.9, 0.1], [0.8, 0.2]], "b": [0.5, 0.5]}
    )


def test_propensities_are_matched_with_rewards_by_the_index_of_the_actions() -> None:
    reward, shuffled = LOG["reward"], known(ACTIONS.iloc[SHUFFLED])
    in_order = slateval.evaluate(reward=reward, **known(ACTIONS).arguments()).to_json()
    assert slateval.evaluate(reward=reward, **shuffled.arguments()).to_json() == in_order
    assert slateval.inspect(reward=reward, **shuffled.arguments()).to_dict() == (
        slateval.inspect(reward=reward, **known(ACTIONS).arguments()).to_dict()
    )
    # Without labels on either side, rows are put together by position.
    assert slateval.evaluate(reward=reward, **known(ITEMS).arguments()).to_json() == in_order
    by_position = slateval.evaluate(reward=reward, **known(ITEMS[SHUFFLED]).arguments()).to_json()
    assert by_position != in_order
    assert slateval.evaluate(reward=reward.to_numpy(), **shuffled.arguments()).to_json() == by_position
    with pytest.raises(slateval.InputError, match=r"reward and logging have different pandas indexes.*\.to_numpy\(\)"):
        slateval.evaluate(reward=reward, **known(ACTIONS.reset_index(drop=True)).arguments())
    slot = ACTIONS["first"]
    one, other = (slateval.propensities(s, logging=[0.6, 0.4], target=[0.9, 0.1]) for s in (slot, slot.iloc[SHUFFLED]))
    found = [slateval.evaluate(reward=reward, **p.arguments()).to_json() for p in (one, other)]
    assert found[0] == found[1]


def test_propensities_keep_the_index_of_the_actions() -> None:
    p, shuffled = known(ACTIONS), known(ACTIONS.iloc[SHUFFLED])
    arrays = [p.mu, *p.pi.values(), *p.chi.values(), *p.to_columns().values()]
    assert all(type(values) is np.ndarray for values in arrays)
    pd.testing.assert_frame_equal(shuffled.to_pandas().loc[LOG.index], p.to_pandas())
    assert p.to_pandas().index.equals(LOG.index)
    assert isinstance(known(ITEMS).to_pandas().index, pd.RangeIndex)
    frame = pl.DataFrame(ITEMS, schema=["first", "second"])
    for actions in (ITEMS, frame, frame.lazy()):
        given = known(actions).arguments()
        assert type(given["logging"]) is np.ndarray and type(given["target"]["a"]) is np.ndarray
    # Contexts tell the labels where actions have none: rows of both are in the same order.
    table = Table({"context": [0, 1, 2, 3] * 2, "item": [0] * 4 + [1] * 4, "probability": [0.5] * 8}, slot=None)
    by_user = slateval.propensities(ITEMS, contexts=USERS, logging=table, target=table)
    assert by_user.to_pandas().index.equals(LOG.index)
    # A list of Series is a list of rows here, whose labels are those of slots.
    rows = slateval.propensities([ACTIONS.iloc[0], ACTIONS.iloc[1]], logging=[0.5, 0.5], target=[0.5, 0.5])
    assert type(rows.arguments()["logging"]) is np.ndarray


def test_estimated_propensities_are_matched_by_the_index_of_the_actions() -> None:
    reward, target = LOG["reward"], {"new": [[0.9, 0.1], [0.8, 0.2]]}
    estimated = slateval.estimate_propensities(ACTIONS, USERS)
    shuffled = slateval.estimate_propensities(ACTIONS.iloc[SHUFFLED], USERS)
    assert type(shuffled.mu) is np.ndarray and (shuffled.mu == estimated.mu[SHUFFLED]).all()
    pd.testing.assert_frame_equal(shuffled.to_pandas().loc[LOG.index], estimated.to_pandas())
    with pytest.warns(slateval.SlatevalWarning, match="estimated"):
        in_order = slateval.evaluate(reward=reward, target=PI, **estimated.arguments()).to_json()
        assert slateval.evaluate(reward=reward, target=PI, **shuffled.arguments()).to_json() == in_order
    p = slateval.propensities(ACTIONS, logging=estimated, target=target)
    for logging in (shuffled, slateval.estimate_propensities(ITEMS, USERS.to_numpy())):
        again = slateval.propensities(ACTIONS, logging=logging, target=target)
        assert (again.mu == estimated.mu).all() and (again.chi["new"] == p.chi["new"]).all()
        assert again.to_pandas().index.equals(LOG.index)
    # Actions without labels are in the order of the estimate's rows, and so get its labels.
    plain = slateval.propensities(ITEMS[SHUFFLED], logging=shuffled, target=target)
    pd.testing.assert_frame_equal(plain.to_pandas().loc[LOG.index], p.to_pandas())
    other = slateval.estimate_propensities(ACTIONS.reset_index(drop=True), USERS.to_numpy())
    with pytest.raises(slateval.InputError, match="actions and logging have different pandas indexes"):
        slateval.propensities(ACTIONS, logging=other, target=target)
    with pytest.raises(slateval.InputError, match="logging was estimated from 399 slates"):
        slateval.propensities(ACTIONS, logging=slateval.estimate_propensities(ACTIONS.iloc[1:]), target=target)


def test_given_weights_are_matched_with_rewards_by_the_index_of_the_actions() -> None:
    actions = ACTIONS.assign(second=2)
    in_order, shuffled = (
        pseudo_inverse(shown, UniformRanking(3), [0, 2]) for shown in (actions, actions.iloc[SHUFFLED])
    )
    assert type(shuffled.weights) is np.ndarray and (shuffled.weights == in_order.weights[SHUFFLED]).all()
    expected = slateval.evaluate(reward=LOG["reward"], weight=in_order.weights, structure="given").to_json()
    for w in (in_order, shuffled):
        assert slateval.evaluate(reward=LOG["reward"], **w.arguments()).to_json() == expected
    with pytest.raises(slateval.InputError, match="reward and weight have different pandas indexes"):
        slateval.evaluate(reward=LOG["reward"].reset_index(drop=True), **shuffled.arguments())


def test_weights_are_of_the_rows_of_the_actions() -> None:
    rows = np.array([[0, 1], [1, 0], [2, 0], [1, 2]])
    labels, order = ["a", "b", "c", "d"], [2, 0, 3, 1]
    actions = pd.DataFrame(rows, labels)
    scores = pd.DataFrame(RANDOM.normal(size=(4, 3)), labels)
    shown = pd.DataFrame([[0, 1], [1, 2], [2, 1], [0, 2]], labels)
    known = pseudo_inverse(actions, PlackettLuce(scores), shown).weights
    assert (pseudo_inverse(actions, PlackettLuce(scores.iloc[order]), shown.iloc[order]).weights == known).all()
    all_slates = [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    chances = pd.DataFrame(RANDOM.dirichlet(np.ones(6), 4), labels)
    of = [pseudo_inverse(actions, Slates(all_slates, p), shown).weights for p in (chances, chances.iloc[order])]
    assert (of[0] == of[1]).all()

    def draw(context: Any, size: int, rng: np.random.Generator) -> Any:
        return np.argsort(rng.random((size, 3)) + context * np.arange(3), axis=1)[:, :2]

    contexts = pd.Series([0.0, 0.1, 0.2, 0.3], labels)
    samplers = [Sampler(draw, 3, contexts), Sampler(draw, 3, contexts.iloc[order])]
    drawn = [pseudo_inverse(actions, sampler, shown, samples=2000).weights for sampler in samplers]
    assert (drawn[0] == drawn[1]).all()


def test_feedback_of_other_libraries_is_aligned() -> None:
    index = [f"row {row}" for row in range(4)]
    feedback = {
        "slate_id": pd.Series([0, 0, 1, 1], index),
        "position": pd.Series([0, 1, 0, 1], index),
        "reward": pd.Series([1.0, 0.0, 1.0, 1.0], index),
        "pscore_item_position": pd.Series([0.5, 0.4, 0.3, 0.2], index),
    }
    target = pd.Series([0.2, 0.5, 0.8, 0.4], index)
    found = from_bandit_feedback(feedback, evaluation_policy_pscore_item_position=target.iloc[[2, 0, 3, 1]])
    assert found.target is not None
    assert found.target.tolist() == [[0.2, 0.5], [0.8, 0.4]]
    with pytest.raises(slateval.InputError, match="different pandas indexes"):
        from_bandit_feedback(feedback, evaluation_policy_pscore_item_position=target.reset_index(drop=True))
    dataset = {
        "step_per_trajectory": 2,
        "action": pd.Series([0, 1, 1, 1], index),
        "reward": pd.Series([1.0, 2.0, 0.0, 4.0], index),
        "pscore": pd.Series([0.5, 0.5, 0.5, 0.25], index).iloc[[3, 2, 1, 0]],
    }
    chances = pd.DataFrame([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1], [0.3, 0.7]], index)
    trajectories = from_logged_dataset(dataset, chances.iloc[[1, 0, 3, 2]])
    assert trajectories.logging.tolist() == [[0.5, 0.5], [0.5, 0.25]]
    assert trajectories.target["target"].tolist() == [[0.9, 0.8], [0.1, 0.7]]


def test_actions_of_one_slot_may_have_one_dimension() -> None:
    shown = np.array([0, 1, 1, 0])
    mu, pi = np.array([0.4, 0.6]), np.array([0.9, 0.1])
    wide = slateval.propensities(shown[:, None], logging=mu, target=pi)
    for actions in (shown, shown.tolist(), pd.Series(shown), np.ma.array(shown)):
        flat = slateval.propensities(actions, logging=mu, target=np.tile(pi, (4, 1)))
        assert (flat.mu == wide.mu).all() and (flat.pi["target"] == wide.pi["target"]).all()
    named = slateval.propensities(["a", "b"], items=["a", "b"], logging=mu, target=pi)
    assert named.mu.tolist() == [[0.4], [0.6]]
    assert slateval.estimate_propensities(shown).mu.shape == (4, 1)
    with pytest.raises(slateval.InputError, match="fill shorter slates with -1"):
        slateval.propensities([[0, 1], [1]], logging=mu, target=pi)
