# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""(a) One turn, and (b) many at once, each beside `docker run` of the same container."""

import itertools
import time

import rig

# Outcomes are kept for an hour: an id of an earlier run would be answered without a turn.
message_ids = (f"{time.time()}-{number}" for number in itertools.count())


def one(setup, report, rounds):
    """Interleaved: a round has one of each kind, so that a busy moment of the host is everybody's."""
    kinds = {name: ([], []) for name in ("docker run", "docker run, crun", "prepared", "prepared, message-id", "cold",
                                         "cold, message-id", "cold, crun")}
    report.section("(a) one turn: from the call to the reply, and to nothing left")
    setup.restart(2)
    name = rig.channel(0)

    def add(kind, took):
        for samples, value in zip(kinds[kind], took):
            samples.append(value)

    def prepared(kind, **options):
        setup.settle(1)
        add(kind, setup.turn(name, **options))

    def cold(kind, **options):
        add(kind, setup.turn(name, **options))
        setup.settle()

    def warm_up():
        setup.turn(name)
        setup.settle()

    setup.docker_run(runtime="crun")
    for number in range(rounds + 1):
        add("docker run", setup.docker_run())
        add("docker run, crun", setup.docker_run(runtime="crun"))
        setup.configure()
        warm_up()
        cold("cold")
        cold("cold, message-id", message_id=next(message_ids))
        setup.configure(runtime="crun")
        warm_up()
        cold("cold, crun")
        if setup.can_prepare:
            setup.configure(prepared=1)
            setup.bot.turn(name)
            prepared("prepared")
            prepared("prepared, message-id", message_id=next(message_ids))
        if number == 0:  # the first of each warms caches up
            for samples in kinds.values():
                samples[0].clear()
                samples[1].clear()

    kinds = {kind: samples for kind, samples in kinds.items() if samples[0]}
    base = report.row("docker run", kinds["docker run"][0])
    rows = {kind: report.row(kind + ", to the reply", samples[0], base=base) for kind, samples in kinds.items() if kind != "docker run"}
    base_end = report.row("docker run, to the end", kinds["docker run"][1])
    for kind, samples in kinds.items():
        if kind != "docker run":
            report.row(kind + ", to nothing left", samples[1], base=base_end)
    if "prepared" in rows:
        report.target("prepared turn over docker run's first byte", rows["prepared"].median / base.median, 0.03)
        report.target("prepared turn, p95 over docker run's first byte", rows["prepared"].p95 / base.median, 0.10)
    report.target("cold turn over docker run's first byte", rows["cold"].median / base.median, 0.60)
    report.target("cold turn by crun over docker run's first byte", rows["cold, crun"].median / base.median, 0.50)


def many(setup, report, rounds):
    report.section("(b) several channels at once: from the first call to the last reply; then turns per second")
    setup.restart(16)
    kinds = (["prepared"] if setup.can_prepare else []) + ["cold", "docker run"]
    for count in (1, 2, 4, 8, 16):
        channels = [rig.channel(index) for index in range(count)]
        samples = {kind: [] for kind in kinds}
        for _ in range(rounds):
            setup.configure()
            samples["cold"].append(max(setup.repeated(lambda: setup.bot.turns(channels))))
            setup.settle()
            if setup.can_prepare:
                prepare(setup, channels)
                samples["prepared"].append(max(setup.repeated(lambda: setup.bot.turns(channels))))
                setup.configure()
            samples["docker run"].append(max(setup.repeated(lambda: setup.docker_runs(count))))
        base = report.row(f"{count}: docker run", samples["docker run"])
        rows = {kind: report.row(f"{count}: {kind}", samples[kind], base=base) for kind in kinds if kind != "docker run"}
        if count == 8 and setup.can_prepare:
            report.target("burst of 8 prepared over 8 docker run at once", rows["prepared"].median / base.median, 0.05)
    steady(setup, report, max(1, rounds // 10), kinds)


def prepare(setup, channels):
    """A pool of just these channels' size: those used last have it."""
    setup.configure(prepared=len(channels))
    setup.repeated(lambda: setup.bot.turns(channels))
    setup.settle(len(channels))


def window_rates(times, callers):
    """Turns a second of each window of two turns a caller: without the first ones, which find all at rest (and may be prepared),
    and the last ones, when some callers have left."""
    width = 2 * callers
    marks = sorted(times)[callers - 1:-callers:width]
    return [width / (end - begin) for begin, end in zip(marks, marks[1:])]


# ext4 gives the inode of a deleted file to no other for five seconds, and looks past all of them at each new file: what one
# kind has deleted would slow the next one down.
INODE_REST_SECONDS = 6


def steady(setup, report, rounds, kinds):
    """8 callers, each asking again as soon as it has its reply: ten windows a round."""
    channels = [rig.channel(index) for index in range(8)]
    callers, count = len(channels), len(channels) * 22
    ours = kinds[:-1] + ["cold, crun"]
    rates = {kind: [] for kind in ["docker run", *ours]}
    for _ in range(rounds):
        time.sleep(INODE_REST_SECONDS)
        rates["docker run"] += window_rates(setup.docker_steady(callers, count), callers)
        for kind in ours:
            if kind == "prepared":
                prepare(setup, channels)
            elif kind == "cold, crun":
                setup.configure(runtime="crun")
            time.sleep(INODE_REST_SECONDS)
            rates[kind] += window_rates(setup.repeated(lambda: setup.bot.steady(channels, count)), callers)
            setup.configure()
            setup.settle()
    base = report.row("8 callers: docker run", rates["docker run"], "turns/s")
    rows = {kind: report.row(f"8 callers: {kind}", rates[kind], "turns/s", base) for kind in ours}
    report.target(f"sustained rate, {kinds[0]}, over docker run's", rows[kinds[0]].median / base.median, 1.7, at_least=True)
