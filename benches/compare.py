"""What slateval costs beside its peers, measured in one go.

    cargo build --release && cargo build --release --examples -p slateval -p slateval-logs
    python3 -m venv .venv && .venv/bin/pip install -r benches/requirements.txt
    .venv/bin/python benches/compare.py --write docs/performance.md
    .venv/bin/python benches/compare.py --growth --write docs/performance.md

Everything runs in a process of its own, in turns, and the best of the turns counts. CPU seconds of slateval are those
that the system counted for the whole process; those of a peer in Python are without starting, importing and ending.
First the answers are compared: where two compute the same mean, they must agree to a millionth (peers divide in f32).

Peers that are not installed are left out, and named. The Open Bandit Pipeline asks for old packages that no longer
install: `pip install --no-deps obp==0.4.1`, with what it imports from python/requirements-test.txt. `pip install
./python` adds slateval's own Python package.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Nothing but the standard library here: the peak memory of a process starts with that of its parent.

BENCHES = Path(__file__).parent
ROOT = BENCHES.parent
KINDS = ["contexts", "two-valued", "distinct"]
ADDITIVE = ["--structure", "additive", "--band", "none"]
HUNDRED = [f"--target=target {i}=pi{i if i > 1 else ''}" for i in range(1, 101)]
TEN = HUNDRED[:10]
PACKAGES = {
    "duckdb": "duckdb",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "numpy": "numpy",
    "slateval": "slateval",
    "vw": "vw-estimators",
    "obp": "obp",
}
TOLERANCE = 1e-6
MISSING = "-"


@dataclass
class Case:
    """A command, and the best of its runs."""

    name: str
    rows: int
    threads: int
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    cpu: float = float("inf")
    wall: float = float("inf")
    peak: float = 0.0

    @property
    def nanoseconds(self) -> float:
        """CPU time of a row."""
        return 1e9 * self.cpu / self.rows

    def run(self) -> str:
        """Runs it once more, and returns what it printed."""
        threads = {"POLARS_MAX_THREADS": str(self.threads), "OMP_NUM_THREADS": str(self.threads)}
        environment = os.environ | threads | self.environment
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as messages:
            start = time.monotonic()
            process = subprocess.Popen(self.command, stdout=output, stderr=messages, env=environment)
            _, status, used = os.wait4(process.pid, 0)
            end = time.monotonic()
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                messages.seek(0)
                sys.exit(f"{messages.read()}\nthis failed: {' '.join(self.command)}")
            output.seek(0)
            printed = output.read()
        cpu, wall = used.ru_utime + used.ru_stime, end - start
        if str(BENCHES / "peers.py") in self.command:
            told = json.loads(printed)
            cpu, wall = told["cpu"], told["wall"]
        self.cpu, self.wall = min(self.cpu, cpu), min(self.wall, wall)
        # In kilobytes on Linux, in bytes on macOS.
        self.peak = max(self.peak, used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10))
        return printed


@dataclass
class Bench:
    binary: Path
    folder: Path
    rows: int
    turns: int
    threads: int
    kinds: list[str]
    tables: dict[str, str] = field(default_factory=dict)

    def log(self, kind: str, shape: str, rows: int) -> Path:
        """Makes the log, unless it was kept."""
        path = self.folder / f"{kind}-{shape}-{rows}.{'csv' if shape == 'csv' else 'parquet'}"
        if not path.exists():
            print(f"writing {path.name}", flush=True)
            subprocess.run([sys.executable, BENCHES / "data.py", kind, shape, str(rows), path], check=True)
        return path

    def slateval(self, name: str, log: Path, rows: int, *options: str, threads: int | None = None) -> Case:
        threads = threads or self.threads
        command = [str(self.binary), "evaluate", str(log), "--threads", str(threads), *options]
        return Case(f"slateval, {name}", rows, threads, command)

    def peer(self, name: str, peer: str, log: Path, rows: int, threads: int | None = None) -> list[Case]:
        """One case, or none where the peer is not installed."""
        try:
            version(PACKAGES[peer])
        except PackageNotFoundError:
            print(f"{name} is left out: {PACKAGES[peer]} is not installed", flush=True)
            return []
        threads = threads or self.threads
        command = [sys.executable, str(BENCHES / "peers.py"), peer, "sums", str(log), str(threads)]
        return [Case(f"{name} {version(PACKAGES[peer])}", rows, threads, command)]

    def example(self, name: str) -> Path | None:
        """An example of the crates that was built beside the command."""
        path = self.binary.parent / "examples" / name
        if path.exists():
            return path
        print(f"the example {name} is left out: it is not built", flush=True)
        return None

    def take_turns(self, cases: list[Case]) -> None:
        for turn in range(self.turns):
            print(f"turn {turn + 1} of {self.turns}, {len(cases)} runs", flush=True)
            for case in cases:
                case.run()

    def check(self, log: Path, peers: list[Case]) -> None:
        """Exits unless the peers find the mean that slateval finds without a correction."""
        ours = self.mean(log)
        for case in peers:
            asked = Case(case.name, 1, case.threads, ["mean" if word == "sums" else word for word in case.command])
            compare(f"{case.name}, {log.name}", json.loads(asked.run())["answer"], ours)

    def mean(self, log: Path, *options: str) -> float:
        asked = self.slateval("check", log, 1, *ADDITIVE, "--correction", "none", "--json", "-", *options)
        return json.loads(asked.run())["policies"][1]["mean"]["estimate"]

    def heading(self, *more: str) -> str:
        """What a table's figures hold for."""
        return ", ".join([processor(), f"best of {self.turns} turns", *more]) + ".\n\n"

    def publish(self, name: str, heading: str, rows: list[list[str]]) -> None:
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|" + "---|" * len(rows[0]))
        self.tables[name] = heading + "\n".join(lines)
        print(f"\n## {name}\n\n{self.tables[name]}\n", flush=True)


def compare(what: str, theirs: float, ours: float) -> None:
    difference = abs(theirs - ours) / abs(ours)
    print(f"{what}: the means differ by {difference:.1e}", flush=True)
    if not difference <= TOLERANCE:
        sys.exit(f"{what}: {theirs} is not slateval's {ours}")


def processor() -> str:
    try:
        names = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        names = []
    return f"{os.cpu_count()} cores ({names[0] if names else 'of an unknown processor'})"


def costs(cases: list[Case]) -> list[list[str]]:
    """A row for each case, and how much CPU time DuckDB takes against it."""
    [duckdb] = [case for case in cases if case.name.startswith("DuckDB")] or [None]
    rows = [["", "threads", "CPU ns a row", "seconds", "peak MB", "DuckDB's CPU time / this one's"]]
    for case in cases:
        # Decoding a small log may take less than the clock can tell.
        ratio = f"{duckdb.nanoseconds / case.nanoseconds:.2f}" if duckdb and case.cpu > 0 else MISSING
        wall, peak = (f"{case.wall:.2f}", f"{case.peak:.0f}") if case.peak else (MISSING, MISSING)
        rows.append([case.name, str(case.threads), f"{case.nanoseconds:.1f}", wall, peak, ratio])
    return rows


def parquet(bench: Bench) -> None:
    """Each kind of Parquet log: all cases of slateval, then the peers, then decoding alone."""
    found: dict[str, dict[str, Case]] = {}
    for kind in bench.kinds:
        rows, fewer = bench.rows, max(bench.rows // 4, 1)
        wide, lists = bench.log(kind, "wide", rows), bench.log(kind, "lists", rows)
        ten = bench.log(kind, "ten", fewer)
        library = bench.slateval("default, read by the `parquet` crate", wide, rows)
        library.environment = {"SLATEVAL_PARQUET": "library"}
        ours = [
            bench.slateval("default", wide, rows),
            bench.slateval("default, one thread", wide, rows, threads=1),
            library,
            bench.slateval("additive without bands", wide, rows, *ADDITIVE),
            bench.slateval("default, ten targets", ten, fewer, *TEN),
            bench.slateval("default, 100 segments", wide, rows, "--by", "segment"),
            bench.slateval("default, lists", lists, rows),
        ]
        peers = [
            *bench.peer("DuckDB", "duckdb", wide, rows),
            *bench.peer("Polars, streaming", "polars", wide, rows),
            *bench.peer("NumPy, with pyarrow", "pyarrow", wide, rows),
        ]
        bench.check(wide, peers)
        compare(f"lists, {lists.name}", bench.mean(lists), bench.mean(wide))
        bench.take_turns([*ours, *peers])
        cases = [*ours, *peers, *decoding(bench, wide, rows)]
        found[kind] = {case.name: case for case in cases}
    names = list(dict.fromkeys(name for cases in found.values() for name in cases))
    table = [["CPU ns a row (DuckDB's time / this one's)", *found]]
    table += [[name, *(cost_beside_duckdb(cases, name) for cases in found.values())] for name in names]
    peak = [f"{cases['slateval, default'].peak:.0f}" for cases in found.values()]
    table.append(["peak MB of slateval, default", *peak])
    bench.publish("parquet", bench.heading(f"{bench.rows:,} rows (ten targets: a quarter)"), table)


def cost_beside_duckdb(cases: dict[str, Case], name: str) -> str:
    """CPU time of a row and, in brackets, how many times as much DuckDB takes."""
    case = cases.get(name)
    if case is None:
        return MISSING
    duckdb = [other for other in cases.values() if other.name.startswith("DuckDB")]
    # Decoding a small log may take less than the clock can tell.
    ratio = f" ({duckdb[0].nanoseconds / case.nanoseconds:.2f})" if duckdb and case.cpu > 0 else ""
    return f"{case.nanoseconds:.1f}{ratio}"


def decoding(bench: Bench, log: Path, rows: int) -> list[Case]:
    """The yardstick: the `parquet` crate decodes the same columns and drops them."""
    example = bench.example("decode")
    if example is None:
        return []
    case = Case("decoding alone, `parquet` crate", rows, 1, [str(example), str(log)])
    found = re.search(r"decoding ([\d.]+)", case.run())
    assert found, "the example prints nanoseconds a row"
    # Of the passes that it makes itself, the best counts; the process does more than that.
    case.cpu, case.peak = float(found[1]) * rows / 1e9, 0.0
    return [case]


def targets(bench: Bench) -> None:
    """A hundred targets at once. Propensities that all differ would take two gigabytes."""
    rows = max(bench.rows // 20, 1)
    kinds = [kind for kind in bench.kinds if kind != "distinct"]
    cases = [
        bench.slateval(f"{kind}, a hundred targets", bench.log(kind, "hundred", rows), rows, *HUNDRED) for kind in kinds
    ]
    bench.take_turns(cases)
    table = [["", "CPU seconds", "seconds", "peak MB"]]
    table += [[case.name, f"{case.cpu:.1f}", f"{case.wall:.1f}", f"{case.peak:.0f}"] for case in cases]
    bench.publish("targets", bench.heading(f"{rows:,} rows, {bench.threads} threads"), table)


def shapes(bench: Bench) -> None:
    """The same slates in other shapes."""
    rows = max(bench.rows // 10, 1)
    of = {shape: bench.log("contexts", shape, rows) for shape in ("wide", "lists", "short", "short-lists", "long")}
    cases = [
        bench.slateval("wide columns", of["wide"], rows),
        bench.slateval("lists", of["lists"], rows),
        bench.slateval("wide columns, slates of four and five slots (nulls)", of["short"], rows),
        bench.slateval("lists, slates of four and five slots", of["short-lists"], rows),
        bench.slateval("one row for each slot (`--long`)", of["long"], rows, "--long"),
    ]
    compare("one row for each slot", bench.mean(of["long"], "--long"), bench.mean(of["wide"]))
    compare("lists of four and five", bench.mean(of["short-lists"]), bench.mean(of["short"]))
    bench.take_turns(cases)
    table = [["", "CPU ns a slate", "seconds", "peak MB"]]
    table += [[case.name, f"{case.nanoseconds:.1f}", f"{case.wall:.2f}", f"{case.peak:.0f}"] for case in cases]
    bench.publish("shapes", bench.heading(f"{rows:,} slates, default, {bench.threads} threads"), table)


def csv(bench: Bench) -> None:
    """Text, for which a tenth of the rows is enough."""
    rows = max(bench.rows // 10, 1)
    log = bench.log("contexts", "csv", rows)
    ours = [
        bench.slateval("default", log, rows),
        bench.slateval("default, one thread", log, rows, threads=1),
        bench.slateval("additive without bands", log, rows, *ADDITIVE),
    ]
    peers = [*bench.peer("DuckDB", "duckdb", log, rows), *bench.peer("Polars, streaming", "polars", log, rows)]
    bench.check(log, peers)
    bench.take_turns([*ours, *peers])
    size = f"{rows:,} rows, {log.stat().st_size / rows:.1f} bytes a row in the file"
    bench.publish("csv", bench.heading(size), costs([*ours, *peers]))


def memory(bench: Bench) -> None:
    """Data in memory, in Python: arrays, and estimators that are far slower, on fewer rows."""
    many, few = max(bench.rows // 10, 1), min(bench.rows, 100_000)
    log, small = bench.log("contexts", "wide", many), bench.log("contexts", "wide", few)
    arrays = [
        *bench.peer("slateval, Python package", "slateval", log, many),
        *bench.peer("NumPy", "numpy", log, many, threads=1),
    ]
    others = [
        *bench.peer("OBP, SlateIndependentIPS", "obp", small, few, threads=1),
        *bench.peer("VW's estimators, pseudo_inverse", "vw", small, few, threads=1),
    ]
    bench.check(log, arrays)
    bench.check(small, others)
    bench.take_turns([*arrays, *others])
    rows = [["", "rows", "threads", "CPU ns a row", "million rows/s"]]
    for case in [*arrays, *others]:
        rate = case.rows / case.wall / 1e6
        rows.append([case.name, f"{case.rows:,}", str(case.threads), f"{case.nanoseconds:.1f}", f"{rate:.1f}"])
    bench.publish("memory", bench.heading(), rows)


def kernels(bench: Bench) -> None:
    """What a row costs in memory, in time and, where there is valgrind, in instructions."""
    example = bench.example("throughput")
    if example is None:
        return
    best: dict[str, float] = {}
    for _ in range(bench.turns):
        printed = subprocess.run([example], capture_output=True, text=True, check=True).stdout
        for name, nanoseconds in re.findall(r"^(.+?) +([\d.]+) ns a row", printed, re.MULTILINE):
            best[name] = min(best.get(name, float("inf")), float(nanoseconds))
    rows = [["", "ns a row", "instructions a row"]]
    for name, nanoseconds in best.items():
        count = instructions(example, name)
        rows.append([name, f"{nanoseconds:.1f}", MISSING if count is None else f"{count:.0f}"])
    bench.publish("kernels", bench.heading("one thread"), rows)


def instructions(example: Path, name: str) -> float | None:
    """By callgrind: what four more passes of 8,192 rows cost."""
    few, many = 2, 6
    counts = []
    for passes in (few, many):
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        try:
            done = subprocess.run([*valgrind, example, name, str(passes)], capture_output=True, text=True, check=True)
        except FileNotFoundError:
            print("instructions are left out: valgrind is not installed", flush=True)
            return None
        found = re.search(r"Collected : (\d+)", done.stderr)
        assert found, "callgrind says what it collected"
        counts.append(int(found[1]))
    return (counts[1] - counts[0]) / ((many - few) * 8192)


def bands(bench: Bench) -> None:
    """What bands and intervals cost, from a summary in memory."""
    example = bench.example("bands")
    if example is None:
        return
    printed = subprocess.run([example], capture_output=True, text=True, check=True).stdout
    rows = [line.split(": ", 1) for line in printed.splitlines()]
    bench.publish("bands", f"{processor()}, 2,000 draws, five slots, best of 3.\n\n", [["", "cost"], *rows])


def sample(bench: Bench) -> None:
    """The sample log, on which bands are most of the work."""
    log, rows = ROOT / "examples" / "slates.parquet", 12_000
    one, two = ["--target", "new=pi_new"], ["--target", "new=pi_new", "--target", "bolder=pi_bolder", "--by", "device"]
    cases = [
        bench.slateval("one target", log, rows, *one),
        bench.slateval("one target, no bands", log, rows, *one, "--band", "none"),
        bench.slateval("two targets by device (the README's command)", log, rows, *two),
        bench.slateval("two targets by device, no bands", log, rows, *two, "--band", "none"),
    ]
    bench.take_turns(cases)
    table = [["", "CPU seconds", "seconds", "peak MB"]]
    table += [[case.name, f"{case.cpu:.3f}", f"{case.wall:.3f}", f"{case.peak:.0f}"] for case in cases]
    bench.publish("sample", bench.heading(f"{rows:,} rows, {bench.threads} threads"), table)


def growth(bench: Bench, largest: int) -> None:
    """How time and memory grow with rows."""
    sizes = [rows for rows in (10**5, 10**6, 10**7, 10**8) if rows <= largest]
    cases = [bench.slateval("default", bench.log("contexts", "wide", rows), rows) for rows in sizes]
    bench.take_turns(cases)
    table = [["rows", "CPU seconds", "seconds", "CPU ns a row", "peak MB"]]
    for case in cases:
        line = [f"{case.rows:,}", f"{case.cpu:.2f}", f"{case.wall:.2f}", f"{case.nanoseconds:.1f}", f"{case.peak:.0f}"]
        table.append(line)
    bench.publish("growth", bench.heading("`contexts`, default", f"{bench.threads} threads"), table)


def build(bench: Bench) -> None:
    """What a first build costs, with nothing built before."""
    with tempfile.TemporaryDirectory() as target:
        command = ["cargo", "build", "--release", "--locked", "--manifest-path", str(ROOT / "Cargo.toml")]
        case = Case("cargo build --release", 1, bench.threads, [*command, "--target-dir", target])
        case.run()
        size = (Path(target) / "release" / "slateval").stat().st_size / 1e6
    rows = [["CPU minutes", "minutes", "binary, MB"]]
    rows.append([f"{case.cpu / 60:.1f}", f"{case.wall / 60:.1f}", f"{size:.1f}"])
    bench.publish("build", f"{processor()}.\n\n", rows)


PARTS = {
    "parquet": parquet,
    "shapes": shapes,
    "targets": targets,
    "csv": csv,
    "memory": memory,
    "kernels": kernels,
    "bands": bands,
    "sample": sample,
}


def write(page: Path, tables: dict[str, str]) -> None:
    """Puts each table between its marks."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- benches:{name} -->", f"<!-- /benches:{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            print(f"{page} has no place for the table {name}: {begin} … {end}")
            continue
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000, help="rows of the Parquet logs")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--kind", choices=[*KINDS, "drawn"], action="append", help="Parquet logs of this kind alone (see data.py)"
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given several times")
    parser.add_argument("--growth", action="store_true", help="how slateval alone grows, from 1e5 to 1e7 rows")
    parser.add_argument("--huge", action="store_true", help="with --growth: 1e8 rows as well, a log of some 4 GB")
    parser.add_argument("--build", action="store_true", help="what a cold build of the command costs, and nothing else")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page, between their marks")
    parser.add_argument("--folder", type=Path, help="keep the logs here and use them again")
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "slateval")
    arguments = parser.parse_args()
    if not (arguments.build or arguments.binary.exists()):
        sys.exit(f"{arguments.binary} does not exist: run cargo build --release")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kinds = arguments.kind or KINDS
        bench = Bench(arguments.binary, folder, arguments.rows, arguments.turns, arguments.threads, kinds)
        if arguments.growth:
            growth(bench, 10**8 if arguments.huge else 10**7)
        elif arguments.build:
            build(bench)
        else:
            for part in arguments.only or PARTS:
                PARTS[part](bench)
    if arguments.write:
        write(arguments.write, bench.tables)


if __name__ == "__main__":
    main()
