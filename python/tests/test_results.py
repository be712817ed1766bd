"""What an evaluation gives, and that it survives a trip."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import slateval
from conftest import Log


@pytest.fixture(scope="module")
def ev(parquet: str) -> slateval.Evaluation:
    return slateval.evaluate(parquet, target={"new": "pi", "old": "pi_old"}, by="device", baseline="old")


def test_policies_by_name(ev: slateval.Evaluation) -> None:
    assert list(ev) == ["logging", "new", "old"]
    assert "new" in ev and len(ev) == 3
    with pytest.raises(KeyError, match="there is no policy 'newer', only logging, new, old"):
        ev["newer"]
    new = ev["new"]
    assert new.mean.lower < float(new.mean) < new.mean.upper
    assert str(new.structure).startswith("order:") and ev["logging"].structure is None
    assert new.selection is not None and {check["status"] for check in new.checks} <= {"ok", "warn"}
    assert float(new.std) ** 2 == pytest.approx(float(new.variance))


def test_numbers_are_those_of_the_json(ev: slateval.Evaluation) -> None:
    document = json.loads(ev.to_json())
    policy = document["policies"][1]
    new = ev["new"]
    assert new.mean == slateval.Interval._of(policy["mean"])
    assert new.quantile(0.5).lower == policy["quantiles"][1]["lower"]
    assert new.cvar(0.05).upper == policy["cvar"][0]["upper"]
    assert new.mean.if_order_holds is not None
    assert ev.log == document["log"] and ev.settings == document["settings"]
    assert ev.comparison("new").mean.estimate == document["comparisons"][0]["mean"]["estimate"]
    assert ev.comparison("new", "old").cvar(0.1) == slateval.Interval._of(document["comparisons"][2]["cvar"][1])
    assert [s.value for s in ev.segments] == ["desktop", "phone", "tablet"]
    segment = document["segments"][2]
    assert ev.segments[2]["old"].mean.estimate == segment["policies"][2]["mean"]["estimate"]
    assert ev.disparities[0].difference.estimate == document["disparities"][0]["estimate"]


def test_the_json_has_every_point_where_it_is_asked_for() -> None:
    random = np.random.default_rng(2)
    log = {"reward": random.random(2000), "mu_1": np.full(2000, 0.5), "pi_1": random.choice([0.4, 0.6], 2000)}
    ev = slateval.evaluate(log, draws=200)
    assert len(ev["target"].cdf) == 2000
    thin, full = ev.to_dict(), ev.to_dict(full_cdf=True)
    kept, points = thin["policies"][1]["cdf"], full["policies"][1]["cdf"]
    assert points["estimate"] == ev["target"].cdf["estimate"].tolist()
    assert len(kept["reward"]) <= 256
    assert (kept["reward"][0], kept["reward"][-1]) == (min(log["reward"]), max(log["reward"]))
    whole = dict(zip(points["reward"], points["estimate"], strict=True))
    assert all(whole[reward] == value for reward, value in zip(kept["reward"], kept["estimate"], strict=True))
    for policy in (*thin["policies"], *full["policies"]):
        del policy["cdf"]
    assert thin == full


def test_any_level(ev: slateval.Evaluation, parquet: str) -> None:
    asked = slateval.evaluate(
        parquet, target={"new": "pi", "old": "pi_old"}, by="device", baseline="old", quantile=0.9, alpha=0.33
    )
    assert ev["new"].quantile(0.9) == asked["new"].quantile(0.9)
    assert ev["new"].cvar(0.33) == asked["new"].cvar(0.33)
    assert ev["new"].var(0.33) == asked["new"].var(0.33)
    assert ev.segments[1]["old"].cvar(0.33) == asked.segments[1]["old"].cvar(0.33)
    with pytest.raises(slateval.InputError, match="must lie between 0 and 1"):
        ev["new"].cvar(1.0)
    assert ev.comparison("new", "old").cvar(0.33) == asked.comparison("new", "old").cvar(0.33)


def test_the_cdf_is_arrow_and_numpy(ev: slateval.Evaluation) -> None:
    cdf = ev["new"].cdf
    table = pa.table(cdf)
    assert table.column_names == ["reward", "raw", "estimate", "lower", "upper"]
    assert pl.DataFrame(cdf).height == len(cdf) == table.num_rows
    assert np.array_equal(cdf["estimate"], table["estimate"].to_numpy())
    assert (np.diff(cdf["estimate"]) >= 0).all() and cdf["estimate"][-1] == pytest.approx(1)
    assert set(cdf.to_numpy()) == set(table.column_names)
    with pytest.raises(KeyError):
        cdf["x"]


def test_everything_pickles(ev: slateval.Evaluation, parquet: str, log: Log) -> None:
    again = pickle.loads(pickle.dumps(ev))
    assert again == ev and again["new"].quantile(0.5) == ev["new"].quantile(0.5)
    assert pickle.loads(pickle.dumps(ev["new"].mean)) == ev["new"].mean
    assert pickle.loads(pickle.dumps(ev["new"])).mean == ev["new"].mean
    assert np.array_equal(pickle.loads(pickle.dumps(ev["new"].cdf))["raw"], ev["new"].cdf["raw"])
    tasks = pickle.loads(pickle.dumps(slateval.plan(parquet)))
    parts = pickle.loads(pickle.dumps([slateval.partial(task) for task in tasks]))
    assert slateval.merge(parts).rows == 5000
    summary = slateval.Summary()
    summary.add(pl.DataFrame(log.columns()))
    copy = pickle.loads(pickle.dumps(summary))
    copy.add(pl.DataFrame(log.columns()))
    assert (summary.rows, copy.rows) == (5000, 10_000)
    assert (
        slateval.Summary.from_bytes(summary.to_bytes()).evaluate()["target"].mean == summary.evaluate()["target"].mean
    )


def test_saved_and_merged(ev: slateval.Evaluation, tmp_path: Path) -> None:
    path = tmp_path / "week.slateval"
    ev.save(path)
    again = slateval.Evaluation.load(path)
    assert again["new"].mean == ev["new"].mean
    other = slateval.load(path, alpha=0.02, confidence=0.9, band="none")
    assert other["new"].mean.lower is None and other["new"].cvar(0.02).reason
    with pytest.raises(slateval.InputError, match=r"is counted already: .* allow_duplicates=True"):
        ev.merge(again)
    both = ev.merge(again, allow_duplicates=True)
    assert both.log["rows"] == 10_000
    assert float(both["logging"].mean) == pytest.approx(float(ev["logging"].mean), rel=1e-12)


def test_it_shows_itself(ev: slateval.Evaluation) -> None:
    assert "5,000 slates" in str(ev) and "5,000 slates" in repr(ev)
    assert "5,000 slates" in ev._repr_html_()
    assert repr(ev["new"]).startswith("<slateval.Policy 'new'>\nmean ")
    assert f"{slateval.Interval(0.5, None, None, 'no')}" == "0.5 [\u2013]"
    with pytest.raises(ValueError, match="there is no estimate: too few rows"):
        float(slateval.Interval(None, reason="too few rows"))
    with pytest.raises(AttributeError):
        ev["new"].mean.estimate = 3.0  # type: ignore[misc]


def test_marks_say_how_far_an_interval_can_be_relied_on() -> None:
    conditional = slateval.Interval(0.5, reason="it holds if so", if_order_holds=(0.4, 0.625), conditional=True)
    assert f"{conditional:.2f}" == "0.50 (0.40, 0.62)?"
    assert "conditional=True" in repr(conditional) and pickle.loads(pickle.dumps(conditional)) == conditional
    assert f"{slateval.Interval(0.5, 0.4, 0.6, refuted='additive'):.1f}" == "0.5 [0.4, 0.6]!"


def test_a_log_too_thin_to_tell() -> None:
    """Worth about 120 rows at order 1 and 3 at order 2: five slots of twenty items, and a target that shows one."""
    random = np.random.default_rng(3)
    good = random.random((10_000, 5)) < 0.05
    decides = good[np.arange(10_000), random.integers(0, 5, 10_000)]
    reward = (random.random(10_000) < np.where(decides, 0.9, 0.2)).astype(float)
    log = {"reward": reward, "logging": np.full(good.shape, 0.05), "target": np.where(good, 0.95, 0.05 / 19)}
    with pytest.warns(slateval.SlatevalWarning, match="order"):
        ev = slateval.evaluate(**log)
    mean = ev["target"].mean
    assert mean.conditional and not mean.refuted and mean.lower is None and mean.upper is None
    assert mean.if_order_holds is not None and str(mean.reason).startswith("it holds if slots do not interact")
    assert ev.comparison("target").mean.conditional and ev.to_dict()["policies"][1]["mean"]["conditional"] is True
    assert ")?" in repr(ev["target"]) and ")?" in str(ev) and ")?" in ev._repr_html_()
    assert np.isnan(ev["target"].cdf["lower"]).all()
    assert slateval.evaluate(**log, structure="additive")["target"].mean.lower is not None


def test_a_structure_that_the_log_contradicts() -> None:
    random = np.random.default_rng(4)
    heads = random.random((5000, 3)) < 0.5
    reward = (heads.sum(axis=1) % 2 == 0) + random.integers(0, 20, 5000) / 20
    log = {"reward": reward, "logging": np.full(heads.shape, 0.5), "target": np.where(heads, 0.25, 0.75)}
    with pytest.warns(slateval.SlatevalWarning, match="structure"):
        ev = slateval.evaluate(**log, structure="additive")
    mean = ev["target"].mean
    assert mean.refuted == "additive" and not mean.conditional and mean.lower is not None
    assert str(mean).endswith("]!") and "effects of 3 slots show in it" in str(mean.reason)
    assert [check["status"] for check in ev["target"].checks if check["name"] == "structure"] == ["fail"]
    assert not slateval.evaluate(**log)["target"].mean.refuted


def test_pages_and_pictures(ev: slateval.Evaluation, parquet: str, tmp_path: Path) -> None:
    ev.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>") and f"slateval.evaluate({parquet!r}".replace("'", "&#39;") in page
    assert "<iframe" in ev._repr_html_()
    embedded = page.split('<script type="application/json" id="evaluation">')[1].split("</script>")[0]
    assert json.loads(embedded)["policies"][1]["mean"] == ev.to_dict()["policies"][1]["mean"]
    for name, start in (("plot.svg", b"<svg"), ("plot.png", b"\x89PNG")):
        ev.plot(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(slateval.InputError, match=r"\.svg or \.png"):
        ev.plot(tmp_path / "plot.pdf")
    with pytest.raises(OSError, match="cannot write"):
        ev.report(tmp_path / "nowhere" / "report.html")


def test_inspection(parquet: str, log: Log) -> None:
    found = slateval.inspect(parquet, target={"new": "pi"}, interactions=True)
    document = found.to_dict()
    assert document["schema"] == "slateval/inspection/1" and document["log"]["rows"] == 5000
    assert "mu_1" in str(found) and "mu_1" in found._repr_html_()
    frame = slateval.inspect(pl.DataFrame(log.columns()), target={"new": "pi"}, interactions=True).to_dict()
    assert [i["slots"] for i in frame["interactions"]] == [i["slots"] for i in document["interactions"]]
    arrays = slateval.inspect(reward=log.reward, logging=log.mu, target=log.pi)
    assert arrays.to_dict()["log"]["slots"] == 3


def test_warnings_are_given_once() -> None:
    random = np.random.default_rng(0)
    mu = random.uniform(0.1, 0.9, (2000, 2))
    with pytest.warns(slateval.SlatevalWarning, match="propensities") as caught:
        slateval.evaluate(reward=random.random(2000), logging=mu, target=np.full((2000, 2), 0.95))
    assert len(caught) == 1 and caught[0].filename == __file__


def test_simulators() -> None:
    for simulate, structure in ((slateval.sim.additive, "additive"), (slateval.sim.pairwise, "order:2")):
        log, truth = simulate(50_000, seed=5)
        policy = slateval.evaluate(log, structure=structure)["target"]
        assert policy.mean.lower < truth["policies"][1]["mean"] < policy.mean.upper
    log, truth = slateval.sim.cascade(2000, target={"a": "softmax:1", "b": "softmax:2"}, truth_rows=10)
    assert [p["name"] for p in truth["policies"]] == ["logging", "a", "b"]
    ev = slateval.evaluate(log, target={"a": "pi_a", "b": "pi_b"})
    assert list(ev) == ["logging", "a", "b"] and len(log) == 2000
    assert pl.DataFrame(pickle.loads(pickle.dumps(log))).equals(pl.DataFrame(log))
    with pytest.raises(slateval.InputError, match="policy"):
        slateval.sim.additive(10, target="soft")


def test_a_ratings_file(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    path = tmp_path / "ratings.csv"
    rows = [(u, m, 5.0) for u in range(200) for m in random.choice(60, 12, replace=False)]
    path.write_text("userId,movieId,rating,timestamp\n" + "".join(f"{u},{m},{r},0\n" for u, m, r in rows))
    log, truth = slateval.sim.ratings(path, 3000, slots=3, items=8, truth_rows=20_000)
    assert slateval.evaluate(log)["target"].mean.estimate == pytest.approx(truth["policies"][1]["mean"], abs=0.1)


class TestProbabilities:
    """P(reward >= x): an atom at x counts."""

    @staticmethod
    def clicks(**settings: Any) -> slateval.Evaluation:
        random = np.random.default_rng(5)
        items = random.integers(0, 2, (4000, 2))
        clicks = (random.random(items.shape) < 0.1 + 0.2 * items).sum(axis=1)
        pi = np.where(items == 1, 0.75, 0.25)
        return slateval.evaluate(reward=clicks, logging=np.full(items.shape, 0.5), target=pi, **settings)

    def test_few_rewards_need_no_asking(self) -> None:
        ev = self.clicks()
        facts = ev["logging"].to_dict()["probabilities"]
        assert [p["at_least"] for p in facts] == [1.0, 2.0]
        prob = ev["logging"].prob(1)
        assert prob.lower < prob.estimate < prob.upper
        assert float(ev.comparison("target").prob(2)) == pytest.approx(
            float(ev["target"].prob(2)) - float(ev["logging"].prob(2))
        )
        assert "P(≥ 1)" in str(ev) and "VaR" not in str(ev)

    def test_any_reward_is_told_afterwards(self) -> None:
        ev = self.clicks(at_least=1)
        assert float(ev["logging"].prob(1.5)) == pytest.approx(float(ev["logging"].prob(at_least=2)))
        assert float(ev["target"].prob(-1)) == 1
        difference = float(ev["target"].prob(2)) - float(ev["logging"].prob(2))
        assert float(ev.comparison("target").prob(2)) == pytest.approx(difference)
        with pytest.raises(slateval.InputError, match="at_least `nan`"):
            ev["target"].prob(float("nan"))
