# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Who may not, may not: polkit's refusals, with the real polkit, and that nothing starts."""

import unittest

import support

CHANNEL = "test:refusal"
METHODS = {
    "SetChannelMode": ("ss", CHANNEL, "guests"),
    "GetChannelMode": ("s", CHANNEL),
    "RunTurn": ("ssssa{sv}", CHANNEL, "1", "Eve", "hello", {}),
    "CancelTurn": ("s", "00000000000000000000000000000000"),
    "ListTurns": ("",),
}


class Refusal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)

    def test_a_user_without_rights_gets_access_denied(self):
        asked = len(support.model("log").splitlines())
        for method, arguments in METHODS.items():
            with self.subTest(method=method), self.assertRaises(support.Failed) as caught:
                support.call(method, *arguments, user="stranger")
            self.assertIn(caught.exception.name, ("org.freedesktop.DBus.Error.AccessDenied",
                                                  "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"))
        self.assertEqual(support.leftovers(), "")
        self.assertEqual(len(support.model("log").splitlines()), asked)

    def test_the_bots_user_may(self):
        self.assertEqual(support.call("GetChannelMode", "s", CHANNEL), "guests")
        self.assertEqual(support.run_turn(CHANNEL, "[[script:plain]]")[0], True)

    def test_a_channel_that_is_off_runs_nothing(self):
        with self.assertRaises(support.Failed) as caught:
            support.run_turn("test:never-switched-on", "hello")
        self.assertTrue(caught.exception.name.startswith(support.ERROR), caught.exception.name)
        self.assertEqual(support.leftovers(), "")

    def test_nobody_but_the_daemon_gets_its_sockets(self):
        for path in ("/run/docker.sock", "/run/sandbox-egress.sock", "/run/sandbox-tools/clock.sock"):
            with self.subTest(path=path):
                program = f"import socket; socket.socket(socket.AF_UNIX).connect({path!r})"
                done = support.run("runuser", "-u", "stranger", "--", "python3", "-c",
                                   f"try:\n {program}\nexcept PermissionError: print('refused')")
                self.assertEqual(done.strip(), "refused")
