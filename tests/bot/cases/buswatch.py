# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What goes over the system bus between callers and sandboxd, as a monitor sees it."""

import json
import os
import subprocess
import tempfile

import support

SANDBOX = "org.roundtable.Sandbox1"


def plain(value):
    """busctl's JSON without its types."""
    if isinstance(value, dict) and set(value) == {"type", "data"}:
        return plain(value["data"])
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def exchanges(file):
    """The calls of sandboxd's methods and their answers: when, "→ Interface.Method" or "← Method" or an error's name, the arguments."""
    calls = {}
    for line in file:
        message = json.loads(line)
        at = message.get("timestamp-realtime", 0) / 1e6
        body = plain(message["payload"]["data"]) if message.get("payload") else []
        if message["type"] == "method_call" and message.get("interface", "").startswith(SANDBOX):
            calls[(message["sender"], message["cookie"])] = message["member"]
            yield at, f"→ {message['interface'].split('.')[-1]}.{message['member']}", body
        elif message["type"] in ("method_return", "error"):
            member = calls.get((message.get("destination"), message.get("reply_cookie")))
            if member is not None:
                yield at, message.get("error_name", f"← {member}"), body


class Watch:
    """Watches while the block runs; then messages is what exchanges() gives."""

    def __enter__(self):
        self.file = tempfile.NamedTemporaryFile("r", encoding="utf-8")
        with open(self.file.name, "w", encoding="utf-8") as output:
            self.monitor = subprocess.Popen(["busctl", "monitor", "--json=short", SANDBOX], stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.DEVNULL)
        support.eventually("the monitor sees the bus", self.sees)
        return self

    def sees(self):
        support.run("busctl", "call", SANDBOX, "/", "org.freedesktop.DBus.Peer", "Ping")
        return os.path.getsize(self.file.name) > 0

    def __exit__(self, *error):
        self.monitor.terminate()
        self.monitor.wait(timeout=10)
        with self.file:
            self.messages = list(exchanges(self.file))

    def called(self, method):
        """The arguments of each call of it."""
        return [body for _, what, body in self.messages if what == "→ " + method]
