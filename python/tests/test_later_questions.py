"""Questions after the fact: from the kept summary, and with the answers that evaluating at once gives."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import slateval

ROOT = Path(__file__).parent.parent.parent
TARGETS = {"new": "pi_new", "bolder": "pi_bolder"}


def evaluated(**settings: Any) -> slateval.Evaluation:
    return slateval.evaluate(ROOT / "examples" / "slates.parquet", target=TARGETS, by="device", **settings)


@pytest.fixture(scope="module")
def ev() -> slateval.Evaluation:
    return evaluated()


def test_every_level_has_the_answer_of_an_evaluation_that_was_asked_for_it(ev: slateval.Evaluation) -> None:
    asked = evaluated(quantile=(0.91,), alpha=(0.02,))
    pairs = [(ev, asked), (ev.segment("phone"), asked.segment("phone"))]
    for late, early in pairs:
        for name in ("logging", "new"):
            assert late[name].quantile(0.91) == early[name].quantile(0.91)
            assert late[name].var(0.02) == early[name].var(0.02)
            assert late[name].cvar(0.02) == early[name].cvar(0.02)
        one, other = late.comparison("new"), early.comparison("new")
        assert one.quantile(0.91) == other.quantile(0.91)
        assert one.cvar(0.02) == other.cvar(0.02)
        assert one.var(0.02).estimate == pytest.approx(float(late["new"].var(0.02)) - float(late["logging"].var(0.02)))
    for wrong in (0, 1, 1.5, -0.1):
        with pytest.raises(slateval.InputError, match="must lie between 0 and 1"):
            ev.comparison("new").quantile(wrong)


def test_probabilities_are_shares_of_slates(ev: slateval.Evaluation) -> None:
    rewards = np.array([0.0, 1.0, 1.0, 2.0] * 250)
    half = np.full((1000, 1), 0.5)
    clicks = slateval.evaluate(reward=rewards, logging=half, target=half)
    assert [float(clicks["logging"].prob(x)) for x in (0, 1, 2, 3)] == pytest.approx([1, 0.75, 0.25, 0])
    share = clicks["logging"].prob(1)
    assert share.lower < 0.75 < share.upper and share.se == pytest.approx(np.sqrt(0.75 * 0.25 / 1000), rel=0.1)
    assert float(clicks.comparison("target").prob(1)) == pytest.approx(0)
    # Rewards of single precision are the rewards that were meant.
    single = slateval.evaluate(reward=np.float32([0.2, 0.7] * 500), logging=half, target=half)
    assert float(single["logging"].prob(0.7)) == pytest.approx(0.5)
    assert float(ev["new"].prob(0.5)) == pytest.approx(1 - ev["new"].cdf(0.5), abs=1e-3)
    tablet = ev.segment("tablet")
    assert tablet["new"].prob(0.5) != ev["new"].prob(0.5) and tablet.comparison("new").prob(0.5).above(-1)


def test_standard_errors_are_those_of_the_textbook() -> None:
    rng = np.random.default_rng(7)
    rewards, n = rng.exponential(size=500) ** 1.5, 500
    half, pi = np.full((n, 1), 0.5), rng.choice([0.2, 0.8], size=(n, 1))
    log = {"reward": rewards, "logging": half, "target": pi}
    ev = slateval.evaluate(**log, structure="product", correction="none", at_least=[1])
    logging = ev["logging"]
    assert logging.se == pytest.approx(np.std(rewards) / np.sqrt(n), rel=0.01)
    # The rewards are skewed, so that the interval is not the estimate plus or minus a multiple.
    assert (logging.mean.upper - logging.mean.lower) / 2 / 1.959964 > 1.01 * logging.se
    weighted = (pi / half)[:, 0] * rewards
    assert ev["target"].se == pytest.approx(np.std(weighted) / np.sqrt(n), rel=0.01)
    assert ev.comparison("target").se == pytest.approx(np.std(weighted - rewards) / np.sqrt(n), rel=0.01)
    share = np.mean(rewards >= 1)
    assert logging.prob(1).se == pytest.approx(np.sqrt(share * (1 - share) / n), rel=0.01)
    # The median's by its density, and CVaR's by its influence function.
    density = np.exp(-np.log(2)) / (2 * np.log(2))
    assert logging.quantile(0.5).se == pytest.approx(0.5 / density / np.sqrt(n), rel=0.3)
    beyond = np.minimum(rewards - np.quantile(rewards, 0.5), 0) / 0.5
    assert logging.cvar(0.5).se == pytest.approx(np.std(beyond) / np.sqrt(n), rel=0.1)
    assert slateval.evaluate(reward=rewards, logging=half, target=pi, band="none")["logging"].se is None


def test_other_settings_come_from_the_same_summary(ev: slateval.Evaluation) -> None:
    other = ev.at(confidence=0.9)
    assert other == evaluated(confidence=0.9)
    assert other.confidence == 0.9 and other["new"].mean.confidence == 0.9 and ev.confidence == 0.95
    assert other["new"].mean.lower > ev["new"].mean.lower
    assert other["new"].se == pytest.approx(ev["new"].se, rel=0.05)
    assert ev.at(tail="upper").at(confidence=0.9).settings["tail"] == "upper"
    assert ev.at(structure="additive")["new"].structure == "order:1"
    with pytest.raises(slateval.DataTypeError, match="bins is fixed when rows are added"):
        ev.at(bins="log")
    with pytest.raises(slateval.InputError, match="confidence"):
        ev.at(confidence=1.2)


def test_a_pickle_is_small_and_says_the_same(ev: slateval.Evaluation) -> None:
    sent = pickle.dumps(ev)
    assert len(sent) < 12_000_000
    again = pickle.loads(sent)
    assert again["new"].mean == ev["new"].mean and again["new"].cvar(0.02) == ev["new"].cvar(0.02)
    assert again == ev and repr(again) == repr(ev)


@pytest.fixture(scope="module")
def without_log(tmp_path_factory: pytest.TempPathFactory) -> slateval.Evaluation:
    """An evaluation of a log that is no longer there."""
    path = tmp_path_factory.mktemp("gone") / "slates.parquet"
    shutil.copy(ROOT / "examples" / "slates.parquet", path)
    ev = slateval.evaluate(path, target=TARGETS, by="device")
    path.unlink()
    return ev


@pytest.mark.parametrize(
    "ask",
    [
        lambda ev: ev["new"].quantile(0.917),
        lambda ev: ev["new"].cvar(0.023),
        lambda ev: ev["new"].prob(0.41),
        lambda ev: ev.comparison("new").cvar(0.031),
        lambda ev: ev.segment("phone")["new"].quantile(0.93),
        lambda ev: ev.at(confidence=0.91)["new"].mean,
        lambda ev: ev.plot().svg,
        lambda ev: pickle.loads(pickle.dumps(ev))["new"].mean,
    ],
)
def test_questions_need_no_log(
    ev: slateval.Evaluation, without_log: slateval.Evaluation, ask: Callable[[slateval.Evaluation], object]
) -> None:
    assert ask(without_log) == ask(ev)
