# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The tree that is checked: its files, its build directory, programs to run."""

import functools
import os
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]


class Trouble(Exception):
    """A check could not be made; that is a failure too."""


def run(*command, **options):
    """Runs a program; returns (status, what it printed)."""
    try:
        done = subprocess.run(
            command, cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=300, check=False, **options,
        )
    except FileNotFoundError as error:
        raise Trouble(f"{command[0]} is not installed (tests/deps lint)") from error
    return done.returncode, done.stdout


@functools.lru_cache(maxsize=None)
def tracked():
    """The files of the project, as paths relative to its top: git's, or all but build trees where there is no git."""
    status, text = run("git", "-c", f"safe.directory={TOP}", "ls-files", "--cached", "--others", "--exclude-standard")
    if status == 0:
        names = text.splitlines()
    else:
        names = [
            str(path.relative_to(TOP)) for path in TOP.rglob("*")
            if path.is_file() and not path.relative_to(TOP).parts[0].startswith((".git", "build", ".machines"))
        ]
    return sorted(name for name in names if (TOP / name).is_file() and not (TOP / name).is_symlink())


@functools.lru_cache(maxsize=None)
def read(name):
    """A file's text, or None for one that is no text."""
    data = (TOP / name).read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def with_suffix(*suffixes):
    return [name for name in tracked() if name.endswith(suffixes)]


def scripts(*interpreters):
    """Files whose first line names one of these interpreters."""
    found = []
    for name in tracked():
        first = (read(name) or "").split("\n", 1)[0]
        if first.startswith("#!") and first.split("/")[-1].split(" ")[-1] in interpreters:
            found.append(name)
    return found


def build_directory():
    build = pathlib.Path(os.environ.get("ROUNDTABLE_BUILD", TOP / "build-check"))
    if not (build / "build.ninja").exists():
        raise Trouble(f"there is no build in {build}: ./check lint makes it, or set ROUNDTABLE_BUILD")
    return build
