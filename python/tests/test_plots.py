"""Pictures: chosen by name, shown in notebooks, saved, and drawn on matplotlib's axes."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pytest
import slateval

mpl.use("agg")

ROOT = Path(__file__).parent.parent.parent
NAMES = ["cdf", "difference", "tails", "segments", "weights"]


@pytest.fixture(scope="module")
def ev() -> slateval.Evaluation:
    targets = {"new": "pi_new", "bolder": "pi_bolder"}
    return slateval.evaluate(ROOT / "examples" / "slates.parquet", target=targets, by="device", draws=200)


@pytest.fixture(scope="module")
def weak() -> slateval.Evaluation:
    log = {"reward": [1.0, 0.0, 1.0], "mu_1": [0.5] * 3, "pi_1": [0.9, 0.1, 0.9], "device": ["tv", "tv", None]}
    return slateval.evaluate(log, by="device")


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_chosen_by_name(
    ev: slateval.Evaluation, weak: slateval.Evaluation, name: str, tmp_path: Path
) -> None:
    for one in (ev, weak):
        plot = one.plot(name)
        assert isinstance(plot, slateval.Plot) and repr(plot) == f"<slateval.Plot of {name}>"
        assert plot._repr_svg_().startswith("<svg xmlns=") and "NaN" not in plot.svg
        plot.save(tmp_path / "plot.svg")
        plot.save(str(tmp_path / "plot.png"))
        assert (tmp_path / "plot.svg").read_text(encoding="utf-8") == plot.svg
        assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert ev.plot(name).svg == ev.plot([name]).svg


def test_without_a_name_it_is_that_of_the_command_line(ev: slateval.Evaluation, tmp_path: Path) -> None:
    plot = ev.plot()
    assert plot.names == ["cdf", "difference"] and "level of the quantile" in plot.svg
    assert ev.plot(tmp_path / "plot.svg").svg == plot.svg == (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert "mean minus logging" in ev.plot(["cdf", "segments"]).svg


def test_names_and_paths_that_do_not_exist(ev: slateval.Evaluation, tmp_path: Path) -> None:
    with pytest.raises(slateval.InputError, match="there is no plot 'tail'; there are cdf, difference, tails"):
        ev.plot("tail")
    with pytest.raises(slateval.InputError, match=r"\.svg or \.png"):
        ev.plot("plot.pdf")
    with pytest.raises(slateval.InputError, match=r"\.svg or \.png"):
        ev.plot().save(tmp_path / "plot.gif")
    with pytest.raises(OSError, match="cannot write"):
        ev.plot().save(tmp_path / "nowhere" / "plot.svg")
    plain = slateval.evaluate({"reward": [1.0, 0.0], "mu_1": [0.5, 0.5], "pi_1": [0.9, 0.1]}, band="none")
    with pytest.raises(slateval.InputError, match="there are no segments to draw: evaluate with by="):
        plain.plot("segments")
    with pytest.raises(slateval.DataTypeError, match="a plot is chosen by name"):
        ev.plot(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_matplotlib_draws_it_on_axes(ev: slateval.Evaluation, weak: slateval.Evaluation, name: str) -> None:
    import matplotlib.pyplot as plt

    for one in (ev, weak):
        figure, ax = plt.subplots()
        assert one.plot(name, ax=ax) is ax and ax.get_xlabel()
        assert {text.get_text() for text in ax.get_legend().get_texts()} >= set(list(one)[1:])
        figure.canvas.draw()
        plt.close(figure)
    with pytest.raises(slateval.InputError, match="one axis takes one plot, not 2"):
        ev.plot(["cdf", "tails"], ax=ax)
    with pytest.raises(slateval.DataTypeError, match="ax must be axes of matplotlib, not a int"):
        ev.plot(name, ax=3)
