"""Other libraries' data as ours, and our estimators within theirs."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import slateval
from slateval._marginals import target_marginals
from slateval._slates import Effort
from slateval.compat.obp import SlateAuto, SlateOrder, SlateSUnO, SlateUnO, from_bandit_feedback
from slateval.compat.scope_rl import from_logged_dataset
from slateval.weights import PlackettLuce

# What obp 0.4.1 gave for SyntheticSlateBanditDataset(n_unique_action=3, len_list=2, is_factorizable=True,
# random_state=1), six rounds, and for its epsilon-greedy "optimal" evaluation policy, whose slots depend on each other.
LOW, MIDDLE, HIGH = 0.28483575694988317, 0.32982237063731634, 0.38534187241280055
FEEDBACK: dict[str, Any] = {
    "slate_id": np.repeat(np.arange(6), 2),
    "position": np.tile([0, 1], 6),
    "reward": np.array([0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1]),
    "pscore": np.repeat([LOW * LOW, MIDDLE * MIDDLE, HIGH * MIDDLE, MIDDLE * MIDDLE, LOW * LOW, LOW * MIDDLE], 2),
    "pscore_item_position": np.array([LOW, LOW, MIDDLE, MIDDLE, HIGH, MIDDLE, MIDDLE, MIDDLE, LOW, LOW, LOW, MIDDLE]),
}
EVALUATION: dict[str, Any] = {
    "evaluation_policy_pscore": np.repeat([1 / 30, 1 / 30, 1 / 30, 1 / 30, 11 / 15, 1 / 30], 2),
    "evaluation_policy_pscore_item_position": np.array([0.1] * 8 + [0.8, 0.8, 0.8, 0.1]),
}
STANDARD_IPS = 3.3374793615700136


@dataclass
class Interval:
    estimate: float
    lower: float | None
    upper: float | None


@dataclass
class Policy:
    mean: Interval


class Plain:
    """A few lines in place of the compiled module: uncorrected weights by definition; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}

    def __call__(self, *, reward: Any, structure: str, correction: str, band: str, **rest: Any) -> dict[str, Policy]:
        self.asked = {"structure": structure, "correction": correction, "band": band, **rest}
        samples = reward * self.weight(structure, **rest)
        half = 2 * samples.std() / np.sqrt(samples.size)
        mean = float(samples.mean())
        bounds = (None, None) if band == "none" else (mean - half, mean + half)
        return {"target": Policy(Interval(mean, *bounds))}

    @staticmethod
    def weight(structure: str, weight: Any = None, logging: Any = None, target: Any = None, **_: Any) -> Any:
        if structure == "given":
            return weight
        ratio = np.where(np.isnan(logging), 1, target / logging)
        return ratio.prod(axis=1) if structure == "product" else 1 + (ratio - 1).sum(axis=1)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Plain:
    engine = Plain()
    monkeypatch.setattr(importlib.import_module("slateval"), "evaluate", engine, raising=False)
    return engine


@pytest.fixture(params=["plain", "compiled"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "plain":
        request.getfixturevalue("plain")
    else:
        pytest.importorskip("slateval._slateval", reason="the compiled module is not built")
    return str(request.param)


class TestFeedback:
    """Long arrays as slates."""

    def test_one_row_per_slate(self) -> None:
        slates = from_bandit_feedback(FEEDBACK, **EVALUATION)
        assert slates.slots == 2
        assert slates.reward.tolist() == [1, 1, 1, 2, 2, 1]
        assert slates.logging is not None and slates.weight is not None
        np.testing.assert_array_equal(slates.logging[2], [HIGH, MIDDLE])
        np.testing.assert_allclose(slates.weight[4], 11 / 15 / LOW**2)
        assert not slates.logging_is_joint and slates.target_is_joint
        assert slates.arguments()["target_slots"] == "joint" and "structure" not in slates.arguments()

    def test_any_order_of_rows(self) -> None:
        order = np.random.default_rng(0).permutation(12)
        shuffled = {name: values[order] for name, values in FEEDBACK.items()}
        evaluation = {name: values[order] for name, values in EVALUATION.items()}
        expected, slates = from_bandit_feedback(FEEDBACK, **EVALUATION), from_bandit_feedback(shuffled, **evaluation)
        for name in ("slate_id", "reward", "logging", "target", "weight"):
            np.testing.assert_array_equal(getattr(slates, name), getattr(expected, name))

    def test_slates_of_different_lengths(self) -> None:
        keep = np.arange(12) != 3
        part = {name: values[keep] for name, values in FEEDBACK.items() if name != "pscore"}
        slates = from_bandit_feedback(
            part, evaluation_policy_pscore_item_position=EVALUATION["evaluation_policy_pscore_item_position"][keep]
        )
        assert slates.logging is not None and slates.target is not None
        np.testing.assert_array_equal(slates.logging[1], [MIDDLE, np.nan])
        np.testing.assert_array_equal(slates.target[1], [0.1, np.nan])
        assert slates.reward[1] == 0
        assert "structure" not in slates.arguments() and "target_slots" not in slates.arguments()

    def test_a_ranker_is_recognised(self) -> None:
        """Two of three items without repeats: 1/3 in each slot, 1/6 for the slate."""
        uniform = FEEDBACK | {"pscore": np.full(12, 1 / 6), "pscore_item_position": np.full(12, 1 / 3)}
        slates = from_bandit_feedback(uniform, **EVALUATION)
        assert slates.logging_is_joint
        assert slates.arguments()["structure"] == "given"
        items = "evaluation_policy_pscore_item_position"
        with pytest.raises(slateval.InputError, match="pseudo_inverse"):
            from_bandit_feedback(uniform, **{items: EVALUATION[items]}).arguments()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"position": np.zeros(12, int)}, "slate 0 has position 0 twice"),
            ({"position": np.zeros(12)}, "position must be whole numbers"),
            ({"slate_id": np.zeros(3)}, "slate_id must have 12 rows"),
            ({"reward": np.full(12, np.nan)}, "reward: row 1 is not a finite number"),
            ({"pscore_item_position": np.zeros(12)}, r"pscore_item_position: row 1 is 0.0; it must lie in \(0, 1\]"),
            ({"pscore": np.linspace(0.1, 0.2, 12)}, "pscore: slate 0 has different values"),
            ({"pscore": np.ones(3)}, "pscore must have 12 rows as reward has, it has 3"),
            ({"pscore": None, "pscore_item_position": None}, "give pscore_item_position with"),
        ],
    )
    def test_bad_input_is_named(self, change: dict[str, Any], message: str) -> None:
        with pytest.raises(slateval.InputError, match=message):
            from_bandit_feedback(FEEDBACK | change, **EVALUATION)


class TestEstimators:
    """The interface of OBP's slate estimators."""

    def test_the_product_weight_is_standard_ips(self, engine: str) -> None:
        value = SlateUnO(len_list=2).estimate_policy_value(**FEEDBACK, **EVALUATION)
        assert value == pytest.approx(STANDARD_IPS, rel=1e-12)

    def test_the_product_of_slots_is_standard_ips_if_they_are_independent(self, engine: str) -> None:
        items = "evaluation_policy_pscore_item_position"
        whole = np.repeat(EVALUATION[items].reshape(-1, 2).prod(axis=1), 2)
        long = {name: values for name, values in FEEDBACK.items() if name != "pscore"}
        by_slots = SlateUnO().estimate_policy_value(**long, **{items: EVALUATION[items]})
        by_slates = SlateUnO().estimate_policy_value(**FEEDBACK, evaluation_policy_pscore=whole)
        expected = np.sum(FEEDBACK["reward"] * whole / FEEDBACK["pscore"]) / 6
        assert by_slots == pytest.approx(expected, rel=1e-12)
        assert by_slates == pytest.approx(expected, rel=1e-12)

    def test_the_additive_weight(self, engine: str) -> None:
        ratio = EVALUATION["evaluation_policy_pscore_item_position"] / FEEDBACK["pscore_item_position"]
        weight = ratio.reshape(-1, 2).sum(axis=1) - 1
        expected = np.mean(weight * FEEDBACK["reward"].reshape(-1, 2).sum(axis=1))
        assert SlateSUnO().estimate_policy_value(**FEEDBACK, **EVALUATION) == pytest.approx(expected, rel=1e-12)

    def test_intervals_have_obps_keys(self, plain: Plain) -> None:
        interval = SlateSUnO().estimate_interval(
            **FEEDBACK, **EVALUATION, alpha=0.1, n_bootstrap_samples=10, random_state=5
        )
        assert list(interval) == ["mean", "90.0% CI (lower)", "90.0% CI (upper)"]
        assert interval["90.0% CI (lower)"] < interval["mean"] < interval["90.0% CI (upper)"]
        assert plain.asked["confidence"] == 0.9 and plain.asked["seed"] == 5 and plain.asked["band"] == "multiplier"

    def test_an_interval_that_is_withheld_is_nan(self, plain: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
        withheld = {"target": Policy(Interval(1.0, None, None))}
        monkeypatch.setattr(importlib.import_module("slateval"), "evaluate", lambda **_: withheld, raising=False)
        with pytest.warns(UserWarning, match="suno: no interval: the log is not worth enough rows"):
            interval = SlateSUnO().estimate_interval(**FEEDBACK, **EVALUATION)
        assert interval["mean"] == 1 and np.isnan(interval["95.0% CI (lower)"])

    def test_settings(self, plain: Plain) -> None:
        """Slots of the recorded evaluation policy depend on each other: only the additive weight may use them."""
        SlateAuto().estimate_policy_value(**FEEDBACK, **EVALUATION)
        assert (plain.asked["structure"], plain.asked["correction"]) == ("auto", "auto")
        assert plain.asked["target_slots"] == "joint"
        independent = {name: values for name, values in EVALUATION.items() if name.endswith("position")}
        SlateAuto().estimate_policy_value(**FEEDBACK, **independent)
        assert plain.asked["structure"] == "auto"
        SlateOrder(order=2).estimate_policy_value(**FEEDBACK, **independent)
        assert plain.asked["structure"] == "order:2"
        assert [e.estimator_name for e in (SlateSUnO(), SlateUnO(), SlateOrder(), SlateAuto())] == [
            "suno",
            "uno",
            "order:2",
            "slateval",
        ]

    def test_dependent_slots_are_refused_where_they_matter(self, plain: Plain) -> None:
        uniform = FEEDBACK | {"pscore": np.full(12, 1 / 6), "pscore_item_position": np.full(12, 1 / 3)}
        with pytest.raises(slateval.InputError, match="suno: the logging policy's slots depend on each other"):
            SlateSUnO().estimate_policy_value(**uniform, **EVALUATION)
        with pytest.warns(UserWarning, match="suno is biased"):
            SlateSUnO(on_joint="warn").estimate_policy_value(**uniform, **EVALUATION)
        SlateUnO().estimate_policy_value(**uniform, **EVALUATION)
        with pytest.raises(slateval.InputError, match="order:2: the evaluation policy's slots depend on each other"):
            SlateOrder(order=2).estimate_policy_value(**FEEDBACK, **EVALUATION)
        SlateOrder(order=1).estimate_policy_value(**FEEDBACK, **EVALUATION)

    def test_bad_input_is_named(self, plain: Plain) -> None:
        with pytest.raises(slateval.InputError, match="2 different positions, but len_list is 1"):
            SlateSUnO(len_list=1).estimate_policy_value(**FEEDBACK, **EVALUATION)
        with pytest.raises(slateval.InputError, match="suno needs pscore_item_position"):
            SlateSUnO().estimate_policy_value(
                **FEEDBACK, evaluation_policy_pscore=EVALUATION["evaluation_policy_pscore"]
            )
        with pytest.raises(slateval.InputError, match="order must be at least 1"):
            SlateOrder(order=0)


class Stub(ModuleType):
    """Stands for torch, which OBP imports and its slate estimators do not use."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


@pytest.fixture(scope="module")
def obp() -> Iterator[Any]:
    stubs = []
    if importlib.util.find_spec("torch") is None:
        for name in ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data"):
            stubs.append(name)
            sys.modules[name] = Stub(name)
            parent, _, child = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, sys.modules[name])
    try:
        importlib.import_module("obp.dataset")
        importlib.import_module("obp.ope")
        yield importlib.import_module("obp")
    except Exception as error:
        pytest.skip(f"obp cannot be imported: {error!r}")
    finally:
        for name in stubs:
            sys.modules.pop(name, None)


@pytest.mark.filterwarnings("ignore")
class TestWithinObp:
    """obp 0.4.1 itself: `pip install --no-deps obp==0.4.1`."""

    @staticmethod
    def dataset(obp: Any, independent: bool) -> Any:
        return obp.dataset.SyntheticSlateBanditDataset(
            n_unique_action=4,
            len_list=3,
            dim_context=2,
            reward_type="binary",
            reward_structure="independent",
            click_model=None,
            behavior_policy_function=obp.dataset.linear_behavior_policy_logit,
            base_reward_function=obp.dataset.logistic_reward_function,
            is_factorizable=independent,
            random_state=1,
        )

    def data(self, obp: Any, independent: bool) -> tuple[Any, dict[str, Any]]:
        dataset = self.dataset(obp, independent)
        feedback = dataset.obtain_batch_bandit_feedback(n_rounds=200, return_pscore_item_position=True)
        pscores = dataset.generate_evaluation_policy_pscore(
            evaluation_policy_type="optimal", context=feedback["context"], epsilon=0.5, action=feedback["action"]
        )
        names = ("", "_item_position", "_cascade")
        keys = [f"evaluation_policy_pscore{name}" for name in names]
        return feedback, dict(zip(keys, pscores, strict=True))

    @pytest.mark.parametrize("independent", [True, False])
    def test_standard_ips_is_the_product_weight(self, obp: Any, engine: str, independent: bool) -> None:
        feedback, evaluation = self.data(obp, independent)
        ope = obp.ope.SlateOffPolicyEvaluation(
            bandit_feedback=feedback, ope_estimators=[obp.ope.SlateStandardIPS(len_list=3), SlateUnO(len_list=3)]
        )
        values = ope.estimate_policy_values(**evaluation)
        assert values["uno"] == pytest.approx(values["sips"], rel=1e-12)

    def test_estimators_stand_beside_obps(self, obp: Any, engine: str) -> None:
        feedback, evaluation = self.data(obp, independent=True)
        ope = obp.ope.SlateOffPolicyEvaluation(
            bandit_feedback=feedback,
            ope_estimators=[obp.ope.SlateIndependentIPS(len_list=3), SlateSUnO(len_list=3), SlateAuto(len_list=3)],
        )
        values, intervals = ope.summarize_off_policy_estimates(**evaluation, random_state=0)
        assert list(values.index) == list(intervals.index) == ["iips", "suno", "slateval"]
        assert intervals.columns.tolist() == ["mean", "95.0% CI (lower)", "95.0% CI (upper)"]
        finite = np.isfinite(intervals.to_numpy())
        assert finite[:2].all() and finite[2, 0]
        # Slots of this evaluation policy depend on each other: an interval would hold only if they do not interact.
        assert engine != "compiled" or not finite[2, 1:].any()

    def test_obps_rankers_are_plackett_and_luces(self, obp: Any) -> None:
        """The marginals of its behavior policy without repeats are ours, slot by slot."""
        dataset = self.dataset(obp, independent=False)
        feedback = dataset.obtain_batch_bandit_feedback(n_rounds=20, return_pscore_item_position=True)
        logits = dataset.behavior_policy_function(
            context=feedback["context"], action_context=dataset.action_context, random_state=dataset.random_state
        )
        goal = target_marginals(PlackettLuce(logits), 20, 3, Effort(1000, 20, 2, 0))
        q = goal.rows(goal.index, 4).reshape(20, 3, 4)
        shown = np.take_along_axis(q, feedback["action"].reshape(20, 3, 1), axis=2).ravel()
        np.testing.assert_allclose(shown, feedback["pscore_item_position"], rtol=1e-9)

    def test_estimators_are_obps(self, obp: Any) -> None:
        ours = sys.modules["slateval.compat.obp"]
        ours._register()
        assert isinstance(SlateSUnO(), obp.ope.estimators_slate.BaseSlateOffPolicyEstimator)


DATASET: dict[str, Any] = {
    "size": 4,
    "n_trajectories": 2,
    "step_per_trajectory": 2,
    "action_type": "discrete",
    "action": np.array([0.0, 1.0, 1.0, 1.0]),
    "reward": np.array([1.0, 2.0, 0.0, 4.0]),
    "pscore": np.array([0.5, 0.5, 0.5, 0.25]),
}
DIST = np.array([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1], [0.2, 0.8]])


class TestTrajectories:
    """SCOPE-RL's logged datasets."""

    def test_a_trajectory_is_a_slate(self) -> None:
        trajectories = from_logged_dataset(DATASET, {"greedy": DIST, "other": {"evaluation_policy_action_dist": DIST}})
        assert trajectories.reward.tolist() == [3, 4]
        assert trajectories.logging.tolist() == [[0.5, 0.5], [0.5, 0.25]]
        for name in ("greedy", "other"):
            assert trajectories.target[name].tolist() == [[0.9, 0.8], [0.1, 0.8]]
        assert trajectories.arguments()["structure"] == "product"

    def test_the_product_weight_is_trajectory_wise_importance_sampling(self, engine: str) -> None:
        slateval = importlib.import_module("slateval")
        trajectories = from_logged_dataset(DATASET, DIST, gamma=0.5)
        arguments = trajectories.arguments()
        if engine == "plain":
            arguments["target"] = arguments["target"]["target"]
        mean = slateval.evaluate(**arguments, correction="none", band="none")["target"].mean
        expected = (2 * 0.9 * 0.8 / 0.25 + 2 * 0.1 * 0.8 / 0.125) / 2
        assert mean.estimate == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"action_type": "continuous"}, "only discrete actions have probabilities"),
            ({"step_per_trajectory": 3}, "4 steps are not whole trajectories of 3"),
            ({"pscore": np.array([0.5, 0.5, 0.0, 0.5])}, r"pscore: row 3 is 0.0; it must lie in \(0, 1\]"),
            ({"pscore": np.ones(3)}, "pscore must have one row for each of 4 steps"),
            ({"reward": np.array([0, np.inf, 0, 0])}, "reward: row 2 is not a finite number"),
            ({"action": np.array([0, 2, 0, 0])}, "target: row 2 took action 2, but it has only 2 actions"),
            ({"action": np.array([0, 0.5, 0, 0])}, "action must be whole numbers from 0"),
        ],
    )
    def test_bad_input_is_named(self, change: dict[str, Any], message: str) -> None:
        with pytest.raises(slateval.InputError, match=message):
            from_logged_dataset(DATASET | change, DIST)

    def test_bad_policies_are_named(self) -> None:
        with pytest.raises(slateval.InputError, match="new: row 3: not probabilities"):
            from_logged_dataset(DATASET, {"new": np.where(np.arange(4)[:, None] == 2, 0.4, DIST)})
        with pytest.raises(slateval.InputError, match=r"must be \(4, actions\)"):
            from_logged_dataset(DATASET, DIST[:3])
        with pytest.raises(slateval.InputError, match="gamma"):
            from_logged_dataset(DATASET, DIST, gamma=0)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, slateval.ColumnError, "bandit_feedback has no 'slate_id': pass what OBP's slate datasets give"),
        ({"slate_id": [0], "reward": [1]}, slateval.ColumnError, "no 'position': .* this one has 'slate_id', 'reward'"),
        ([1], slateval.DataTypeError, "bandit_feedback must be a dict of arrays"),
    ],
)
def test_feedback_that_lacks_something(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        from_bandit_feedback(given)
