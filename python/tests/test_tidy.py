"""Results as dataframes, intervals that are compared safely, and how everything shows itself."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import slateval
from slateval import Interval

ROOT = Path(__file__).parent.parent.parent
COLUMNS = ["policy", "metric", "level", "estimate", "lower", "upper", "se", "reason"]


@pytest.fixture(scope="module")
def ev() -> slateval.Evaluation:
    targets = {"new": "pi_new", "bolder": "pi_bolder"}
    return slateval.evaluate(ROOT / "examples" / "slates.parquet", target=targets, by="device", draws=200)


@pytest.fixture(scope="module")
def weak() -> slateval.Evaluation:
    """A log too weak for any interval."""
    return slateval.evaluate(
        {"reward": [1.0, 0.0, 1.0], "mu_1": [0.5] * 3, "pi_1": [0.9, 0.1, 0.9], "device": ["tv", "tv", None]},
        by="device",
    )


def test_frames_are_tidy(ev: slateval.Evaluation) -> None:
    frame = ev.to_pandas()
    assert list(frame.columns) == COLUMNS and len(frame) == 3 * 13
    mean = frame[(frame.policy == "new") & (frame.metric == "mean")].iloc[0]
    assert (mean.estimate, mean.lower, mean.upper) == tuple(ev["new"].mean)
    assert mean.se == ev["new"].se and np.isnan(mean.level) and mean.reason is None
    cvar = frame[(frame.policy == "new") & (frame.metric == "cvar") & (frame.level == 0.1)].iloc[0]
    assert cvar.estimate == float(ev["new"].cvar(0.1))
    assert ev.to_polars().equals(pl.from_arrow(ev.to_arrow()))
    assert ev.to_polars().schema["level"] == pl.Float64 and ev.to_polars().schema["reason"] == pl.String


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_every_table_in_every_library(ev: slateval.Evaluation, weak: slateval.Evaluation, library: str) -> None:
    for one, segments in ((ev, 3), (weak, 2)):
        names = list(one)

        def table(what: str, one: slateval.Evaluation = one) -> pl.DataFrame:
            made = getattr(one, f"to_{library}")(what)
            return pl.from_pandas(made) if library == "pandas" else pl.DataFrame(made)

        assert table("policies").columns == COLUMNS
        assert table("comparisons").columns == ["policy", "baseline", *COLUMNS[1:]]
        assert table("segments").columns == ["column", "segment", "rows", *COLUMNS]
        assert len(table("segments")) == segments * len(table("policies"))
        assert len(table("segment_comparisons")) == segments * len(table("comparisons"))
        assert {"policy", "segment", "name", "status", "message"} <= set(table("checks").columns)
        cdf = table("cdf")
        assert cdf.columns == ["policy", "segment", "reward", "raw", "estimate", "lower", "upper"]
        assert cdf.filter(pl.col("segment").is_null(), policy=names[-1]).height >= len(one[names[-1]].cdf)
    with pytest.raises(slateval.InputError, match="there is no table 'policy'; there are policies, comparisons"):
        ev.to_pandas("policy")  # type: ignore[arg-type]


def test_parts_turn_into_frames_too(ev: slateval.Evaluation) -> None:
    assert set(ev["new"].to_pandas().policy) == {"new"}
    assert list(ev.comparison("new").to_pandas().columns) == ["policy", "baseline", *COLUMNS[1:]]
    assert set(ev.segment("phone").to_polars()["segment"]) == {"phone"}
    assert isinstance(ev["new"].cdf.to_pandas(), pd.DataFrame) and ev["new"].cdf.to_arrow().num_columns == 5


def test_a_missing_library_is_named(ev: slateval.Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ImportError, match="to_polars needs polars: pip install polars"):
        ev.to_polars()


def test_withheld_numbers_have_reasons(weak: slateval.Evaluation) -> None:
    frame = weak.to_pandas()
    assert frame.lower.isna().all() and frame.se.isna().all()
    assert frame[frame.policy == "target"].reason.notna().all()
    difference = weak.comparison("target").mean
    assert difference.above(0) is None and difference.below(0) is None
    assert difference.why(0) == f"it cannot be told: {difference.reason}"
    assert weak.segment(None).rows == 1 and weak.segment("tv").rows == 2


def test_what_the_gate_cannot_tell_nobody_can() -> None:
    random = np.random.default_rng(5)
    shown = random.integers(0, 2, (4000, 2))
    reward = (random.random(4000) < 0.2 + 0.3 * shown[:, 0]).astype(float)
    log = {"reward": reward, "logging": np.full((4000, 2), 0.5), "target": np.where(shown == 1, 0.9, 0.1)}
    with pytest.warns(slateval.SlatevalWarning, match="estimated"):
        guessed = slateval.evaluate(**log, propensities="estimated").comparison("target").mean
    known = slateval.evaluate(**log).comparison("target").mean
    assert known.above(0) and guessed.lower == known.lower and guessed.above(0) is None
    assert guessed.why(0) == "it cannot be told: the check `estimated-propensities` of `target` did not pass"
    assert guessed.refuted == "estimated-propensities" and str(guessed).endswith("]!") and str(known).endswith("]")
    assert "refuted='estimated-propensities'" in repr(guessed)


def test_the_cdf_is_a_function(ev: slateval.Evaluation) -> None:
    cdf = ev["new"].cdf
    assert cdf(-1) == 0 and cdf(2) == 1 and isinstance(cdf(0.5), float)
    assert cdf(cdf["reward"]).tolist() == cdf["estimate"].tolist()
    assert cdf([0.1, np.nan]).shape == (2,) and np.isnan(cdf(np.nan))


def test_intervals_are_compared_safely() -> None:
    estimate, lower, upper = Interval(0.5, 0.4, 0.6)
    assert (estimate, lower, upper) == (0.5, 0.4, 0.6)
    up, down, wide = Interval(0.5, 0.4, 0.6), Interval(-0.5, -0.6, -0.4), Interval(0.1, -0.1, 0.3)
    assert (up.above(0), down.above(0), wide.above(0)) == (True, False, None)
    assert (up.below(0), down.below(0), wide.below(0)) == (False, True, None)
    assert Interval(0.5, 0.4, 0.6, refuted="additive", reason="slots interact").above(0) is None
    assert Interval(0.5, if_order_holds=(0.4, 0.6), conditional=True, reason="if so").above(0) is None
    assert Interval(0.5, 0.4, None).above(0) is True and Interval(0.5, 0.4, None).below(0) is False
    assert up.why(0) == "it is shown to be above 0: the interval [0.4, 0.6] lies above"
    assert down.why(0).startswith("it is shown to be below 0")
    assert f"{up:.1%}" == "50.0% [40.0%, 60.0%]" and f"{up:+.2f}" == "+0.50 [+0.40, +0.60]"
    assert repr(up) == "Interval(estimate=0.5, lower=0.4, upper=0.6)"
    assert repr(Interval(None, reason="no rows")) == "Interval(estimate=None, lower=None, upper=None, reason='no rows')"


def test_everything_shows_itself_shortly(ev: slateval.Evaluation, weak: slateval.Evaluation) -> None:
    for one in (ev, weak):
        name = list(one)[1]
        parts = [one[name], one.comparison(name), one.segments[0], one.segments[0][name], one[name].cdf, one.summary()]
        for part in (*parts, *one.disparities, *one.checks):
            text = repr(part)
            assert len(text.splitlines()) < 60 and max(map(len, text.splitlines())) < 400, text
        assert len(repr(one)) < len(str(one))
    lines = repr(ev["new"]).splitlines()[1:]
    assert {line.index("0.") for line in lines} == {14}, "numbers stand below each other"
    assert repr(ev.summary()) == repr(ev) and "monospace" in ev.summary()._repr_html_()
    assert "monospace" in ev["new"]._repr_html_()
    found = slateval.inspect(ROOT / "examples" / "slates.parquet", target={"new": "pi_new"})
    assert "monospace" in found._repr_html_()


def test_failed_checks() -> None:
    half = np.full((2000, 2), 0.5)
    wrong = slateval.evaluate(reward=np.arange(2000) % 3, logging=half, target=np.full((2000, 2), 0.9))
    assert {check["name"] for check in wrong.failed_checks} >= {"propensities"}
    check = wrong.failed_checks[0]
    assert check.policy == "target" and check.segment is None and repr(check).startswith("fail  ")
    assert pickle.loads(pickle.dumps(check)).policy == "target"


def test_segments_by_value(ev: slateval.Evaluation) -> None:
    assert ev.segment("phone")["new"].mean == ev.segments[1]["new"].mean
    with pytest.raises(KeyError, match="there is no segment 'tv', only 'desktop', 'phone', 'tablet'"):
        ev.segment("tv")
    plain = slateval.evaluate({"reward": [1.0, 0.0], "mu_1": [0.5, 0.5], "pi_1": [0.9, 0.1]}, band="none")
    with pytest.raises(KeyError, match="there are no segments: evaluate with by="):
        plain.segment("tv")


def test_unknown_comparisons_are_told_what_there_is(ev: slateval.Evaluation) -> None:
    for policy, baseline, message in (
        ("newer", "logging", "there is no policy 'newer', only logging, new, bolder"),
        ("new", "older", "there is no policy 'older'"),
        ("new", "bolder", "'new' was not compared with 'bolder'; .* evaluate with baseline='bolder'"),
        ("new", "new", "'new' is not compared with 'new'; compared are 'new' with 'logging'"),
        ("logging", "new", "'logging' is not compared with 'new'"),
    ):
        with pytest.raises(KeyError, match=message):
            ev.comparison(policy, baseline)
