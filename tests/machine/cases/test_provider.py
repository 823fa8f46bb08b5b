# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""A host tool that lives in the bot: a method on the system bus, called by the real sandboxd in a real turn."""

import json
import pathlib
import subprocess
import unittest

import support

CHANNEL = "test:provider"
TOOL = pathlib.Path("/etc/roundtable-sandbox/tools.d/60-provider.json")
POLICY = pathlib.Path("/etc/dbus-1/system.d/org.example.Provider.conf")
PROVIDER = str(pathlib.Path(__file__).resolve().parent / "provider")
RULES = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <policy user="bot"><allow own="org.example.Provider"/></policy>
  <policy user="sandboxd"><allow send_destination="org.example.Provider"/></policy>
</busconfig>
"""
SPEC = {"name": "provider", "description": "Asks the bot.", "parameters": {"type": "object"}, "deadline_sec": 2,
        "bus": {"name": "org.example.Provider", "path": "/org/example/Provider", "interface": "org.example.Provider",
                "method": "Ask"}}


def ask(arguments):
    """What the tool's result was for the model; the turn's own outcome too."""
    ok, text = support.run_turn(CHANNEL, f"[[script:call host_provider {json.dumps(arguments, separators=(',', ':'))}]]")
    return ok, text


class Provider(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        TOOL.write_text(json.dumps(SPEC), encoding="utf-8")
        POLICY.write_text(RULES, encoding="utf-8")
        support.run("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
        support.restart("sandboxd.service")
        support.sandbox(CHANNEL)
        cls.provider = subprocess.Popen(["runuser", "-u", "bot", "--", PROVIDER], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        cls.provider.stdin.write(support.KEY_FILE.read_text(encoding="utf-8").strip() + "\n")
        cls.provider.stdin.flush()
        assert cls.provider.stdout.readline() == "ready\n"

    @classmethod
    def tearDownClass(cls):
        cls.provider.stdin.close()
        cls.provider.wait(10)
        cls.provider.stdout.close()
        TOOL.unlink()
        POLICY.unlink()
        support.run("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
        support.restart("sandboxd.service")

    def tearDown(self):
        support.nothing_left()

    def test_the_host_says_who_asks(self):
        ok, text = ask({"do": "tell", "speaker": "forged"})
        self.assertTrue(ok)
        self.assertIn(f"{CHANNEL} 1001 Ada", text)
        self.assertNotIn("1001 forged", text)

    def test_a_provider_that_fails_or_hangs_does_not_end_the_turn(self):
        for what in ("fail", "hang"):
            with self.subTest(what=what):
                ok, text = ask({"do": what})
                self.assertTrue(ok)
                self.assertNotIn("inner secret", text)

    def test_a_key_in_a_result_is_kept_back(self):
        key = support.KEY_FILE.read_text(encoding="utf-8").strip()
        ok, text = ask({"do": "leak"})
        self.assertTrue(ok)
        self.assertNotIn(key, text)
        self.assertIn("live key", support.journal("-u", "sandbox-egress.service"))
