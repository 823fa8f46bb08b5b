# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""House rules of the source: licence lines, size, layers, words, and what other linters find."""

import concurrent.futures
import json
import os
import re

from tree import TOP, Trouble, build_directory, read, run, scripts, tracked, with_suffix

MAX_LINES = 500

# Which rooms a room may include, besides itself. Programs never include each other's rooms; nothing points upward.
LAYERS = {
    "base": set(),
    "wire": {"base"},
    "config": {"base", "wire"},
    "container": {"base"},
    "bus": {"base", "wire"},
    "turn": {"base", "wire", "config", "container", "bus"},
    "daemon": {"base", "wire", "config", "container", "bus", "turn"},
    "broker": {"base", "wire"},
    "egress": {"base", "wire", "config"},
    # sandboxctl holds other people's workers against the broker's own rules.
    "ctl": {"base", "wire", "config", "container", "broker"},
    "cleanup": {"base", "bus", "container"},
    "tools": {"base"},
    "worker": {"base", "wire"},
}

# Data, and what has no comments.
NO_SPDX = re.compile(
    r"(\.(json|jsonl|md|bin|txt|pem|tar)$|^LICENSE$|^NEWS$|^\.(gitignore|editorconfig|clang-format|clang-tidy|mailmap)$|/corpus/)"
)
SPDX = ("SPDX-License-Identifier: MIT", "SPDX-FileCopyrightText: The roundtable-sandbox authors")

# What is left by somebody who was not done.
WORDS = re.compile(r"(\bTODO\b|\bFIXME\b|\bXXX\b(?!X))")


def spdx():
    faults = []
    for name in tracked():
        if NO_SPDX.search(name) or not (text := read(name)):
            continue
        head = "\n".join(text.split("\n", 8)[:8])
        faults += [f"{name}: no line \"{line}\" at its top" for line in SPDX if line not in head]
    return faults


def length():
    return [
        f"{name}: {count} lines, {MAX_LINES} are the most; what would be a second file?"
        for name in with_suffix(".c", ".h", ".py", ".js", ".mjs")
        if (count := (read(name) or "").count("\n")) > MAX_LINES
    ]


def layers():
    faults = []
    for name in with_suffix(".c", ".h"):
        parts = name.split("/")
        if parts[0] not in ("src", "worker"):
            continue
        room = parts[1] if parts[0] == "src" else "worker"
        if room not in LAYERS:
            faults.append(f"{name}: the room {room} has no line in tests/lint/source.py")
            continue
        for included in re.findall(r'^#include "(\w+)/', read(name), re.MULTILINE):
            if included in LAYERS and included != room and included not in LAYERS[room]:
                faults.append(f"{name}: {room} must not include {included}")
    return faults


def words():
    return [
        f"{name}:{number}: {found.group()}"
        for name in tracked() if name != "tests/lint/source.py"
        for number, line in enumerate((read(name) or "").splitlines(), 1)
        if (found := WORDS.search(line))
    ]


def spelling():
    names = [name for name in tracked() if not re.search(r"(\.jsonl|-lock\.json|/corpus/|^LICENSE$)", name) and read(name) is not None]
    status, text = run("codespell", "--quiet-level=7", "--ignore-words", "tests/lint/known-words.txt", *names)
    return text.splitlines() or ([f"codespell ended with status {status}"] if status else [])


def shell():
    names = sorted(set(scripts("bash", "sh") + with_suffix(".bash", ".sh")) | {"tests/deps"})
    status, text = run("shellcheck", "--external-sources", "--format=gcc", *names)
    return text.splitlines() or ([f"shellcheck ended with status {status}"] if status else [])


def python():
    faults = []
    for name in sorted(set(scripts("python3") + with_suffix(".py"))):
        try:
            compile(read(name), name, "exec")
        except SyntaxError as error:
            faults.append(f"{name}: {error}")
    return faults


def javascript():
    faults = []
    for name in with_suffix(".js", ".mjs"):
        status, text = run("node", "--check", name)
        faults += [f"{name}: {text.strip()}"] if status else []
    return faults


def layout():
    # Each version lays out a little differently; the tree's is that of Debian 12, where this check is made.
    _, version = run("clang-format", "--version")
    if not re.search(r"version 14\.", version):
        return None
    if not (TOP / ".clang-format").exists():
        raise Trouble("there is no .clang-format")
    names = with_suffix(".c", ".h")
    _, text = run("clang-format", "--dry-run", *names)
    changed = re.findall(r"^([^\s:]+):\d+:\d+: warning:", text, re.MULTILINE)
    return [f"{name}: clang-format -i would change it" for name in sorted(set(changed))]


def tidy():
    """clang-tidy by .clang-tidy. Its analyzer looks less far than it does by hand, in half the time."""
    build = build_directory()
    commands = json.loads((build / "compile_commands.json").read_text())
    paths = {os.path.normpath(os.path.join(one["directory"], one["file"])) for one in commands}
    names = sorted(path for path in paths if path.startswith((f"{TOP}/src/", f"{TOP}/worker/")))
    quick = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang", "--extra-arg=mode=shallow"]

    def look(some):
        status, text = run("clang-tidy", "-p", str(build), "--quiet", *quick, *some)
        found = re.findall(r"^(\S+?:\d+):\d+: (?:warning|error): (.*)$", text, re.MULTILINE)
        faults = {f"{os.path.relpath(os.path.join(build, place), TOP)}: {what}" for place, what in found}
        return faults or ({f"clang-tidy ended with status {status}: {text[-500:]}"} if status else set())

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        return sorted(set().union(*workers.map(look, (names[at : at + 8] for at in range(0, len(names), 8)))))
