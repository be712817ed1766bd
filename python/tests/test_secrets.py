"""Secrets of addresses and of the environment: used to fetch a log, and in no byte of any result."""

from __future__ import annotations

import base64
import copy
import json
import os
import pickle
import socket
import subprocess
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import slateval
from conftest import Log

USER, PASSWORD, SIGNATURE, FRAGMENT = "USER:HUSH", "PW@/HUSH", "SIGHUSH", "FRAGHUSH"
SECRETS = ["HUSH", base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()]
USERINFO = "USER%3AHUSH:PW%40%2FHUSH"
ENVIRONMENT = {
    "AWS_SECRET_ACCESS_KEY": "ENVHUSH",
    "AWS_SESSION_TOKEN": "ENVHUSH",
    "AZURE_STORAGE_SAS_TOKEN": "sig=ENVHUSH",
    "AZURE_STORAGE_ACCOUNT_KEY": "ENVHUSH",
}
RULES = '[[rule]]\nname = "r"\nrequire = "mean(new) > 0"\n'


class Closed(BaseHTTPRequestHandler):
    """Sends parts of files to those who know the password and the signature; repeats addresses in its errors."""

    folder: Path

    def do_GET(self) -> None:
        name, _, query = self.path.partition("?")
        known = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        assert "#" not in self.path and FRAGMENT not in self.path
        if self.headers.get("Authorization") != known:
            return self.refuse(401)
        if f"sig={SIGNATURE}" not in query:
            return self.refuse(403)
        if "broken" in name:
            return self.refuse(500 if "five" in name else 400)
        file = self.folder / ("b.csv" if "part=2" in query else name.lstrip("/"))
        if not file.exists():
            return self.refuse(404)
        data = file.read_bytes()
        asked = self.headers.get("Range")
        start, end = 0, len(data)
        if asked:
            first, last = asked.removeprefix("bytes=").split("-")
            start, end = int(first), min(int(last) + 1, len(data))
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(end - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.send_header("ETag", f'"{zlib.crc32(data)}"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[start:end])

    do_HEAD = do_GET

    def refuse(self, status: int) -> None:
        body = f"Cannot GET http://{USERINFO}@host{self.path}: {self.headers}".encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *rest: Any) -> None:
        pass


@pytest.fixture
def address(log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Makes the address of a file on a server that wants to see every secret."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "served"
    folder.mkdir()
    table = pa.table(log.columns())
    for name, rows in (("a.csv", table), ("b.csv", table.slice(100)), ("c.parquet", None)):
        if rows is None:
            pa.parquet.write_table(table, folder / name, row_group_size=1000)
        else:
            pyarrow.csv.write_csv(rows, folder / name)
    (folder / "bad.csv").write_text("reward,mu_1,pi_1\n1,0.5,0.5\nx,0.5,0.5\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Closed,), {"folder": folder}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    yield lambda name: f"http://{USERINFO}@{host}/{name}?sig={SIGNATURE}#{FRAGMENT}"
    server.shutdown()


def shown(address: str) -> str:
    """What is left of an address."""
    return address.replace(f"{USERINFO}@", "").partition("?")[0]


def clean(what: str, data: str | bytes) -> None:
    """Fails if there is a secret in some bytes."""
    data = data.encode() if isinstance(data, str) else data
    for secret in SECRETS:
        at = data.find(secret.encode())
        assert at < 0, f"{what}: {data[max(at - 200, 0) : at + 100]!r}"


class Runs:
    """Runs the command, and searches all that it wrote."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary, self.folder = binary, folder
        folder.mkdir()
        (folder / "rules.toml").write_text(RULES)

    def __call__(self, *words: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        command = [str(self.binary), *words, "--log-level", "debug"]
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=self.folder, env=dict(os.environ), check=False
        )
        clean(f"stdout of {words}", run.stdout)
        clean(f"stderr of {words}", run.stderr)
        for file in self.folder.iterdir():
            clean(f"{file.name} of {words}", file.read_bytes())
        assert run.returncode in codes, run.stdout + run.stderr
        return run


METHOD = ["--target", "new=pi", "--structure", "additive", "--band", "none"]


def test_no_command_writes_a_secret(address: Callable[[str], str], binary: Path, tmp_path: Path) -> None:
    run = Runs(binary, tmp_path / "out")
    outputs = [
        "--json",
        "o.json",
        "--report",
        "r.html",
        "--plot",
        "p.svg",
        "--cdf",
        "c.csv",
        "--save",
        "s.slateval",
        "--progress",
        "json",
    ]
    run("evaluate", address("a.csv"), *METHOD, *outputs, "--resume", "work.slateval")
    record = json.loads((run.folder / "o.json").read_text())["settings"]["log"]
    assert record["paths"] == [shown(address("a.csv"))]
    run("evaluate", address("c.parquet"), *METHOD, "--json", "-")
    assert shown(address("a.csv")) in run("log", "s.slateval").stdout
    run("inspect", address("a.csv"), "--target", "new=pi", "--structure", "additive", "--json", "-")
    for form in ("text", "json", "github"):
        run("gate", address("a.csv"), *METHOD, "--rules", "rules.toml", "--format", form, codes=(0, 1))
    run("update", "state.slateval", address("a.csv"), *METHOD)
    assert "1 file skipped" in run("update", "state.slateval", address("a.csv")).stdout
    run("update", "state.slateval", address("b.csv"), "--json", "u.json", "--report", "u.html")
    run("log", "state.slateval", "--json", "log.json")
    run("evaluate", address("b.csv"), *METHOD, "--save", "b.slateval")
    run("merge", "s.slateval", "b.slateval", "-o", "m.slateval")
    run("show", "m.slateval", "--json", "m.json", "--report", "m.html", "--full")
    run("log", "m.slateval")
    skipping = ["--structure", "additive", "--on-bad-row", "skip"]
    run("evaluate", address("bad.csv"), *skipping, "--json", "-", "--save", "bad.slateval")
    run("evaluate", address("bad.csv"), codes=(2,))
    run("merge", "s.slateval", "s.slateval", "-o", "twice.slateval", codes=(2,))


def test_no_refusal_tells_a_secret(address: Callable[[str], str], binary: Path, tmp_path: Path) -> None:
    run = Runs(binary, tmp_path / "out")
    wrong_password, unsigned = address("a.csv").replace("PW%40", "no"), address("a.csv").replace("sig=", "gis=")
    for refused in (wrong_password, unsigned):
        told = run("evaluate", refused, *METHOD, codes=(2,)).stderr
        assert "access is refused" in told and shown(address("a.csv")) in told
    assert "no such object" in run("evaluate", address("none.csv"), *METHOD, codes=(2,)).stderr
    told = run("evaluate", address("broken.csv"), *METHOD, codes=(2,)).stderr
    assert "the server answered 400 Bad Request" in told or "reading broke off" in told
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        gone = f"http://{USERINFO}@127.0.0.1:{probe.getsockname()[1]}/a.csv?sig={SIGNATURE}#{FRAGMENT}"
        run("evaluate", gone, *METHOD, codes=(2,))


def test_addresses_that_differ_in_the_query_are_told_apart_by_content(
    address: Callable[[str], str], binary: Path, log: Log, tmp_path: Path
) -> None:
    """They have one name. One file under two signatures is there twice; two files under one name are two files."""
    run = Runs(binary, tmp_path / "out")
    one = address("a.csv")
    signed_anew, other = one.replace("sig=", "part=1&sig="), one.replace("sig=", "part=2&sig=")
    for twice in (one, signed_anew):
        assert "--allow-duplicates" in run("evaluate", one, twice, *METHOD, codes=(2,)).stderr
    for more in ([], ["--on-bad-file", "skip"]):
        found = json.loads(run("evaluate", one, other, *METHOD, *more, "--json", "-").stdout)
        assert found["log"]["rows"] == 2 * len(log.reward) - 100
        assert {read["name"] for read in found["log"]["inputs"]} == {shown(one)}
    run("update", "state.slateval", one, *METHOD)
    assert "1 file skipped" in run("update", "state.slateval", signed_anew).stdout
    assert "with other content" in run("update", "state.slateval", other, codes=(2,)).stderr
    run("update", "both.slateval", one, other, *METHOD)
    assert "2 files skipped" in run("update", "both.slateval", one, other).stdout


def test_python_keeps_secrets_to_itself(address: Callable[[str], str], parquet: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"target": {"new": "pi"}, "structure": "additive", "by": "device"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ev = slateval.evaluate(address("c.parquet"), **options)
    assert ev["new"].mean == slateval.evaluate(parquet, **options)["new"].mean
    assert ev.settings["log"]["paths"] == [shown(address("c.parquet"))]
    ev.report(tmp_path / "page.html")
    ev.save(tmp_path / "ev.slateval")
    ev.plot(tmp_path / "ev.svg")
    inspection = slateval.inspect(address("a.csv"), **options)
    summary = slateval.Summary(target={"new": "pi"}, structure="additive")
    summary.add(address("a.csv"))
    texts = {
        "json": ev.to_json(),
        "settings": json.dumps(ev.settings),
        "notebook": ev._repr_html_(),
        "repr": repr(ev) + str(ev) + repr(ev["new"]),
        "warnings": repr([str(warning.message) for warning in caught]),
        "inspection": repr(inspection) + str(inspection) + repr(vars(inspection)),
        "summary": repr(summary) + repr(summary.inputs),
        "frames": ev.to_pandas().to_csv(),
    }
    for what, text in texts.items():
        clean(what, text)
    for what, kept in {"evaluation": ev, "summary": summary, "inspection": inspection}.items():
        for form in (pickle.dumps(kept), pickle.dumps(pickle.loads(pickle.dumps(kept))), pickle.dumps(copy.copy(kept))):
            clean(f"pickled {what}", form)
    clean("summary", summary.to_bytes())
    again = pickle.loads(pickle.dumps(ev))
    clean("unpickled", again.to_json() + json.dumps(again.settings))
    clean("unpacked", slateval.load(tmp_path / "ev.slateval").to_json())
    for file in tmp_path.iterdir():
        if file.is_file():
            clean(file.name, file.read_bytes())


def test_a_pickle_of_before_loses_its_secrets(address: Callable[[str], str], parquet: str) -> None:
    ev = slateval.evaluate(parquet, target={"new": "pi"}, structure="additive")
    summary, settings, record = ev._core.state()
    old = json.loads(record)
    old["log"]["paths"] = [address("a.csv")]
    again = type(ev._core).from_state(summary, settings, json.dumps(old))
    assert json.loads(again.record())["log"]["paths"] == [shown(address("a.csv"))]


def test_tasks_can_fetch_and_show_nothing(address: Callable[[str], str]) -> None:
    """A task is read elsewhere: it keeps the whole address to itself, and all that comes of it has none."""
    options: dict[str, Any] = {"target": {"new": "pi"}, "structure": "additive"}
    tasks = slateval.plan([address("c.parquet"), address("b.csv")], **options)
    assert {task.file for task in tasks} == {shown(address("c.parquet")), shown(address("b.csv"))}
    for task in tasks:
        clean("task", f"{task!r} {task} {task.file}")
    sent = [pickle.loads(pickle.dumps(task)) for task in tasks]
    parts = [slateval.partial(task) for task in sent]
    summary = slateval.merge(parts)
    for part in [*parts, summary.to_bytes(), pickle.dumps(summary)]:
        clean("part", part)
    clean("merged", summary.evaluate().to_json() + repr(summary.inputs))


REFUSED = [
    f"http:/127.0.0.1/x.csv?sig={SIGNATURE}",
    f"http:/{USERINFO}@h/x.csv#{FRAGMENT}",
    f"ftp://{USERINFO}@h/x.csv?{SIGNATURE}#{FRAGMENT}",
    f"s3://{USERINFO}@bucket/x.csv",
    f"az://container/x.csv?sig={SIGNATURE}",
    f"http://{USERINFO}@h/*.csv?{SIGNATURE}",
    f"http://USERHUSH:PW/HUSH@h/x.csv?{SIGNATURE}",
]


@pytest.mark.parametrize("given", [*REFUSED, *(Path(given) for given in REFUSED)], ids=str)
def test_no_exception_tells_a_secret(given: str | Path) -> None:
    wrong: list[Callable[[], object]] = [
        lambda: slateval.evaluate(given),
        lambda: slateval.evaluate([given, "none.csv"]),
        lambda: slateval.inspect(given),
        lambda: slateval.plan(given),
        lambda: slateval.partial(str(given)),  # type: ignore[arg-type]
        lambda: slateval.Summary().add(given),
        lambda: slateval.load(given),
        lambda: slateval.Summary.load(given),
        lambda: slateval.merge([str(given)]),  # type: ignore[list-item]
        lambda: slateval.evaluate({"reward": [1.0], "mu_1": [0.5], "pi_1": [0.5]}, on_bad_row=str(given)),  # type: ignore[arg-type]
    ]
    for call in wrong:
        with pytest.raises(slateval.Error) as caught:
            call()
        told = "".join(map(repr, [caught.value, caught.value.args, str(caught.value)]))
        clean("exception", told)
        clean("pickled exception", pickle.dumps(caught.value))
