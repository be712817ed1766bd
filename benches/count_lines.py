"""Counts the lines of Rust that are code: no comments, no blank lines, no tests.

    python3 benches/count_lines.py              # by crate
    python3 benches/count_lines.py --files      # by file
    python3 benches/count_lines.py --at REV     # of another revision

Left out are the folders of tests, benchmarks, examples and fuzz targets, files that are modules of tests, and items
marked `#[cfg(test)]`. The code is formatted by rustfmt, so an item ends where its first indentation comes back.
"""

import argparse
import re
import subprocess
from collections import Counter
from pathlib import PurePosixPath

OTHER = {"tests", "benches", "examples", "fuzz", "slateval-testing"}


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def is_code(path: PurePosixPath) -> bool:
    is_test = path.stem == "tests" or path.stem.endswith("_tests") or path.stem == "pinned_bytes"
    return not is_test and OTHER.isdisjoint(path.parts)


def code_lines(text: str) -> int:
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment.group().count("\n"), text, flags=re.DOTALL)
    count, skipped = 0, None
    for line in text.splitlines():
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        if not bare or bare.startswith("//"):
            continue
        if skipped == "begins":
            if bare.startswith("#["):
                continue
            is_short = bare.endswith((";", "{}")) or (bare.endswith("}") and "{" in bare)
            skipped = None if is_short else indent
        elif skipped is not None:
            skipped = None if indent == skipped and bare.startswith("}") else skipped
        elif re.match(r"#\[cfg\((all\()?test\b", bare):
            skipped = "begins"
        else:
            count += 1
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="count by file")
    parser.add_argument("--at", default="HEAD", help="the revision, HEAD by default")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    for name in git("ls-tree", "-r", "--name-only", arguments.at).splitlines():
        path = PurePosixPath(name)
        if path.suffix == ".rs" and is_code(path):
            part = name if arguments.files else "/".join(path.parts[:2])
            counts[part] += code_lines(git("show", f"{arguments.at}:{name}"))
    for part, count in counts.most_common():
        print(f"{count:7} {part}")
    print(f"{counts.total():7} all")


if __name__ == "__main__":
    main()
