# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Who may not, may not: polkit's refusals, with the real polkit, and that nothing starts."""

import unittest

import support

CHANNEL = "test:refusal"
METHODS = {
    "SetChannelMode": ("ss", CHANNEL, "on"),
    "GetChannelMode": ("s", CHANNEL),
    "RunTurn": ("ssssa{sv}", CHANNEL, "1", "Eve", "hello", {}),
    "StartTurn": ("ssssa{sv}", CHANNEL, "1", "Eve", "hello", {}),
    "Deliver": ("a{sv}", {"channel": CHANNEL, "speaker-id": "1", "speaker-name": "Eve", "text": "hello",
                          "mentioned": True}),
    "StartFresh": ("s", CHANNEL),
    "ListChannels": ("",),
    "Reload": ("",),
    "CancelTurn": ("s", "00000000000000000000000000000000"),
    "ListTurns": ("",),
    "PurgeChannel": ("s", CHANNEL),
    "GetStatistics": ("s", CHANNEL),
    "GetStatus": ("",),
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

    def test_every_method_is_tried(self):
        answer = support.run("busctl", "introspect", "org.roundtable.Sandbox1", "/org/roundtable/Sandbox1",
                             "org.roundtable.Sandbox1.Manager")
        methods = {line.split()[0].lstrip(".") for line in answer.splitlines() if " method " in line}
        self.assertEqual(methods, set(METHODS) | {"FindTurn"})

    def test_nobody_finds_the_turn_of_another_user(self):
        self.assertEqual(support.run_turn(CHANNEL, "[[script:plain]]", **{"message-id": "refusal-1"})[0], True)
        self.assertTrue(support.call("FindTurn", "ss", CHANNEL, "refusal-1"))
        with self.assertRaises(support.Failed) as caught:
            support.call("FindTurn", "ss", CHANNEL, "refusal-1", user="stranger")
        self.assertEqual(caught.exception.name, support.ERROR + "NoSuchTurn")

    def test_the_bots_user_may(self):
        self.assertEqual(support.call("GetChannelMode", "s", CHANNEL), "on")
        self.assertEqual(support.run_turn(CHANNEL, "[[script:plain]]")[0], True)

    def test_a_channel_that_is_off_runs_nothing(self):
        with self.assertRaises(support.Failed) as caught:
            support.run_turn("test:never-switched-on", "hello")
        self.assertEqual(caught.exception.name, support.ERROR + "NotSandboxed")
        self.assertEqual(support.leftovers(), "")

    def test_nobody_but_the_daemon_gets_its_sockets(self):
        for path in ("/run/docker.sock", "/run/sandbox-egress.sock", "/run/sandbox-tools/clock.sock"):
            with self.subTest(path=path):
                program = f"import socket; socket.socket(socket.AF_UNIX).connect({path!r})"
                done = support.run("runuser", "-u", "stranger", "--", "python3", "-c",
                                   f"try:\n {program}\nexcept PermissionError: print('refused')")
                self.assertEqual(done.strip(), "refused")
