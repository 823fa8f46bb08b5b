# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Who may not, may not: polkit's refusals, with the real polkit, and that nothing starts."""

import pathlib
import subprocess
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


TURNS = "/org/roundtable/Sandbox1/turn/"
RULE = pathlib.Path("/etc/polkit-1/rules.d/11-other.rules")
# May do all that a bot may, but not with the turns of others.
RULE_TEXT = """polkit.addRule(function (action, subject) {
  var right = action.id.replace("org.roundtable.Sandbox1.", "");
  if (subject.user == "stranger" && (right == "run-turn" || right == "cancel-turn" || right == "list-turns"))
    return polkit.Result.YES;
  return polkit.Result.NOT_HANDLED;
});
"""


class Foreign(unittest.TestCase):
    """A user with a bot's rights, and another user's turn."""

    @classmethod
    def setUpClass(cls):
        support.sandbox(CHANNEL)
        RULE.write_text(RULE_TEXT, encoding="utf-8")
        RULE.chmod(0o644)
        support.restart("polkit.service")

    @classmethod
    def tearDownClass(cls):
        RULE.unlink()
        support.restart("polkit.service")

    def on_turn(self, turn, *words, user="stranger"):
        """status and output of a call on the turn's object."""
        done = subprocess.run(["runuser", "-u", user, "--", "busctl", "call", "org.roundtable.Sandbox1", TURNS + turn,
                               "org.roundtable.Sandbox1.Turn", *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=30, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_it_can_be_neither_waited_for_nor_cancelled(self):
        with support.held_turn(CHANNEL, **{"message-id": "foreign-1"}) as running:
            turn = support.call("ListTurns", "", user="stranger")[0][0]
            for words in (("Wait", "a{sv}", "0"), ("Cancel",)):
                with self.subTest(words=words):
                    status, text = self.on_turn(turn, *words)
                    self.assertNotEqual(status, 0)
                    self.assertRegex(text, "(?i)access denied|interactive authentication required")
            with self.assertRaises(support.Failed) as caught:
                support.call("CancelTurn", "s", turn, user="stranger")
            self.assertIn(caught.exception.name, ("org.freedesktop.DBus.Error.AccessDenied",
                                                  "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"))
            with self.assertRaises(support.Failed) as caught:
                support.call("FindTurn", "ss", CHANNEL, "foreign-1", user="stranger")
            self.assertEqual(caught.exception.name, support.ERROR + "NoSuchTurn")
        self.assertTrue(running.reply()[0])
        # Nor is its reply had when it has ended; but by whoever started it.
        status, text = self.on_turn(turn, "Wait", "a{sv}", "0")
        self.assertNotEqual(status, 0)
        self.assertNotIn("let go", text)
        status, text = self.on_turn(turn, "Wait", "a{sv}", "0", user="bot")
        self.assertEqual(status, 0)
        self.assertIn("let go", text)

    def test_a_turn_of_ones_own_can(self):
        self.assertEqual(support.run_turn(CHANNEL, "[[script:plain]]", user="stranger", **{"message-id": "foreign-2"})[0], True)
        path = support.call("FindTurn", "ss", CHANNEL, "foreign-2", user="stranger")
        self.assertEqual(self.on_turn(path.rsplit("/", 1)[1], "Wait", "a{sv}", "0")[0], 0)


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
