"""Logs in object storage: a real S3-compatible server, and a proxy before it that counts and cuts."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import boto3
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import slateval
from conftest import Log
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

BUCKET = "slateval-logs"
CHOSEN = ["--structure", "additive", "--band", "none"]
NEEDED = ["reward", *(f"{base}_{k}" for base in ("mu", "pi") for k in (1, 2, 3))]

# What one look at an object's end may fetch, and the gap between two columns that is fetched along.
LOOK, GAP = 1 << 16, 1 << 14


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Proxy:
    """Hands connections on to a server, counts what the server sends, and cuts answers short where it is told to."""

    def __init__(self, port: int, encryption: ssl.SSLContext | None = None) -> None:
        self.server, self.sent, self.requests = port, 0, 0
        self.encryption = encryption
        self.cut: Callable[[bytes, int], int | None] = lambda request, number: None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        """One request for each connection: the server closes it, and the client comes back with another one."""
        if self.encryption is not None:
            try:
                client = self.encryption.wrap_socket(client, server_side=True)
            except OSError:
                return
        with client, socket.create_connection(("127.0.0.1", self.server)) as server:
            request = b""
            while b"\r\n\r\n" not in request:
                data = client.recv(65536)
                if not data:
                    return
                request += data
            self.requests += 1
            allowed = self.cut(request, self.requests)
            server.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            while data := server.recv(65536):
                if allowed is not None:
                    data, allowed = data[:allowed], allowed - len(data[:allowed])
                self.sent += len(data)
                try:
                    client.sendall(data)
                except OSError:
                    return
                if allowed == 0:
                    return


class Bucket:
    """A bucket, and the environment that leads to it."""

    def __init__(self, port: int) -> None:
        self.port, self.proxy = port, Proxy(port)
        self.client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{port}",
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
        self.client.create_bucket(Bucket=BUCKET)

    def upload(self, path: Path | str, key: str) -> str:
        self.client.upload_file(str(path), BUCKET, key)
        return f"s3://{BUCKET}/{key}"

    def environment(self, port: int | None = None) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port or self.proxy.port}",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }


@pytest.fixture(scope="session")
def server() -> Iterator[Bucket]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield Bucket(port)
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def bucket(server: Bucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    server.proxy.sent = server.proxy.requests = 0
    server.proxy.cut = lambda request, number: None
    yield server
    server.proxy.cut = lambda request, number: None


def run(binary: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [binary, *arguments], capture_output=True, text=True, timeout=120, env=os.environ | environment, check=False
    )


def evaluation(binary: Path, *paths: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON of an evaluation, without the names of what was read."""
    result = run(binary, "evaluate", *paths, *CHOSEN, *more, "--json", "-")
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    del found["settings"]["log"]["paths"]
    for read in found["log"].get("inputs", []):
        del read["name"]
    return found


def refused(binary: Path, *arguments: str, **environment: str) -> str:
    result = run(binary, "evaluate", *arguments, *CHOSEN, **environment)
    assert result.returncode == 2, result.stdout + result.stderr
    assert not result.stdout
    return result.stderr


def tree(log: Log, folder: Path) -> None:
    """Two hundred small files in directories that spell out a column, and what engines leave beside them."""
    table = pa.table(log.columns())
    for i in range(200):
        directory = folder / f"day={i % 4}"
        directory.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.slice(i * 25, 25), directory / f"part-{i:03}.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / "day=0" / ".part-000.parquet.crc").write_text("crc")


def test_every_format_is_what_it_is_on_disk(bucket: Bucket, binary: Path, log: Log, tmp_path: Path) -> None:
    table = pa.table(log.columns())
    paths = {ending: tmp_path / f"log.{ending}" for ending in ("parquet", "csv", "csv.gz", "jsonl", "arrow", "arrows")}
    pq.write_table(table, paths["parquet"], row_group_size=1000)
    pyarrow.csv.write_csv(table, paths["csv"])
    with pa.CompressedOutputStream(str(paths["csv.gz"]), "gzip") as packed:
        pyarrow.csv.write_csv(table, packed)
    with paths["jsonl"].open("w") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in table.to_pylist())
    pyarrow.feather.write_feather(table, str(paths["arrow"]))
    with pa.ipc.new_stream(str(paths["arrows"]), table.schema) as stream:
        stream.write_table(table)
    for ending, path in paths.items():
        address = bucket.upload(path, f"formats/log.{ending}")
        more = ("--target", "new=pi", "--target", "old=pi_old", "--by", "device", "--cluster", "user")
        assert evaluation(binary, address, more=more) == evaluation(binary, str(path), more=more), ending


def test_a_large_text_file_is_cut_as_on_disk(bucket: Bucket, binary: Path, tmp_path: Path) -> None:
    """Pieces of 16 MB on several threads, each byte fetched once, and the same bits."""
    rows = 500_000
    random = np.random.default_rng(1)
    table = pa.table(
        {
            "reward": random.random(rows).round(3),
            "mu_1": np.full(rows, 0.5),
            "pi_1": random.random(rows),
            "note": [f'a "{i % 7}", b\n' for i in range(rows)],
        }
    )
    path = tmp_path / "large.csv"
    pyarrow.csv.write_csv(table, path)
    size = path.stat().st_size
    assert size > 17 << 20
    address = bucket.upload(path, "large/large.csv")
    assert evaluation(binary, address) == evaluation(binary, str(path))
    assert bucket.proxy.sent < 1.05 * size + (1 << 20)


def test_directories_and_patterns(bucket: Bucket, binary: Path, log: Log, tmp_path: Path) -> None:
    tree(log, tmp_path / "logs")
    for path in sorted((tmp_path / "logs").rglob("*")):
        if path.is_file():
            bucket.upload(path, f"many/{path.relative_to(tmp_path / 'logs')}")
    by = ("--by", "day")
    whole = evaluation(binary, str(tmp_path / "logs"), more=by)
    assert [segment["value"] for segment in whole["segments"]] == [0, 1, 2, 3]
    bucket.proxy.sent = bucket.proxy.requests = 0
    for address in (f"s3://{BUCKET}/many/", f"s3a://{BUCKET}/many", f"s3://{BUCKET}/many/day=*/part-*.parquet"):
        assert evaluation(binary, address, more=by) == whole, address
    # A list or two, then one request for each of the small files: its end, which is the whole file.
    assert bucket.proxy.requests <= 3 * (200 + 5)
    some = evaluation(binary, f"s3://{BUCKET}/many/day=[12]", more=by)
    assert some == evaluation(binary, str(tmp_path / "logs" / "day=[12]"), more=by)
    assert "no file fits" in refused(binary, f"s3://{BUCKET}/many/day=9/*.parquet")
    assert "no logs in this directory" in refused(binary, bucket.upload(__file__, "empty/x.py").replace("x.py", ""))


def test_objects_are_told_by_their_first_bytes(bucket: Bucket, binary: Path, log: Log, tmp_path: Path) -> None:
    """Parquet under other names is read; what is no log is left out and named, as on disk."""
    table = pa.table(log.columns())
    folder = tmp_path / "logs"
    (folder / "day=1").mkdir(parents=True)
    pq.write_table(table.slice(0, 100), folder / "a.parquet")
    pq.write_table(table.slice(100, 100), folder / "b.parq")
    pq.write_table(table.slice(200, 100), folder / "day=1" / "000001_0")
    (folder / "c.csv.bz2").write_bytes(b"BZh91AY&SY")
    (folder / "day=1" / "README").write_text("What this is.\n")
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            bucket.upload(path, f"strange/{path.relative_to(folder)}")
    here, there = str(folder), f"s3://{BUCKET}/strange"
    found = {place: evaluation(binary, place) for place in (here, there + "/")}
    ignored = {
        place: [(file["name"].removeprefix(place.rstrip("/")), file["reason"]) for file in result["log"].pop("ignored")]
        for place, result in found.items()
    }
    assert ignored[here] == ignored[there + "/"] == [("/c.csv.bz2", "bzip2"), ("/day=1/README", "text")]
    assert found[here] == found[there + "/"]
    assert found[here]["log"]["rows"] == 300
    message = refused(binary, there + "/", "--on-unknown-file", "fail")
    assert f"{there}/c.csv.bz2 (compressed with bzip2)" in message


def test_patterns_list_no_more_than_they_may_fit(bucket: Bucket, binary: Path, log: Log, tmp_path: Path) -> None:
    """A lake holds millions of other objects; some of them may have names that nobody can read."""
    path = tmp_path / "part.parquet"
    pq.write_table(pa.table(log.columns()), path)
    for key in ("lake/day=2026-01-01/p.parquet", "lake/day=2026-01-02/q.parquet", "lake/metadata/notes.txt"):
        bucket.upload(path, key)
    for i in range(1100):
        bucket.client.put_object(Bucket=BUCKET, Key=f"lake/day=2025-{i:04}/x.parquet", Body=b"x")
    bucket.client.put_object(Bucket=BUCKET, Key="lake//odd.parquet", Body=b"x")
    bucket.proxy.requests = 0
    found = evaluation(binary, f"s3://{BUCKET}/lake/day=2026-*/p.parquet")
    assert found == evaluation(binary, str(path))
    # A list for the pattern and one for each kind of table, then the object: its end, and its columns.
    assert bucket.proxy.requests <= 8
    assert "lake//odd.parquet" in refused(binary, f"s3://{BUCKET}/lake/*/p.parquet")
    bucket.upload(path, "lake/_delta_log/00000.json")
    assert "Delta Lake" in refused(binary, f"s3://{BUCKET}/lake/day=2026-*/p.parquet")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for this machine that nobody has signed but itself, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    paths = folder / "certificate.pem", folder / "key.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody knows it")])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number())
    made = made.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    paths[0].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return paths


def test_servers_have_to_be_trusted(
    bucket: Bucket, binary: Path, log: Log, tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    """Encrypted connections, to a server whose certificate is known, and to one whose certificate is not."""
    path = tmp_path / "part.parquet"
    pq.write_table(pa.table(log.columns()), path)
    address = bucket.upload(path, "tls/part.parquet")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    proxy = Proxy(bucket.port, context)
    reached = {"AWS_ENDPOINT_URL": f"https://localhost:{proxy.port}"}
    trusted = run(binary, "evaluate", address, *CHOSEN, **reached, SSL_CERT_FILE=str(certificate[0]))
    assert trusted.returncode == 0, trusted.stderr
    assert trusted.stdout == run(binary, "evaluate", str(path), *CHOSEN).stdout
    told = refused(binary, address, **reached, SSL_CERT_FILE=os.devnull)
    assert "certificate is not trusted" in told and "SSL_CERT_FILE" in told


def wide(folder: Path) -> Path:
    """A log of which a small part is needed."""
    rows = 300_000
    random = np.random.default_rng(1)
    columns = {name: random.random(rows) * 0.5 + 0.25 for name in NEEDED}
    for i in range(12):
        columns[f"feature_{i}"] = random.random(rows)
    # Propensities that fail their check are looked at once more.
    columns |= {f"pi_{k}": columns[f"mu_{k}"] for k in (1, 2, 3)}
    names = sorted(columns)
    path = folder / "wide.parquet"
    table = pa.table({name: columns[name] for name in names})
    pq.write_table(table, path, row_group_size=60_000, use_dictionary=False, compression="none")
    return path


def test_only_the_needed_columns_are_fetched(bucket: Bucket, binary: Path, tmp_path: Path) -> None:
    path = wide(tmp_path)
    address = bucket.upload(path, "wide/wide.parquet")
    local = evaluation(binary, str(path))
    bucket.proxy.sent = bucket.proxy.requests = 0
    assert evaluation(binary, address) == local
    footer = pq.read_metadata(path)
    groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
    chunks = [group.column(j) for group in groups for j in range(group.num_columns)]
    needed = sum(chunk.total_compressed_size for chunk in chunks if chunk.path_in_schema in NEEDED)
    headers = 1000 * bucket.proxy.requests
    assert needed < bucket.proxy.sent <= needed + LOOK + GAP * len(groups) * len(NEEDED) + headers
    assert bucket.proxy.sent < 0.45 * path.stat().st_size


def test_python_and_tasks(bucket: Bucket, parquet: str) -> None:
    address = bucket.upload(parquet, "python/log.parquet")
    options: dict[str, Any] = {"target": {"new": "pi"}, "structure": "additive"}
    local, remote = slateval.evaluate(parquet, **options), slateval.evaluate(address, **options)
    assert remote["new"].mean == local["new"].mean
    tasks = slateval.plan(address, **options)
    assert {task.file for task in tasks} == {address}
    summary = slateval.merge(map(slateval.partial, tasks))
    assert summary.evaluate()["new"].mean == local["new"].mean
    assert slateval.evaluate(f"file://{parquet}", **options)["new"].mean == local["new"].mean


def test_an_object_that_was_replaced_is_refused(bucket: Bucket, log: Log, parquet: str, tmp_path: Path) -> None:
    address = bucket.upload(parquet, "replaced/log.parquet")
    tasks = slateval.plan(address)
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table(Log(seed=2).columns()), other, row_group_size=1000)
    bucket.upload(other, "replaced/log.parquet")
    with pytest.raises(slateval.InputError, match="changed since the log was opened"):
        slateval.partial(tasks[0])


def test_an_object_replaced_while_it_is_read_is_refused(bucket: Bucket, binary: Path, tmp_path: Path) -> None:
    path = wide(tmp_path)
    address = bucket.upload(path, "moving/wide.parquet")
    other = tmp_path / "other.parquet"
    pq.write_table(pq.read_table(path).slice(7), other, row_group_size=60_000, use_dictionary=False, compression="none")

    def replace(request: bytes, number: int) -> None:
        if number == 2:
            bucket.upload(other, "moving/wide.parquet")

    bucket.proxy.requests = 0
    bucket.proxy.cut = replace
    assert "changed since the log was opened" in refused(binary, address)


def test_what_is_not_there(bucket: Bucket, binary: Path) -> None:
    for address in (f"s3://{BUCKET}/none/log.parquet", "s3://no-such-bucket/log.parquet"):
        error = refused(binary, address)
        assert address in error
        assert "there is no such object" in error
        with pytest.raises(FileNotFoundError, match="there is no such object"):
            slateval.evaluate(address)


class Forbidding(SimpleHTTPRequestHandler):
    """Answers as S3 does to wrong credentials."""

    def do_GET(self) -> None:
        body = b"<Error><Code>SignatureDoesNotMatch</Code></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, format: str, *rest: Any) -> None:
        pass


def serving(handler: type[SimpleHTTPRequestHandler]) -> ThreadingHTTPServer:
    web = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    return web


def test_wrong_credentials(bucket: Bucket, binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = f"http://127.0.0.1:{serving(Forbidding).server_port}"
    for address in (f"s3://{BUCKET}/log.parquet", f"s3://{BUCKET}/logs/"):
        error = refused(binary, address, AWS_ENDPOINT_URL=endpoint)
        assert address in error
        assert "access is refused" in error
        assert "AWS_ACCESS_KEY_ID" in error
    assert "SignatureDoesNotMatch" in refused(binary, f"s3://{BUCKET}/logs/", AWS_ENDPOINT_URL=endpoint)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(OSError, match="access is refused"):
        slateval.evaluate(f"s3://{BUCKET}/log.parquet")


def test_profiles(bucket: Bucket, binary: Path, parquet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = bucket.upload(parquet, "profiles/log.parquet")
    credentials, config = tmp_path / "credentials", tmp_path / "config"
    credentials.write_text("[work]\naws_access_key_id = FROMPROFILE\naws_secret_access_key = s\n")
    endpoint = os.environ["AWS_ENDPOINT_URL"]
    config.write_text(
        f"[profile work]\nregion = eu-west-3\nendpoint_url = {endpoint}\n[profile sso]\nsso_session = x\n"
    )
    for name in bucket.environment():
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    seen: list[bytes] = []
    bucket.proxy.cut = lambda request, number: seen.append(request)
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert evaluation(binary, address) == evaluation(binary, parquet)
    assert all(b"Credential=FROMPROFILE/" in request and b"/eu-west-3/s3/" in request for request in seen)
    assert "export-credentials --profile sso" in refused(binary, address, AWS_PROFILE="sso")
    assert "AWS profile `nobody`" in refused(binary, address, AWS_PROFILE="nobody")


def is_data(request: bytes) -> bool:
    return request.startswith(b"GET") and b"range: bytes=" in request.lower()


def test_a_connection_that_is_cut_once(bucket: Bucket, binary: Path, tmp_path: Path) -> None:
    path = wide(tmp_path)
    address = bucket.upload(path, "cut/wide.parquet")
    cuts: list[int] = []

    def once(request: bytes, number: int) -> int | None:
        if is_data(request) and number == 4 and not cuts:
            cuts.append(number)
            return 100_000
        return None

    bucket.proxy.requests = 0
    bucket.proxy.cut = once
    assert evaluation(binary, address) == evaluation(binary, str(path))
    assert cuts


def test_a_connection_that_is_always_cut(bucket: Bucket, binary: Path, log: Log, tmp_path: Path) -> None:
    path, text = wide(tmp_path), tmp_path / "log.csv"
    pyarrow.csv.write_csv(pa.table(log.columns()), text)
    addresses = [bucket.upload(path, "cut/always.parquet"), bucket.upload(text, "cut/always.csv")]
    bucket.proxy.cut = lambda request, number: 3000 if is_data(request) and number > 2 else None
    for address in addresses:
        bucket.proxy.requests = 0 if address.endswith(".parquet") else 2
        error = refused(binary, address)
        assert address in error
        assert "reading broke off, after retries too" in error
        assert "truncated or damaged" not in error


def test_a_server_that_is_gone(bucket: Bucket, binary: Path) -> None:
    error = refused(binary, f"s3://{BUCKET}/log.parquet", AWS_ENDPOINT_URL=f"http://127.0.0.1:{free_port()}")
    assert "reading broke off, after retries too" in error


class Ranged(SimpleHTTPRequestHandler):
    """A web server that sends parts of files, to those who know the secret."""

    def do_GET(self) -> None:
        name, _, query = self.path.partition("?")
        file = Path(self.directory) / name.lstrip("/")
        if "closed" in name and query != "secret=1":
            return self.send_error(403)
        if not file.exists():
            return self.send_error(404)
        data = file.read_bytes()
        asked = self.headers.get("Range")
        start, end = 0, len(data)
        if asked:
            first, last = asked.removeprefix("bytes=").split("-")
            start, end = int(first), int(last) + 1
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(end - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.send_header("ETag", '"tag"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[start:end])

    do_HEAD = do_GET

    def log_message(self, format: str, *rest: Any) -> None:
        pass


def serve_files(folder: Path, handler: type[SimpleHTTPRequestHandler]) -> str:
    class Here(handler):  # type: ignore[misc, valid-type]
        def __init__(self, *rest: Any, **named: Any) -> None:
            super().__init__(*rest, directory=str(folder), **named)

        def log_message(self, format: str, *rest: Any) -> None:
            pass

    return f"http://127.0.0.1:{serving(Here).server_port}"


def test_web_servers(bucket: Bucket, binary: Path, parquet: str, tmp_path: Path) -> None:
    for name in ("log.parquet", "closed.parquet"):
        (tmp_path / name).write_bytes(Path(parquet).read_bytes())
    local = evaluation(binary, parquet)
    # Python's own server sends whole files only, with their time of change and no tag.
    assert evaluation(binary, f"{serve_files(tmp_path, SimpleHTTPRequestHandler)}/log.parquet") == local
    base = serve_files(tmp_path, Ranged)
    assert evaluation(binary, f"{base}/log.parquet") == local
    assert evaluation(binary, f"{base}/closed.parquet?secret=1") == local
    error = refused(binary, f"{base}/closed.parquet?secret=2")
    assert "access is refused" in error
    assert "secret" not in error
    assert "there is no such object" in refused(binary, f"{base}/none.parquet")
    assert "each file needs an address of its own" in refused(binary, f"{base}/logs/")


class Changing(SimpleHTTPRequestHandler):
    """Serves one file in the ways that are set, and counts what was asked of it."""

    content, tag, time, ranges = b"", '"tag"', "", True
    asked: ClassVar[list[str]] = []
    # Called before each answer.
    change: ClassVar[Callable[[], None]] = lambda: None

    def do_GET(self) -> None:
        served = type(self)
        part = self.headers.get("Range") or ""
        served.asked.append(f"{self.command} {part}".strip())
        served.change()
        data = served.content
        headers = {"ETag": served.tag, "Last-Modified": served.time}
        start, end = 0, len(data)
        if part and served.ranges:
            first, last = part.removeprefix("bytes=").split("-")
            start, end = int(first), int(last) + 1
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
        self.send_response(206 if part and served.ranges else 200)
        self.send_header("Content-Length", str(end - start))
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            # The client may hang up once it has enough.
            with contextlib.suppress(OSError):
                self.wfile.write(data[start:end])

    do_HEAD = do_GET

    def log_message(self, format: str, *rest: Any) -> None:
        pass


def changing(**settings: Any) -> tuple[type[Changing], str]:
    handler = type("Here", (Changing,), {"asked": [], **settings})
    return handler, f"http://127.0.0.1:{serving(handler).server_port}"


def large_table(rows: int) -> pa.Table:
    random = np.random.default_rng(1)
    return pa.table({"reward": random.random(rows).round(3), "mu_1": np.full(rows, 0.5), "pi_1": random.random(rows)})


def test_a_server_that_sends_whole_files_only(binary: Path, tmp_path: Path) -> None:
    table = pa.table(Log(rows=25_000).columns())
    paths = {ending: tmp_path / f"log.{ending}" for ending in ("parquet", "csv", "csv.gz", "arrow", "arrows")}
    pq.write_table(table, paths["parquet"], row_group_size=1000)
    pyarrow.csv.write_csv(table, paths["csv"])
    with pa.CompressedOutputStream(str(paths["csv.gz"]), "gzip") as packed:
        pyarrow.csv.write_csv(table, packed)
    pyarrow.feather.write_feather(table, str(paths["arrow"]))
    with pa.ipc.new_stream(str(paths["arrows"]), table.schema) as stream:
        stream.write_table(table)
    served, base = changing(ranges=False)
    for ending, path in paths.items():
        served.content, served.asked[:] = path.read_bytes(), []
        assert len(served.content) > 2 * LOOK
        assert evaluation(binary, f"{base}/log.{ending}") == evaluation(binary, str(path)), ending
        # The size, a look that is answered with all of it, and all of it once more.
        assert len(served.asked) <= 4, (ending, served.asked)
    # More than there is memory for, though the sums fit into it.
    pq.write_table(large_table(rows=1_300_000), tmp_path / "large.parquet", row_group_size=5000, use_dictionary=False)
    served.content = (tmp_path / "large.parquet").read_bytes()
    assert len(served.content) > 15_000_000
    told = refused(binary, f"{base}/log.parquet", "--memory", "8MB")
    assert "sends whole files only" in told and "--memory SIZE" in told
    served.content = paths["csv"].read_bytes().rstrip()
    assert "does not end with a line feed" in refused(binary, f"{base}/log.csv")
    assert evaluation(binary, f"{base}/log.csv", more=("--allow-unended",))["log"]["rows"] == table.num_rows


def test_a_large_text_file_is_read_from_front_to_end(binary: Path, tmp_path: Path) -> None:
    """More than two windows of 8 MB, of a server that sends no parts."""
    rows = 650_000
    path = tmp_path / "large.csv"
    pyarrow.csv.write_csv(large_table(rows), path)
    served, base = changing(ranges=False, content=path.read_bytes())
    assert len(served.content) > 17 << 20
    found, local = evaluation(binary, f"{base}/large.csv"), evaluation(binary, str(path))
    assert found["log"]["rows"] == rows
    mean, expected = (result["policies"][0]["mean"]["estimate"] for result in (found, local))
    assert mean == pytest.approx(expected, rel=1e-12)
    # The size, a look, the end, the columns, all pieces but the last, and the last: however many windows there are.
    assert len(served.asked) <= 6, served.asked


def test_objects_without_a_strong_tag(binary: Path, tmp_path: Path) -> None:
    """What changes while it is read is noticed by its time; what is small is fetched by one request."""
    random = np.random.default_rng(1)

    def csv(rows: int, mean: float) -> bytes:
        lines = (f"{mean:.3f},0.500,{value:.6f}\n" for value in random.random(rows))
        return ("reward,mu_1,pi_1\n" + "".join(lines)).encode()

    times = ["Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:01 GMT"]
    for tag in ('W/"weak"', ""):
        large, small = csv(500_000, 0.5), csv(1000, 0.25)
        assert len(large) > 8 << 20 > len(small)
        served, base = changing(content=large, tag=tag, time=times[0])

        def rewrite(served: type[Changing] = served) -> None:
            if len(served.asked) == 4:
                served.content, served.time = csv(500_000, 0.75), times[1]

        served.change = rewrite
        assert "it changed since the log was opened" in refused(binary, f"{base}/a.csv"), tag
        served, base = changing(content=small, tag=tag, time="")
        assert evaluation(binary, f"{base}/a.csv")["policies"][0]["mean"]["estimate"] == pytest.approx(0.25, rel=0.1)
        assert served.asked == ["HEAD", "GET"]


def test_keys_with_brackets(bucket: Bucket, binary: Path, log: Log, tmp_path: Path) -> None:
    """A key is read as it stands before it is taken for a pattern, by no more requests."""
    table = pa.table(log.columns())
    keys = ("a[1].parquet", "a1.parquet", "a2.parquet", "b[1]/part.parquet", "b1/part.parquet", "c[.parquet")
    for i, key in enumerate(keys):
        pq.write_table(table.slice(100 * i, 100 * (i + 1)), tmp_path / "part.parquet")
        bucket.upload(tmp_path / "part.parquet", f"brackets/{key}")
    rows = {"a[1].parquet": 100, "a[12].parquet": 500, "b[1]": 400, "b[1]/": 400}
    rows |= {"a?1].parquet": 100, "c[.parquet": 600}
    for key, wanted in rows.items():
        bucket.proxy.requests = 0
        assert evaluation(binary, f"s3://{BUCKET}/brackets/{key}")["log"]["rows"] == wanted, key
        # A list for the name and one for each kind of table, then the object.
        assert bucket.proxy.requests <= 5 + 2 * (wanted == 500), key
    tasks = slateval.plan(f"s3://{BUCKET}/brackets/a[1].parquet", structure="additive")
    assert slateval.merge(map(slateval.partial, tasks)).rows == 100


def test_results_stay_here(bucket: Bucket, binary: Path, parquet: str) -> None:
    for flag in ("--json", "--save", "--report"):
        error = refused(binary, parquet, flag, f"s3://{BUCKET}/result.html")
        assert "results are written to local files only" in error


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_reads_too(bucket: Bucket, parquet: str) -> None:
    """As multiprocessing does: the parent has read, and the child has none of its threads."""
    address = bucket.upload(parquet, "fork/log.parquet")
    code = f"""
        import os, slateval
        options = dict(structure="additive", band="none")
        slateval.evaluate({address!r}, **options)
        child = os.fork()
        if child == 0:
            slateval.evaluate({address!r}, **options)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    """
    import textwrap

    subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], timeout=120, check=True)
