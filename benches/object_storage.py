"""What reading from object storage costs: slateval's CPU seconds for a log on disk and for the same log in a bucket.

    cargo build --release -p slateval-cli --features object-store
    pip install -r python/requirements-test.txt
    python benches/object_storage.py LOG [LOG ...] [--turns 5] [--binary target/release/slateval]

The bucket is on this machine: a server of moto, whose own CPU seconds are not counted. Turns take places: disk, bucket,
disk, bucket. Shown is the median of each, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import boto3

ROOT = Path(__file__).parent.parent
BUCKET = "bench-logs"


def serve() -> tuple[subprocess.Popen[bytes], int]:
    """A server of moto, once it answers, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process, port
        time.sleep(0.1)
    sys.exit("the server did not start")


def cost(binary: Path, log: str) -> tuple[float, float]:
    """CPU seconds and seconds of one evaluation."""
    started = time.monotonic()
    arguments = [binary, "evaluate", log, "--structure", "additive", "--band", "none"]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{log} could not be evaluated")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "slateval")
    arguments = parser.parse_args()
    process, port = serve()
    try:
        settings = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
        os.environ |= settings | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        print("log                                       disk, CPU s  bucket, CPU s  ratio  disk, s  bucket, s")
        for log in arguments.log:
            client.upload_file(str(log), BUCKET, log.name)
            turns = [
                (cost(arguments.binary, str(log)), cost(arguments.binary, f"s3://{BUCKET}/{log.name}"))
                for _ in range(arguments.turns)
            ]
            disk, bucket = ([median(turn[i][k] for turn in turns) for k in (0, 1)] for i in (0, 1))
            figures = f"{disk[0]:13.2f}{bucket[0]:15.2f}{bucket[0] / disk[0]:7.2f}{disk[1]:9.2f}{bucket[1]:11.2f}"
            print(f"{log.name:40}{figures}")
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
