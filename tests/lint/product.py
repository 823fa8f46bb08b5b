# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What `meson install` makes: the complete set, units that systemd understands, and how exposed they are."""

import functools
import os
import pathlib
import re
import tempfile

from tree import TOP, Trouble, build_directory, run

UNITS = "usr/lib/systemd/system"
# Ten times systemd-analyze's figure.
EXPOSURE = {
    "sandboxd.service": 5,
    "sandbox-egress.service": 12,
    "sandboxd-cleanup.service": 15,
    "sandbox-tool-clock@.service": 5,
}
# Of the place where this runs, not of the units.
NOT_OURS = re.compile(r"(is not executable: No such file|Command 'man |Unit \S+ not found|Failed to (open|connect|prepare)|cgroup)")


@functools.lru_cache(maxsize=None)
def tree():
    """An installed tree; it goes away with this process."""
    build = build_directory()
    holder = tempfile.TemporaryDirectory(prefix="lint-")
    status, text = run("meson", "install", "-C", str(build), "--no-rebuild", "--quiet", env={**os.environ, "DESTDIR": holder.name})
    if status:
        raise Trouble(f"meson install failed: {text.strip().splitlines()[-1]}")
    if not (pathlib.Path(holder.name) / "usr").is_dir():
        raise Trouble("the build was not made with --prefix=/usr")
    tree.holder = holder
    return pathlib.Path(holder.name)


def installed():
    """Compared with installed.txt: directories only where they are empty, and without the compiler's file names."""
    top, found = tree(), []
    for path in top.rglob("*"):
        if path.is_dir() and any(path.iterdir()):
            continue
        found.append("/" + str(path.relative_to(top)) + ("/" if path.is_dir() else ""))
    wanted = [line for line in (TOP / "tests/lint/installed.txt").read_text().splitlines() if line and line[0] != "#"]
    faults = [f"{name} is not installed" for name in wanted if name not in found]
    faults += [f"{name} is installed, but not in tests/lint/installed.txt" for name in sorted(found) if name not in wanted]
    faults += [
        f"{path.relative_to(top)} can be written by others"
        for path in top.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o022
    ]
    return faults


def units():
    paths = sorted(str(path) for path in (tree() / UNITS).iterdir())
    _, text = run("systemd-analyze", "verify", *paths)
    return [line for line in text.splitlines() if line.strip() and not NOT_OURS.search(line)]


def exposure():
    faults = []
    for unit, limit in EXPOSURE.items():
        status, text = run("systemd-analyze", "security", "--offline=yes", "--no-pager", f"--threshold={limit}", str(tree() / UNITS / unit))
        figure = re.search(r"exposure level for \S+: ([\d.]+)", text)
        if figure is None:
            faults.append(f"{unit}: {text.strip().splitlines()[-1] if text.strip() else 'no figure'}")
        elif status or float(figure.group(1)) * 10 > limit + 0.01:
            faults.append(f"{unit}: {figure.group(1)}, and {limit / 10} is the most")
    return faults
