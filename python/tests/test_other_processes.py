"""Functions that use the package reach other processes, as Spark, Dask and Ray send them."""

import copy
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest
import slateval
from slateval import propensities, sim


def days():
    return slateval.plan("examples/slates.parquet", target={"new": "pi_new"})


def elsewhere(function):
    """Runs a pickled function in a process of its own, which has imported nothing."""
    program = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.loads(sys.stdin.buffer.read())()))"
    sent = cloudpickle.dumps(function)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], input=sent, capture_output=True, check=True)
    return pickle.loads(done.stdout)


def test_the_module_is_sent_by_name():
    sent = cloudpickle.dumps(lambda: slateval.evaluate)
    assert len(sent) < 1000
    assert pickle.loads(sent)() is slateval.evaluate
    assert pickle.loads(pickle.dumps(slateval)) is slateval
    assert copy.deepcopy(slateval) is slateval


def test_functions_over_the_module_run_elsewhere():
    """A task in Spark's, Dask's or Ray's manner: a closure over the module and over data."""
    task = days()[0]
    part = elsewhere(lambda: slateval.partial(task))
    assert slateval.merge([part]).rows == 12_000


@pytest.mark.parametrize("name", ["evaluate", "propensities", "weights", "sim", "Interval", "compat"])
def test_every_part_of_the_module_is_sent(name):
    assert pickle.loads(cloudpickle.dumps(lambda: getattr(slateval, name)))() is getattr(slateval, name)


def test_names_imported_from_the_module_are_sent():
    def task():
        log, _ = sim.pairwise(50, seed=1)
        return callable(propensities), slateval.evaluate(log, band="none").log["rows"]

    assert elsewhere(task) == (True, 50)


def test_results_come_back():
    mu = np.full((200, 2), 0.5)
    ev = elsewhere(lambda: slateval.evaluate(reward=np.arange(200) % 3, logging=mu, target=mu))
    assert ev.log["rows"] == 200
