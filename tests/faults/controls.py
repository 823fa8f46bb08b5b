# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Negative controls: each of the three lines of defence against a killed sandboxd does its work alone; without any of them
the same row fails. So the matrix can see what it looks for, and no line is there for nothing."""

import contextlib
import pathlib

import states
import support
import table

SERVICE = pathlib.Path("/run/systemd/system/sandboxd.service.d/70-control.conf")


@contextlib.contextmanager
def only(stop_post=False, on_failure=False):
    """Nobody starts sandboxd again, so that its own sweep is out of the game until somebody asks for it."""
    text = "[Service]\nRestart=no\n"
    if not stop_post:
        text += "ExecStopPost=\n"
    SERVICE.write_text(text, encoding="utf-8")
    if not on_failure:
        support.run("systemctl", "mask", "--runtime", "sandboxd-cleanup.service")
    support.run("systemctl", "daemon-reload")
    try:
        yield
    finally:
        SERVICE.unlink()
        support.run("systemctl", "unmask", "--runtime", "sandboxd-cleanup.service")
        support.run("systemctl", "daemon-reload")
        support.run("systemctl", "reset-failed", "sandboxd.service", check=False)
        support.run("systemctl", "start", "sandboxd.service")


def killed():
    """The row: SIGKILL of sandboxd while a turn runs. Nothing calls it afterwards, so the bus starts nothing."""
    with states.running(states.HELD) as state:
        table.kill("sandboxd")
        support.eventually("sandboxd is dead", lambda: not support.processes("sandboxd"))
        try:
            state.callers[0].reply(10)
        except support.Failed:
            pass


def alone(**line):
    with only(**line):
        killed()
        support.nothing_left(10)


def without_any():
    """Fails as it must, and then the sweep at the start of sandboxd does it alone."""
    with only():
        killed()
        try:
            support.nothing_left(4)
        except AssertionError:
            pass
        else:
            raise AssertionError("nothing was left although all lines of defence were off: the matrix would see nothing")
        support.run("systemctl", "start", "sandboxd.service")
        # It owns its name only after the sweep.
        support.run("busctl", "--timeout=20", "call", "org.roundtable.Sandbox1", "/org/roundtable/Sandbox1",
                    "org.freedesktop.DBus.Peer", "Ping")
        support.nothing_left(1)


CONTROLS = [
    ("control: ExecStopPost= alone cleans", lambda: alone(stop_post=True)),
    ("control: OnFailure= alone cleans", lambda: alone(on_failure=True)),
    ("control: with neither the row fails, and the sweep at start alone cleans", without_any),
]


def run():
    """[(name, what is wrong or None)], one by one."""
    for name, control in CONTROLS:
        trouble = None
        try:
            control()
        except (AssertionError, support.Failed) as error:
            trouble = str(error)
        yield name, trouble
