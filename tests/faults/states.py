# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The states of a turn in which a fault meets it. Each is held by something that waits: the model's gate, or a process that
was stopped; nothing here sleeps to be in time."""

import contextlib
import os
import pathlib
import signal
import time

import support

CHANNEL = "test:faults"
PLAIN = "[[script:plain]] hello"
HELD = "[[script:hold]] wait for me"


# Of the calls that start turns: whether each gets a message-id, and those that were given.
message_ids = None
user = "bot"


def start(text):
    """A call that starts a turn."""
    options = {}
    if message_ids is not None:
        message_ids.append(f"fault-{os.getpid()}-{time.monotonic_ns()}")
        options["message-id"] = message_ids[-1]
    return support.start_turn(CHANNEL, text, user=user, **options)


class State:
    """callers: the calls under way, each of which must get one outcome; let_go: what holds the turn still is taken away."""

    def __init__(self, *callers, let_go=None):
        self.callers = list(callers)
        self.let_go = let_go or (lambda: None)


def turns():
    """[(id, state)] of this channel's turns."""
    return [(str(each[0]), str(each[2])) for each in support.call("ListTurns", "", user="root") if each[1] == CHANNEL]


def reached(name, seconds=10):
    """Waits for a turn in that state, and gives its id."""
    return support.eventually(f"a turn is {name}", lambda: [turn for turn, state in turns() if state == name], seconds)[0]


def pids(program):
    found = support.processes(program)
    if not found:
        raise AssertionError(f"{program} does not run")
    return found


@contextlib.contextmanager
def stopped(program):
    """The program stands still until let go; yields what lets it go."""
    numbers = pids(program)
    for number in numbers:
        os.kill(number, signal.SIGSTOP)

    def let_go():
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGCONT)

    try:
        yield let_go
    finally:
        let_go()


@contextlib.contextmanager
def idle(_text):
    yield State()


@contextlib.contextmanager
def queued(text):
    """One turn runs, one waits behind it."""
    with running(text) as state:
        state.callers.append(start(PLAIN))
        reached("queued")
        yield state


@contextlib.contextmanager
def preparing(_text):
    """dockerd has been asked about the image, and stands still."""
    with stopped("dockerd") as let_go:
        caller = start(PLAIN)
        reached("preparing")
        yield State(caller, let_go=let_go)


@contextlib.contextmanager
def starting(_text):
    """The container is made, and containerd, which has to start it, stands still."""
    with stopped("containerd") as let_go:
        caller = start(PLAIN)
        support.eventually("the container is made", support.containers)
        support.eventually("the broker runs", lambda: support.processes("sandbox-broker"))
        yield State(caller, let_go=let_go)


@contextlib.contextmanager
def running(text):
    """The worker waits for an answer of the model, or does what the text tells a bad one."""
    caller = start(text)
    try:
        if text == HELD:
            support.model("wait")
        else:
            reached("running")
        yield State(caller)
    finally:
        support.model("release")


@contextlib.contextmanager
def finishing(text):
    """The outcome was told, and dockerd, which has to remove the container, stands still."""
    with running(text) as state, stopped("dockerd") as let_go:
        support.call("CancelTurn", "s", turns()[0][0], user="root")
        state.let_go = let_go
        yield state


@contextlib.contextmanager
def replied(text):
    """The reply was told. The worker is to end, but containerd, which has to tell it so, stands still."""
    with running(text) as state, stopped("containerd") as let_go:
        support.model("release")
        reached("finishing")
        state.let_go = let_go
        yield state


@contextlib.contextmanager
def burning(text):
    """The reply was told just now, and the worker, which does not end, has its moment to do so."""
    start(text).reply(10)
    yield State()


@contextlib.contextmanager
def prepared(_text):
    """No turn runs, and the channel's next one is prepared. Behind the fault there must be a turn that is served."""
    drop_in = pathlib.Path("/etc/roundtable-sandbox/sandboxd.conf.d/70-prepared.conf")
    drop_in.write_text("[Turns]\nPreparedTurns=1\n", encoding="utf-8")
    try:
        support.run("systemctl", "reload", "sandboxd.service")
        served()
        support.eventually("the next turn is prepared",
                           lambda: support.call("GetStatus", "", user="root")["turns-prepared"] == 1)
        yield State()
        support.eventually("the next turn is served", served, 20)
    finally:
        drop_in.unlink()
        support.run("systemctl", "reload", "sandboxd.service")


def served():
    with contextlib.suppress(support.Failed, ValueError):
        return support.run_turn(CHANNEL, PLAIN, timeout=30)[0]
    return False


@contextlib.contextmanager
def arriving(_text):
    """No turn yet: one comes while the fault lasts."""
    state = State()
    yield state


ALL = {"idle": idle, "arriving": arriving, "prepared": prepared, "queued": queued, "preparing": preparing, "starting": starting,
       "running": running, "finishing": finishing, "replied": replied, "burning": burning}
