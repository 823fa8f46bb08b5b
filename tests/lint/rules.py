# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Every rule of the broker (doc/protocol.md, section 2) and every promise of SECURITY.md names its tests, in tests/rules.txt; and
so does every fault of doc/faults.md, in its last column."""

import json
import re
import sys

from tree import TOP

RULES = TOP / "tests/rules.txt"
FAULTS = TOP / "doc/faults.md"
# The numbers of the faults that were reported elsewhere: of containers, of what the services stand on, of turns.
REPORTS = {*range(1, 5), *range(6, 19), 20, 21, 22, 23, 25, *range(26, 32), *range(33, 37), *range(38, 48), *range(62, 69)}
VECTORS = TOP / "tests/conformance/vectors/broker.jsonl"


def section(text, begin, end):
    """The lines behind the line that begins so, up to the one that begins with end."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith(begin):
            inside = True
        elif inside and line.startswith(end):
            break
        elif inside:
            lines.append(line)
    return lines


def broker_rules():
    """Paragraphs, list items and table rows below the second heading; each a line of the file."""
    found = []
    for line in section((TOP / "doc/protocol.md").read_text(encoding="utf-8"), "## 2. ", "## 3. "):
        if line.strip() and not line.startswith(("#", "| ---", "| # |")):
            found.append(line)
    return found


def promises():
    """The numbered items of SECURITY.md."""
    lines = section((TOP / "SECURITY.md").read_text(encoding="utf-8"), "## What is promised", "## ")
    return [line for line in lines if re.match(r"\d+\. ", line)]


def entries():
    """Pairs of the beginning of a rule and the tests named below it, indented."""
    found = []
    for line in RULES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace():
            found[-1][1].extend(line.split())
        else:
            found.append((line, []))
    return found


def missing(test, vectors):
    """What is wrong with the name of a test, or nothing."""
    kind, _, name = test.partition(":")
    if kind == "vector":
        return None if name in vectors else "there is no such vector"
    if kind == "vectors":
        return None if name in vectors.values() else "there is no such area of vectors"
    path = TOP / kind
    if not path.is_file():
        return "there is no such file"
    if name and name not in path.read_text(encoding="utf-8"):
        return f"{kind} has no {name}"
    return None


def rules():
    cases = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").strip().split("\n")]
    vectors = {case["id"]: case["area"] for case in cases}
    wanted, faults, covered = broker_rules() + promises(), [], set()
    for beginning, tests in entries():
        matches = [rule for rule in wanted if rule.startswith(beginning)]
        if len(matches) != 1:
            faults.append(f"tests/rules.txt: \"{beginning}\" begins {len(matches)} rules, not one")
        covered.update(matches)
        if not tests:
            faults.append(f"tests/rules.txt: \"{beginning}\" names no test")
        for test in tests:
            fault = missing(test, vectors)
            if fault:
                faults.append(f"tests/rules.txt: {test}: {fault}")
    faults += [f"tests/rules.txt names no test for: {rule[:90]}" for rule in wanted if rule not in covered]
    named = {test.partition(":")[0] for _, tests in entries() for test in tests}
    faults += [
        f"{path.relative_to(TOP)} stands for no rule in tests/rules.txt"
        for path in sorted((TOP / "tests/attack").rglob("*"))
        if path.is_file() and path.suffix in (".c", ".py", "") and path.name != "harness.py"
        and str(path.relative_to(TOP)) not in named
    ]
    return faults


def cells(begin):
    """The rows of the first table below the heading that begins so."""
    lines = section(FAULTS.read_text(encoding="utf-8"), begin, "## ")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return rows[2:]


def matrix():
    """The names of the matrix' rows."""
    sys.path[:0] = [str(TOP / "tests/faults"), str(TOP / "tests/machine/cases")]
    import table  # pylint: disable=import-outside-toplevel,import-error
    return {fault.name for fault in table.FAULTS}


def field():
    names, wrong = matrix(), []
    rows = cells("## Reports from the field")
    numbers = [int(row[0]) for row in rows]
    if sorted(numbers) != sorted(REPORTS):
        wrong.append(f"doc/faults.md: reports missing or twice: {sorted(set(numbers) ^ REPORTS) or numbers}")
    for row in rows:
        tests = re.findall("`([^`]+)`", row[-1])
        if not tests:
            wrong.append(f"doc/faults.md: report {row[0]} names no test")
        for test in tests:
            kind, _, name = test.partition(":")
            fault = missing(test, {}) if kind != "matrix" else None if name in names else "the matrix has no such row"
            if fault:
                wrong.append(f"doc/faults.md: report {row[0]}: {test}: {fault}")
    shown = {row[0] for row in cells("## Results")}
    wrong += [f"doc/faults.md has no result of \"{name}\"" for name in sorted(names - shown)]
    return wrong + [f"doc/faults.md has a result of \"{name}\", which is no row of the matrix" for name in sorted(shown - names)]
