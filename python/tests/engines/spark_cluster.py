"""A Spark cluster on this machine: a master and two workers, each a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyspark

HOST = "127.0.0.1"
PATIENCE = 60
"""Seconds until a process has to be there."""


class Node:
    """A master or a worker, with everything that it starts."""

    def __init__(self, folder: Path, name: str, *arguments: str) -> None:
        self.log = folder / f"{name}.log"
        home = Path(pyspark.__file__).parent
        environment = os.environ | {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "256m",
        }
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), *arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def wait_for(self, pattern: str) -> str:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = re.search(pattern, self.log.read_text())
            if found:
                return found.group(0)
            time.sleep(0.1)
        raise AssertionError(f"{self.log.name} never said {pattern}:\n{self.log.read_text()}")

    def kill(self) -> None:
        """Kills the process and its executors, at once and without a word."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Cluster:
    """A master and two workers of one core each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes: list[Node] = []
        port = _free_port()
        self.address = f"spark://{HOST}:{port}"
        master = "org.apache.spark.deploy.master.Master"
        self.master = Node(folder, "master", master, "--host", HOST, "--port", str(port), "--webui-port", "0")
        self.nodes.append(self.master)
        self.master.wait_for("I have been elected leader")
        self.workers = [self.start_worker(), self.start_worker()]

    def start_worker(self) -> Node:
        name = f"worker-{len(self.nodes)}"
        options = ["--host", HOST, "--cores", "1", "--memory", "1g", "--webui-port", "0", "-d", str(self.folder / name)]
        worker = Node(self.folder, name, "org.apache.spark.deploy.worker.Worker", *options, self.address)
        self.nodes.append(worker)
        worker.wait_for("Successfully registered with master")
        return worker

    def session(self, **settings: str) -> Any:
        from pyspark.sql import SparkSession

        # The driver tells executors which Python to start.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master(self.address).appName("slateval tests")
        fixed = {
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.executor.memory": "768m",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        for name, value in (fixed | settings).items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    def stop(self) -> None:
        for node in reversed(self.nodes):
            node.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
