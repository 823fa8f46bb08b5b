#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The fault matrix, inside a machine: whatever dies, in whatever state of a turn, nothing is left and nothing is lost.

    matrix.py [--all] [--seed N] [--seconds N] [--cells WORD] [--table FILE]

Without --all a sample, chosen by the seed, of what fits into the seconds. A TAP line for each cell; the last line counts.
A cell passes when within 10 s of the fault nothing of the turn is left (containers, scopes, processes, directories,
descriptors of sandboxd), each caller has had one outcome of the right kind, the journal tells of each turn once, mode and
memory are as they were, and the channel's next turn is served.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cases")]

# pylint: disable=wrong-import-position
import controls  # noqa: E402
import states  # noqa: E402
import support  # noqa: E402
import table  # noqa: E402

ACCEPTED = "d77a9d27edcf0e9112b82a4c35451bc4"
FINISHED = "b1fc4e67be3649bb3d1630953ba1c36f"
CLEAN_SECONDS = 10
OUTCOME_SECONDS = 15
CANCEL_SECONDS = 2
# Of the turns in exit_at_once().
MAX_EXCUSED = 3
DROP_IN = pathlib.Path("/etc/roundtable-sandbox/sandboxd.conf.d/60-faults.conf")
IMAGES = {"plain": "faulty-worker:plain", "own": "faulty-worker:own"}
NOTE = "the note that must stay"
# How many each sandboxd had when it was first looked at: a leak of a single one shows in the next cells.
DESCRIPTORS = {}


def write(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def prepare():
    """What the matrix needs of the machine, beside what equip made."""
    write("/run/systemd/system/sandboxd.service.d/60-faults.conf", "[Unit]\nStartLimitIntervalSec=0\n[Service]\nWatchdogSec=8\n")
    for unit in ("docker", "containerd", "sandbox-egress", "dbus"):
        write(f"/run/systemd/system/{unit}.service.d/60-faults.conf", "[Unit]\nStartLimitIntervalSec=0\n")
    support.run("systemctl", "daemon-reload")
    support.run("systemctl", "stop", "sandboxd.service")
    if not os.path.ismount(table.STATE_DIR):
        # A file system of its own, which can be filled.
        support.run("mount", "-t", "tmpfs", "-o", "size=24m,mode=0755", "faults", str(table.STATE_DIR))
        support.run("systemd-tmpfiles", "--create", "roundtable-sandbox.conf", check=False)
        table.lock_elsewhere()
    # To sandboxd the second is what "sandboxctl image build" has made.
    version = support.run("sandboxctl", "--version").split()[-1]
    for image, label in (("plain", "test.plain=1"), ("own", f"org.roundtable.sandbox.worker={version}")):
        support.run("docker", "import", "--change", 'ENTRYPOINT ["/worker"]', "--change", f"LABEL {label}",
                    f"{HERE}/bad-worker.tar", IMAGES[image])
    configure(None)
    support.sandbox(states.CHANNEL)
    support.run_turn(states.CHANNEL, "[[script:call memory_set "
                     + json.dumps({"scope": "channel", "key": "stays", "text": NOTE}).replace("]", "") + "]]")
    support.nothing_left()


def configure(image, deadline=None):
    """Our own worker (None), or a bad one. Bad ones have little time and memory, since some would take all of it."""
    text = "[Turns]\nMinFree=1M\n"
    if image is None:
        text += "Deadline=90s\n"
    else:
        text += f"Deadline={deadline}\n[Worker]\nImage={IMAGES[image]}\nMemoryMax=96M\nPidsMax=32\n"
    if DROP_IN.exists() and DROP_IN.read_text(encoding="utf-8") == text:
        return
    write(DROP_IN, text)
    support.run("systemctl", "restart", "sandboxd.service")


class Journal:
    """What is written from here on."""

    def __init__(self):
        out = support.run("journalctl", "-n", "1", "-o", "json", "--no-pager")
        self.cursor = json.loads(out.splitlines()[-1])["__CURSOR"]

    def entries(self):
        out = support.run("journalctl", "--after-cursor", self.cursor, "-o", "json", "--no-pager")
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def outcome(caller, seconds):
    """"replied", or the name of the error; no answer in time is a fault of its own."""
    try:
        caller.reply(seconds)
    except support.Failed as failed:
        return failed.name
    except json.JSONDecodeError:
        # The bus took the connection and libdbus the process.
        return "no answer"
    return table.REPLIED


def leave(callers):
    """They die, as a bot does that is restarted."""
    for caller in callers:
        caller.process.kill()
        caller.process.wait()


def record_of(message_id):
    """"replied", or the reason, of the turn that was asked for with this id."""
    path = support.eventually("the service is back", lambda: found(message_id), OUTCOME_SECONDS)
    out = support.run("busctl", "--json=short", "--timeout=30", "call", "org.roundtable.Sandbox1", path,
                      "org.roundtable.Sandbox1.Turn", "Wait", "a{sv}", "0")
    told = {name: value["data"] for name, value in json.loads(out)["data"][0].items()}
    return table.REPLIED if told["outcome"] == table.REPLIED else told["reason"]


def found(message_id):
    try:
        return support.call("FindTurn", "ss", states.CHANNEL, message_id, user="root")
    except support.Failed as failed:
        if failed.name.endswith("NoSuchTurn"):
            raise
        return None


def descriptors():
    pid = support.main_pid("sandboxd.service")
    return pid, len(os.listdir(f"/proc/{pid}/fd"))


def descriptors_settled(pid, count):
    now, count_now = descriptors()
    return now != pid or count_now <= count


def leftovers(docker=True):
    found = support.leftovers(docker)
    left = support.workers()
    return found + (f" workers: {left}" if left else "")


def wait_clean(docker=True, seconds=CLEAN_SECONDS):
    last = [""]

    def clean():
        last[0] = leftovers(docker)
        return not last[0]

    began = time.monotonic()
    try:
        support.eventually("clean", clean, seconds)
    except AssertionError:
        raise AssertionError(f"after {seconds} s there is still: {last[0]}") from None
    return time.monotonic() - began


class Cell:
    """One fault in one state."""

    def __init__(self, fault, state):
        self.fault, self.state = fault, state
        self.name = f"{fault.name} / {state}"
        self.outcomes = []
        self.clean_after = None
        self.seconds = 0

    def judge_outcomes(self, callers):
        seconds = OUTCOME_SECONDS
        for caller in callers:
            self.outcomes.append(outcome(caller, seconds))
        wanted = self.fault.wanted(self.state)
        if self.state == "finishing":
            wanted = (support.ERROR + "Cancelled",)
        elif self.state == "replied":
            wanted = (table.REPLIED,)
        elif self.state == "queued":
            # What waited goes on, where the fault is over for it.
            wanted = wanted + (table.REPLIED,)
        for got in self.outcomes:
            if wanted and got not in wanted:
                raise AssertionError(f"the outcome is {got}, not one of {', '.join(wanted)}")

    def judge_journal(self, entries):
        ids = {MESSAGE: [entry.get("SANDBOX_TURN") for entry in entries if entry.get("MESSAGE_ID") == MESSAGE]
               for MESSAGE in (ACCEPTED, FINISHED)}
        for turn in ids[ACCEPTED]:
            count = ids[FINISHED].count(turn)
            if count > 1 or (count == 0 and not self.fault.daemon_dies):
                raise AssertionError(f"the journal has {count} outcomes of turn {turn}")
        texts = "\n".join(str(entry.get("MESSAGE")) for entry in entries)
        if self.fault.says and self.state not in ("idle",) and not re.search(self.fault.says, texts):
            raise AssertionError(f"the journal does not say '{self.fault.says}'")

    def cancel(self):
        """Quick, also where Docker does not answer."""
        for turn, state in states.turns():
            if state != "finishing":
                support.call("CancelTurn", "s", turn, user="root")

    def break_it(self):
        fault = self.fault
        with states.ALL.get(self.state, states.running)(fault.text) if self.state != "alone" else alone(fault.text) as state:
            try:
                if fault.leaves:
                    leave(state.callers)
                fault.inject()
                if self.state == "arriving":
                    state.callers.append(states.start(states.PLAIN))
                if fault.cancels:
                    began = time.monotonic()
                    self.cancel()
                state.let_go()
                if fault.goes_on:
                    support.model("release")
                if not fault.leaves:
                    self.judge_outcomes(state.callers)
                if fault.cancels and time.monotonic() - began > CANCEL_SECONDS + 2:
                    raise AssertionError(f"the cancellation took {time.monotonic() - began:.1f} s")
                # One that was prepared may have been made again by now.
                if fault.docker and self.state != "prepared":
                    self.dead_meanwhile()
            finally:
                fault.end()
            if states.message_ids is not None:
                self.judge_records()

    def judge_records(self):
        """What a caller who has left finds when they come back: each turn's one outcome."""
        wanted = self.fault.wanted(self.state)
        for name in states.message_ids:
            self.outcomes.append(record_of(name))
            if self.outcomes[-1] not in wanted:
                raise AssertionError(f"the record says {self.outcomes[-1]}, not one of {', '.join(wanted)}")

    @staticmethod
    def dead_meanwhile():
        """Docker cannot remove anything now; but no process of the turn may run on."""
        support.eventually("the worker and the broker are dead while Docker is away",
                           lambda: not support.workers() and not support.processes("sandbox-broker"), CLEAN_SECONDS)

    def run(self):
        self.outcomes, self.clean_after = [], None
        states.message_ids = [] if self.fault.returns else None
        states.user = "root" if self.fault.leaves else "bot"
        configure(self.fault.image, self.fault.deadline)
        support.nothing_left()
        memory = self.memory()
        pid, count = descriptors()
        DESCRIPTORS[pid] = min(count, DESCRIPTORS.get(pid, count))
        journal = Journal()
        self.break_it()
        self.clean_after = wait_clean()
        serve(self.fault.image)
        wait_clean()
        if support.call("GetChannelMode", "s", states.CHANNEL) != "on":
            raise AssertionError("the channel's mode is lost")
        if self.memory() != memory:
            raise AssertionError("the channel's memory has changed")
        # Connections to Docker are kept open for a few seconds. One more than when sandboxd was young: on it Docker tells of images.
        most = DESCRIPTORS[pid] + 1
        support.eventually(f"sandboxd has no more than {most} descriptors", lambda: descriptors_settled(pid, most))
        self.judge_journal(journal.entries())

    @staticmethod
    def memory():
        return (support.workspace(states.CHANNEL) / "memory.json").read_bytes()


@contextlib.contextmanager
def alone(text):
    yield states.State(support.start_turn(states.CHANNEL, text))


def serve(image):
    """The channel's next turn; and where a guest has filled the workspace, after a purge only."""
    big = support.workspace(states.CHANNEL) / "big"
    if big.exists():
        big.unlink()
    text = states.PLAIN if image is None else "hello"
    ok, _ = support.run_turn(states.CHANNEL, text, timeout=30)
    if not ok:
        raise AssertionError("the next turn has no good reply")


def exit_at_once(times):
    """None of so many workers that end at once is lost, hangs or stays: attaching and starting have no race. In so many turns
    polkit may stand still; that one says nothing then, and another takes its place."""
    configure("plain", "60s")
    wanted = table.INVALID
    judged, excused = 0, 0
    while judged < times:
        began = time.time()
        try:
            got = outcome(support.start_turn(states.CHANNEL, table.text_of("exit-at-once"), user="root"), OUTCOME_SECONDS)
        except AssertionError:
            excused += 1
            if excused > MAX_EXCUSED or not support.polkit_stood_still(began):
                raise
            print(f"# polkit stood still behind turn {judged}", flush=True)
            continue
        judged += 1
        if got not in wanted:
            raise AssertionError(f"outcome {judged} is {got}")
    wait_clean()


def recover():
    """After a failed cell: everything as it was, so that the next one starts clean."""
    support.model("release")
    for pid in support.processes("dockerd") + support.processes("containerd") + support.processes("sandboxd"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 18)
    support.run("systemctl", "start", "dbus.socket", "dbus.service", "containerd.service", "docker.socket", "docker.service",
                check=False, timeout=60)
    support.run("systemctl", "restart", "sandboxd.service", check=False, timeout=90)
    left = support.containers()
    if left:
        support.run("docker", "rm", "-f", *left, check=False)
    for path in pathlib.Path("/run/roundtable-sandbox").glob("turn-*"):
        support.run("rm", "-rf", str(path))


def chosen(options):
    """Groups by image, so that sandboxd is configured anew only a few times."""
    cells = [Cell(fault, state) for fault, state in table.CELLS]
    if options.cells:
        return [cell for cell in cells if any(word in cell.name for word in options.cells)]
    if not options.all:
        random.Random(options.seed).shuffle(cells)
    return cells


def others(options):
    """What is no cell: a race that shows itself in numbers only, and the negative controls."""
    times = 1000 if options.all else 20
    found = [(f"worker: exits at once, {times} times", lambda: exit_at_once(times)),
             *((name, lambda control=control: plainly(control)) for name, control in controls.CONTROLS)]
    return [each for each in found if not options.cells or any(word in each[0] for word in options.cells)]


def plainly(control):
    configure(None)
    control()


def report(path, rows, options):
    """As in doc/faults.md: a line for each fault, with the seconds of each cell, and what is wrong."""
    lines = ["| fault | states, and seconds for the whole cell |", "| --- | --- |"]
    for fault in table.FAULTS:
        cells = [f"{cell.state} {cell.seconds:.1f}" + (f" FAILED: {trouble}" if trouble else "")
                 for cell, trouble in rows if cell.fault is fault]
        if cells:
            lines.append(f"| {fault.name} | {', '.join(cells)} |")
    day = datetime.date.today().isoformat()
    write(path, f"{len(rows)} of {len(table.CELLS)} cells, seed {options.seed}, {day}\n\n" + "\n".join(lines) + "\n")


def attempt(test):
    """What is wrong with it, or None. Once more where polkit stood still meanwhile (support.polkit_stood_still)."""
    for is_last in (False, True):
        began, trouble, excused = time.time(), None, False
        try:
            test()
        except (AssertionError, support.Failed, subprocess.TimeoutExpired, OSError, ValueError, IndexError) as error:
            trouble = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            excused = not is_last and support.polkit_stood_still(began)
            recover()
        if not excused:
            break
        print(f"# polkit stood still, once more: {trouble}", flush=True)
    return trouble


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--cells", action="append")
    parser.add_argument("--table", default="/var/tmp/faults.md")
    options = parser.parse_args()
    assert len(table.CELLS) == table.N_CELLS, len(table.CELLS)
    prepare()
    began = time.monotonic()
    rows, failed = [], 0
    for cell in chosen(options):
        if not options.all and not options.cells and time.monotonic() - began > options.seconds:
            break
        start = time.monotonic()
        trouble = attempt(cell.run)
        failed += trouble is not None
        cell.seconds = time.monotonic() - start
        rows.append((cell, trouble))
        clean = "" if cell.clean_after is None else f", clean after {cell.clean_after:.1f} s"
        print(f"{'not ok' if trouble else 'ok'} - {cell.name} ({cell.seconds:.1f} s{clean})", flush=True)
        if trouble:
            print(f"#   outcomes {cell.outcomes}: {trouble}", flush=True)
    passed = len(rows) - failed
    for name, test in others(options):
        trouble = attempt(test)
        print(f"{'not ok' if trouble else 'ok'} - {name}" + (f"\n#   {trouble}" if trouble else ""), flush=True)
        passed, failed = passed + (not trouble), failed + bool(trouble)
    report(options.table, rows, options)
    print(f"{len(rows)} of {len(table.CELLS)} cells, seed {options.seed}, {time.monotonic() - began:.0f} s")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
