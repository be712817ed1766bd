"""Compares the numbers of two builds of the command.

    python3 benches/compare_json.py OLD NEW              # two binaries
    python3 benches/compare_json.py OLD NEW --logs 200   # more odd logs

Both evaluate, inspect and gate the sample log with every structure, correction and band, by segments, with clusters
and with a baseline, and odd logs that are made here: few rows, constant rewards or propensities, short slates, large
and tiny numbers. A number is the same if it differs by less than a billionth of its interval's width, or of its own
size where it has no interval; rewards of 1e6 to 1e9 leave fewer digits to differences of means. What differs is listed
with both numbers.
"""

import argparse
import csv
import itertools
import json
import math
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAMPLE = "examples/slates.parquet"
TOLERANCE = 1e-9
#: Names of programs and times are not compared.
LEFT_OUT = {"settings", "command", "version", "inputs"}


def run(binary: str, *words: str) -> Any:
    done = subprocess.run([binary, *words], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"exit": done.returncode, "says": done.stderr.strip().splitlines()[:1]}


def differences(a: Any, b: Any, width: float = 0.0, at: str = "") -> Iterator[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        ends = [part for part in (a.get("lower"), a.get("upper")) if isinstance(part, float | int)]
        width = ends[1] - ends[0] if len(ends) == 2 else width
        for key in sorted((a.keys() | b.keys()) - LEFT_OUT):
            yield from differences(a.get(key), b.get(key), width, f"{at}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for place, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, width, f"{at}[{place}]")
    elif isinstance(a, float | int) and isinstance(b, float | int):
        if not math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=max(TOLERANCE * width, 1e-13)):
            yield f"{at}: {a} {b}"
    elif a != b and not (isinstance(a, str) and isinstance(b, str)):
        yield f"{at}: {str(a)[:60]} {str(b)[:60]}"


def sample_runs() -> Iterator[list[str]]:
    targets = ["--target", "new=pi_new", "--target", "bolder=pi_bolder"]
    structures = ["auto", "additive", "product", "order:2", "order:3", "interactions:1+2,2+3", "paper-order:2"]
    corrections = ["auto", "none", "self-normalized", "control-variate"]
    for structure, correction in itertools.product(structures, corrections):
        yield ["evaluate", SAMPLE, *targets, "--structure", structure, "--correction", correction]
    for band in ("multiplier", "bernstein", "none"):
        yield ["evaluate", SAMPLE, *targets, "--band", band]
    for more in (
        ["--by", "device"],
        ["--cluster", "device"],
        ["--baseline", "new"],
        ["--bins", "64"],
        ["--bins", "log"],
    ):
        yield ["evaluate", SAMPLE, *targets, *more]
    yield ["evaluate", SAMPLE, *targets, "--by", "device", "--baseline", "new", "--confidence", "0.8", "--full"]
    yield ["inspect", SAMPLE, *targets, "--interactions"]


def odd_log(path: Path, seed: int) -> list[str]:
    draw = random.Random(seed)
    rows, slots = draw.choice([1, 2, 7, 100, 300, 2000]), draw.choice([1, 2, 3, 5, 7])
    rewards = draw.choice(["binary", "constant", "uniform", "large", "heavy", "far"])
    kinds = draw.choice(["uniform", "spread", "tiny", "same"])

    def reward() -> float:
        match rewards:
            case "binary":
                return float(draw.random() < 0.2)
            case "constant":
                return 3.0
            case "uniform":
                return draw.random()
            case "large":
                return draw.random() * 1e9
            case "heavy":
                return draw.paretovariate(1.5)
            case _:
                return 1e6 + draw.random()

    def pair() -> tuple[float, float]:
        match kinds:
            case "uniform":
                return 0.25, draw.choice([0.85, 0.05])
            case "spread":
                mu = draw.uniform(0.05, 0.95)
                return mu, draw.choice([mu, draw.random()])
            case "tiny":
                return 10 ** draw.uniform(-4, 0), draw.random()
            case _:
                return 0.5, 0.5

    ragged = draw.random() < 0.3
    names = [f"{name}_{slot + 1}" for name in ("mu", "pi") for slot in range(slots)]
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["reward", "group", *names])
        for _ in range(rows):
            pairs: list[tuple[Any, Any]] = [pair() for _ in range(slots)]
            if ragged:
                length = draw.randint(1, slots)
                pairs[length:] = [("", "")] * (slots - length)
            out.writerow([reward(), draw.randint(1, 3), *(mu for mu, _ in pairs), *(pi for _, pi in pairs)])
    return draw.choice([[], ["--by", "group"], ["--cluster", "group"], ["--structure", "product"], ["--bins", "log"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--logs", type=int, default=50, help="how many odd logs")
    arguments = parser.parse_args()
    compared, different = 0, 0

    def compare(words: list[str]) -> None:
        nonlocal compared, different
        found = list(differences(run(arguments.old, *words), run(arguments.new, *words)))
        compared += 1
        different += bool(found)
        for line in found[:8]:
            print(f"{' '.join(words)}\n    {line}")

    for words in sample_runs():
        compare([*words, "--json", "-"])
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.toml"
        rules.write_text('[[rule]]\nname = "mean"\nrequire = "mean(new) >= mean(logging)"\n')
        compare(["gate", SAMPLE, "--target", "new=pi_new", "--rules", str(rules), "--format", "json"])
        for seed in range(arguments.logs):
            path = Path(folder) / f"odd-{seed}.csv"
            more = odd_log(path, seed)
            compare(["evaluate", str(path), *more, "--json", "-"])
            saved = [f"{path}.{name}.slateval" for name in ("old", "new")]
            for binary, file in zip((arguments.old, arguments.new), saved, strict=True):
                subprocess.run([binary, "evaluate", str(path), *more, "--save", file], capture_output=True)
            shown = [
                run(b, "show", f, "--json", "-") for b, f in zip((arguments.old, arguments.new), saved, strict=True)
            ]
            compared += 1
            for line in itertools.islice(differences(*shown), 8):
                print(f"show of odd log {seed}\n    {line}")
    print(f"{compared} runs compared, {different} evaluations differ")


if __name__ == "__main__":
    main()
