# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""(d) memory, (e) start and admission with many channels, (f) what a turn costs as channels grow."""

import collections
import os
import pathlib
import pwd
import re

import rig

MANY = (0, 1000, 10000)


def pss(pid):
    """MB, or 0 where the process is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return int(re.search(r"^Pss:\s+(\d+) kB", text, re.M).group(1)) * 1024 / 1e6


def processes():
    """Numbers by the program's name, and of workers by their user."""
    worker, found = pwd.getpwnam("sandbox-worker").pw_uid, collections.defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == worker:
                    found["worker"].append(int(name))
                else:
                    found[os.path.basename(os.readlink(f"/proc/{name}/exe"))].append(int(name))
            except OSError:
                continue
    return found


def parent(pid):
    return int(re.search(r"^PPid:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8"), re.M).group(1))


def cpu_ms(pid):
    """Its own processor time, by nanoseconds' count."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e6


def memory(setup, report, rounds):
    report.section("(d) memory: PSS")
    daemon = {}
    for count in MANY:
        setup.restart(count)
        if count:
            setup.bot.turn(rig.channel(0))
        setup.settle()
        daemon[count] = report.row(f"sandboxd, {count} channels", [pss(processes()["sandboxd"][0])], "MB")
    per_channel = (daemon[10000].median - daemon[0].median) * 1e6 / 10000
    report.row("sandboxd, an idle channel", [per_channel], "bytes")
    report.row("sandbox-egress", [pss(processes()["sandbox-egress"][0])], "MB")
    report.target("sandboxd's MB with 1,000 channels", daemon[1000].median, 8)
    if not setup.can_prepare:
        return
    brokers, containers = [], []
    for count in (1, 4):
        setup.restart(count)
        setup.configure(prepared=count)
        setup.bot.turns([rig.channel(index) for index in range(count)])
        setup.settle(count)
        found = processes()
        brokers = [pss(pid) for pid in found["sandbox-broker"]]
        containers = [pss(pid) + pss(parent(pid)) for pid in found["worker"]]
        workers = [pss(pid) for pid in found["worker"]]
        report.row(f"waiting broker, {count} of them", brokers, "MB")
        report.row(f"waiting worker, {count} of them", workers, "MB")
        report.row(f"waiting container with its shim, {count} of them", containers, "MB")
    report.target("a waiting broker's MB, 4 of them", max(brokers), 4)
    report.target("a waiting container's MB with its shim, 4 of them", max(containers), 6)


def start(setup, report, rounds):
    report.section("(e) from the program's start to READY; StartTurn until it is accepted")
    ready, admitted = {count: [] for count in MANY}, {1: [], 10000: []}
    for _ in range(rounds):
        for count in MANY:
            ready[count].append(setup.restart(count))
        for count in admitted:
            setup.restart(count)
            setup.bot.turn(rig.channel(0), method="StartTurn")
            setup.settle()
            admitted[count].append(setup.bot.turn(rig.channel(0), method="StartTurn"))
            setup.settle()
    base = report.row("READY, no channel", ready[0])
    rows = [report.row(f"READY, {count} channels", ready[count], base=base) for count in MANY[1:]]
    base = report.row("StartTurn, 1 channel", admitted[1])
    report.row("StartTurn, 10000 channels", admitted[10000], base=base)
    report.target("READY with 10,000 channels over READY with none", rows[-1].ratio(rows[-1].median), 3)


def growth(setup, report, rounds):
    report.section("(f) a cold turn as channels grow: to the reply; processor time of sandboxd")
    counts, each = (10, 100, 1000), 6
    took, spent = {count: [] for count in counts}, {count: [] for count in counts}
    for number in range((rounds + each - 1) // each):
        for count in counts:
            setup.restart(count)
            setup.bot.turn(rig.channel(0))
            setup.settle()
            pid = processes()["sandboxd"][0]
            for index in range(each):
                before = cpu_ms(pid)
                took[count].append(setup.turn(rig.channel((number * each + index) % count))[0])
                setup.settle()
                spent[count].append(cpu_ms(pid) - before)
    for what, samples in (("to the reply", took), ("sandboxd's time", spent)):
        base = None
        for count in counts:
            row = report.row(f"{count} channels, {what}", samples[count], base=base)
            base = base or row
