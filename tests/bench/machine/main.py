#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Inside a machine: the sections of the benchmark, one after another; tests/bench/run calls it."""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import hop  # noqa: E402
import rig  # noqa: E402
import sizes  # noqa: E402
import table  # noqa: E402
import turns  # noqa: E402

SECTIONS = {"a": turns.one, "b": turns.many, "c": hop.hop, "d": sizes.memory, "e": sizes.start, "f": sizes.growth}


def context():
    """What the figures belong to."""
    load = open("/proc/loadavg", encoding="ascii").read().split()[:3]
    return {"processors": os.cpu_count(), "load": load, "kernel": os.uname().release,
            "docker": rig.run("docker", "version", "--format", "{{.Server.Version}}").strip(),
            "systemd": rig.run("systemctl", "--version").split()[1],
            "crun": rig.run("crun", "--version").split()[2], "sandboxd": rig.run("/usr/libexec/roundtable-sandbox/sandboxd", "--version").split()[1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--quick", action="store_const", const=3, dest="rounds")
    parser.add_argument("--only", default="".join(SECTIONS))
    parser.add_argument("--json", required=True)
    options = parser.parse_args()
    chosen = [SECTIONS[letter] for letter in options.only if letter in SECTIONS]
    if not chosen:
        parser.error("--only takes letters of abcdef")
    options_of = open("/opt/roundtable-tests/sandboxd.conf", encoding="utf-8").read()
    setup, report = rig.Rig("PreparedTurns=" in options_of), table.Report(context())
    try:
        for section in chosen:
            section(setup, report, options.rounds)
    finally:  # what was measured is not lost with what could not be
        report.print()
        report.write(options.json)
    print("\nload {} before, {} after; {} rounds".format(report.context["load"][0], open("/proc/loadavg", encoding="ascii").read().split()[0],
                                                         options.rounds))


if __name__ == "__main__":
    main()
