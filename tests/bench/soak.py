#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Inside a machine: N turns over 20 channels at once, with random cancellations and kills; tests/bench/soak calls it.

    soak.py N [--seed S] [--prepared P]

With PreparedTurns=P in sandboxd.conf, where P is not 0.

Each channel has a caller of its own that asks, waits, and asks again. What happens to a turn is drawn from the seed: it is
let be, cancelled, or its broker or worker is killed; now and then sandboxd or the egress is killed or restarted. Prints memory
and descriptors of the services as it goes. Status 1 where something is left, an outcome is lost or doubled, or what a service
takes has grown. A signal ends it early, with the judgement.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import re
import signal
import sys
import threading
import time

import dbus

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cases"))
import support  # noqa: E402

N_CHANNELS = 20
ACCEPTED = "d77a9d27edcf0e9112b82a4c35451bc4"
FINISHED = "b1fc4e67be3649bb3d1630953ba1c36f"
SERVICES = {"sandboxd": "sandboxd.service", "egress": "sandbox-egress.service"}
# What may happen to one turn, and how often; and to the services, every so many turns.
DEEDS = [("let be", 70), ("cancel", 15), ("kill broker", 5), ("kill worker", 5), ("quick cancel", 5)]
EVENTS = [(250, "sandboxd killed"), (400, "sandboxd restarted"), (330, "egress killed")]
# The daemon was not there: the caller knows that no answer will come.
GONE = ("org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.TimedOut")


class Soak:
    def __init__(self, n_turns, seed):
        self.n_turns, self.random = n_turns, random.Random(seed)
        self.lock = threading.Lock()
        self.asked = 0
        self.outcomes = collections.Counter()
        self.deeds = collections.Counter()
        self.lost = []
        self.samples = []
        self.daemon_lives = 0
        self.services_change = threading.Lock()

    def draw(self):
        """The next turn's number and deed; None when all were asked."""
        with self.lock:
            if self.asked >= self.n_turns:
                return None
            self.asked += 1
            deed = self.random.choices([name for name, _ in DEEDS], [weight for _, weight in DEEDS])[0]
            self.deeds[deed] += 1
            return self.asked, deed, self.random.random()

    def channel(self, name):
        bus = dbus.SystemBus(private=True)
        bus.set_exit_on_disconnect(False)
        while (drawn := self.draw()) is not None:
            number, deed, fraction = drawn
            self.event(number)
            worker = None
            if deed != "let be":
                worker = threading.Thread(target=self.meddle, args=(name, deed, fraction))
                worker.start()
            outcome = self.ask(bus, name, number)
            if worker is not None:
                worker.join()
            with self.lock:
                self.outcomes[outcome] += 1
                if number % 100 == 0:
                    self.sample(number)
        bus.close()

    def ask(self, bus, name, number):
        while True:
            before = self.daemon_lives
            got = call_turn(bus, name, number)
            if got != support.ERROR + "ShuttingDown":
                break
            # Not taken, so it is no turn yet.
            time.sleep(0.1)
        if got in GONE and before == self.daemon_lives:
            # The deed may be noticed here before it is counted there.
            with self.services_change:
                if before == self.daemon_lives:
                    self.lost.append(f"turn {number}: {got}")
        return got.rsplit(".", 1)[-1]

    def meddle(self, name, deed, fraction):
        """Some way into the turn, which takes about half a second."""
        if deed != "quick cancel":
            time.sleep(fraction * 0.5)
        with contextlib.suppress(OSError, IndexError, support.Failed, AssertionError, dbus.exceptions.DBusException):
            if "cancel" in deed:
                bus = dbus.SystemBus(private=True)
                try:
                    turns = bus.call_blocking("org.roundtable.Sandbox1", "/org/roundtable/Sandbox1",
                                              "org.roundtable.Sandbox1.Manager", "ListTurns", "", [], timeout=30)
                    mine = [str(turn[0]) for turn in turns if turn[1] == name]
                    bus.call_blocking("org.roundtable.Sandbox1", "/org/roundtable/Sandbox1",
                                      "org.roundtable.Sandbox1.Manager", "CancelTurn", "s", [mine[0]], timeout=30)
                finally:
                    bus.close()
            elif deed == "kill broker":
                os.kill(support.processes("sandbox-broker")[0], signal.SIGKILL)
            else:
                os.kill(support.workers()[0], signal.SIGKILL)

    def event(self, number):
        for every, what in EVENTS:
            if number % every == 0:
                with self.services_change:
                    self.deeds[what] += 1
                    if "sandboxd" in what:
                        self.daemon_lives += 1
                    service, how = what.split()
                    if how == "restarted":
                        support.run("systemctl", "restart", SERVICES[service])
                    else:
                        pid = support.main_pid(SERVICES[service])
                        support.run("systemctl", "kill", "-s", "KILL", SERVICES[service])
                        support.eventually("it is dead", lambda: not os.path.exists(f"/proc/{pid}"), 30)
                    # Again, for the calls that came between the first count and the deed.
                    if "sandboxd" in what:
                        self.daemon_lives += 1

    def sample(self, number):
        found = {}
        for name, unit in SERVICES.items():
            with contextlib.suppress(OSError, ValueError, KeyError):
                pid = support.main_pid(unit)
                rss = int(support.status(pid)["VmRSS"].split()[0])
                found[name] = (pid, rss, len(os.listdir(f"/proc/{pid}/fd")))
        self.samples.append((number, found))
        print(f"{number:6} turns: " + ", ".join(f"{name} {rss} KiB, {fds} descriptors (pid {pid})"
                                                for name, (pid, rss, fds) in found.items()), flush=True)


def call_turn(bus, name, number):
    """"replied", or an error's name."""
    try:
        bus.call_blocking("org.roundtable.Sandbox1", "/org/roundtable/Sandbox1", "org.roundtable.Sandbox1.Manager", "RunTurn",
                          "ssssa{sv}", [name, f"s{number}", "Soak", "[[script:plain]] " + str(number),
                                        dbus.Dictionary({}, signature="sv")], timeout=120)
    except dbus.exceptions.DBusException as error:
        return error.get_dbus_name()
    return "replied"


def journalled(cursor):
    """How many outcomes the journal has for each turn that was accepted."""
    counts = {}
    out = support.run("journalctl", "--after-cursor", cursor, "-o", "json", "--no-pager", "-t", "sandboxd",
                      "--output-fields=MESSAGE_ID,SANDBOX_TURN", timeout=300)
    for line in out.splitlines():
        entry = json.loads(line)
        if entry.get("MESSAGE_ID") == ACCEPTED:
            counts.setdefault(entry["SANDBOX_TURN"], 0)
        elif entry.get("MESSAGE_ID") == FINISHED:
            counts[entry["SANDBOX_TURN"]] = counts.get(entry["SANDBOX_TURN"], 0) + 1
    return counts


def complaints(cursor):
    """What sandboxd says of failed turns, each kind once."""
    out = support.run("journalctl", "--after-cursor", cursor, "-o", "cat", "--no-pager", "-t", "sandboxd", "-p", "err", timeout=300)
    kinds = collections.Counter(re.sub(r"\b[0-9a-f-]{12,}\b", "…", line) for line in out.splitlines())
    for line, count in kinds.most_common(12):
        print(f"{count:6} times: {line[:200]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("turns", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--prepared", type=int, default=0)
    options = parser.parse_args()
    config = "[Turns]\nMaxTurns=8\nMaxQueued=8\nSpeakerTurns=off\n"
    if options.prepared:
        config += f"PreparedTurns={options.prepared}\n"
    soak = Soak(options.turns, options.seed)
    # Enough: what was asked is still waited for and judged.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(soak, "n_turns", 0))
    channels = [f"test:soak-{index}" for index in range(N_CHANNELS)]
    with support.configured(config):
        for channel in channels:
            support.sandbox(channel)
        support.nothing_left()
        idle = len(os.listdir(f"/proc/{support.main_pid('sandboxd.service')}/fd"))
        last = support.run("journalctl", "-n", "1", "-o", "json", "--no-pager").splitlines()[-1]
        cursor = json.loads(last)["__CURSOR"]
        began = time.monotonic()
        threads = [threading.Thread(target=soak.channel, args=(channel,)) for channel in channels]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - began
        # What waits for a next turn is nothing that was left.
        if options.prepared:
            support.CASE_DROP_IN.write_text(config + "PreparedTurns=0\n", encoding="utf-8")
            support.run("systemctl", "reload", "sandboxd.service")
        faults = judge(soak, cursor, idle)
        complaints(cursor)
    print(f"{soak.asked} turns in {seconds:.0f} s, seed {options.seed}")
    print("done to them: " + ", ".join(f"{name} {count}" for name, count in sorted(soak.deeds.items())))
    print("outcomes: " + ", ".join(f"{name} {count}" for name, count in sorted(soak.outcomes.items())))
    for fault in faults:
        print(f"FAULT: {fault}")
    sys.exit(bool(faults))


def judge(soak, cursor, idle):
    faults = [f"lost: {each}" for each in soak.lost]
    try:
        support.nothing_left(20)
        if support.workers():
            faults.append(f"worker processes: {support.workers()}")
    except AssertionError as error:
        faults.append(str(error))
    counts = journalled(cursor)
    doubled = [turn for turn, count in counts.items() if count > 1]
    missing = [turn for turn, count in counts.items() if count == 0]
    print(f"journal: {len(counts)} turns, {len(doubled)} with two outcomes, {len(missing)} with none")
    if doubled:
        faults.append(f"doubled outcomes: {doubled[:5]}")
    # A killed sandboxd has at most its running and waiting turns to leave without a word.
    if len(missing) > soak.deeds["sandboxd killed"] * N_CHANNELS:
        faults.append(f"{len(missing)} turns without an outcome in the journal")
    fds = len(os.listdir(f"/proc/{support.main_pid('sandboxd.service')}/fd"))
    if fds > idle + 2:
        faults.append(f"sandboxd holds {fds} descriptors at rest, and held {idle}")
    for service in SERVICES:
        lives = collections.defaultdict(list)
        for _, found in soak.samples:
            if service in found:
                lives[found[service][0]].append(found[service][1])
        for sizes in lives.values():
            if len(sizes) >= 4 and sizes[-1] > sizes[1] * 1.3 + 1024:
                faults.append(f"{service} has grown: {sizes} KiB")
    return faults


if __name__ == "__main__":
    main()
