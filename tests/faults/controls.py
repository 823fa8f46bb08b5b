# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Negative controls: each of the three lines of defence against a killed sandboxd does its work alone; without any of them
the same row fails. So the matrix can see what it looks for, and no line is there for nothing. And the program that cleans
needs neither sandboxd nor the bus."""

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


def without_the_bus():
    """sandbox-cleanup speaks to systemd on systemd's own socket."""
    with only():
        killed()
        try:
            support.run("systemctl", "stop", "dbus.socket", "dbus.service")
            if support.run("systemctl", "is-active", "dbus.service", check=False).strip() == "active":
                raise AssertionError("the bus still runs")
            support.run("/usr/libexec/roundtable-sandbox/sandbox-cleanup")
            support.nothing_left(1)
        finally:
            support.run("systemctl", "start", "dbus.socket", "dbus.service")
        support.eventually("systemd is on the bus again",
                           lambda: "org.freedesktop.systemd1" in support.run("busctl", "list", check=False), 30)


CONTROLS = [
    ("control: ExecStopPost= alone cleans", lambda: alone(stop_post=True)),
    ("control: OnFailure= alone cleans", lambda: alone(on_failure=True)),
    ("control: with neither the row fails, and the sweep at start alone cleans", without_any),
    ("control: sandbox-cleanup cleans while there is no bus", without_the_bus),
]

