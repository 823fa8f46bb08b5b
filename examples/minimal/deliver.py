#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Hands one message to sandboxd as a bot would, and prints what came of it. Needs python3-dbus.

    deliver.py discord:1234 42 Ada "What time is it?"
"""

import sys

import dbus

NAME = "org.roundtable.Sandbox1"
# Longer than a turn and the queue before it; the library itself gives up after 25 seconds.
TIMEOUT_SECONDS = 660
# What may be shown to people, and what is for the operator.
SHOWN = ("outcome", "guest-text", "reason")


def deliver(channel, speaker_id, speaker_name, text):
    """The verdict (pass, drop, turn) and its details."""
    manager = dbus.Interface(dbus.SystemBus().get_object(NAME, "/org/roundtable/Sandbox1", introspect=False), NAME + ".Manager")
    message = dbus.Dictionary({
        "channel": channel,
        "speaker-id": speaker_id,
        "speaker-name": speaker_name,
        "text": text,
        "mentioned": True,
        "wait": True,
    }, signature="sv")
    return manager.Deliver(message, signature="a{sv}", timeout=TIMEOUT_SECONDS)


def main():
    if len(sys.argv) != 5:
        sys.exit("usage: deliver.py CHANNEL SPEAKER-ID SPEAKER-NAME TEXT")
    try:
        verdict, details = deliver(*sys.argv[1:])
    except dbus.DBusException as error:
        sys.exit(f"{error.get_dbus_name()}: {error.get_dbus_message()}")
    print(f"verdict: {verdict}")
    for key in SHOWN:
        if key in details:
            print(f"{key}: {details[key]}")


if __name__ == "__main__":
    main()
