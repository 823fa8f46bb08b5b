# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The owners' slash command."""

import json
import unittest

import guild
import support
from bot_case import Case, STOPPED

# Not the fence of nothing_said().
CHANNEL = guild.CHANNELS[2]


def mode():
    return support.call("GetChannelMode", "s", guild.key(CHANNEL), user="root")


class Commands(Case):
    def setUp(self):
        super().setUp()
        support.sandbox(guild.key(CHANNEL))

    def test_it_is_registered_at_start(self):
        guild.restart_bot()
        put = support.eventually("it is registered", lambda: guild.requests("PUT", f"/applications/{guild.SELF}/guilds/{guild.GUILD}/commands"))
        self.assertEqual(len(put), 1)
        root, = put[0]["body"]
        group, = root["options"]
        self.assertEqual((root["name"], group["name"]), ("roundtable", "sandbox"))
        self.assertEqual([verb["name"] for verb in group["options"]], ["on", "off", "status", "fresh", "stop"])

    def test_off_and_on(self):
        token = guild.command("off", CHANNEL)
        self.assertIn("not sandboxed", guild.told(token))
        self.assertTrue(guild.ephemeral(token))
        self.assertEqual(mode(), "off")
        token = guild.command("on", CHANNEL)
        self.assertIn("is sandboxed now", guild.told(token))
        self.assertEqual(mode(), "on")
        self.assertEqual(guild.sent(CHANNEL), [])

    def test_status(self):
        with support.held_turn(guild.key(CHANNEL)):
            token = guild.command("status", CHANNEL)
            text = guild.told(token)
        self.assertTrue(guild.ephemeral(token))
        self.assertIn("This channel: sandboxed; 1 turn under way, 0 waiting.", text)
        self.assertIn("Docker ok, image ok, egress ok", text)

    def test_fresh(self):
        for count in 0, 2:
            guild.ask("clear", {})
            guild.say(CHANNEL, "[[script:history]]")
            if guild.answer(CHANNEL)["content"] != "0":
                break
        else:
            self.fail("there is no history to forget")
        self.assertIn("without history", guild.told(guild.command("fresh", CHANNEL)))
        guild.ask("clear", {})
        guild.say(CHANNEL, "[[script:history]]")
        self.assertEqual(guild.answer(CHANNEL)["content"], "0")

    def test_stop(self):
        guild.say(CHANNEL, "[[script:hold]]")
        support.model("wait")
        try:
            guild.say(CHANNEL, "[[script:plain]] and then")
            support.eventually("one waits", lambda: len(support.call("ListTurns", "", user="root")) == 2)
            self.assertEqual(guild.told(guild.command("stop", CHANNEL)), "Stopped 2 turns.")
        finally:
            support.model("release")
        self.assertEqual([body["content"] for body in guild.answers(CHANNEL, 2)], [STOPPED] * 2)
        guild.ask("clear", {})
        self.assertEqual(guild.told(guild.command("stop", CHANNEL)), "Stopped 0 turns.")

    def test_off_while_one_is_queued(self):
        guild.say(CHANNEL, "[[script:hold]]")
        support.model("wait")
        try:
            off = guild.command("off", CHANNEL)
            support.eventually("the change waits", lambda: support.call("GetStatus", "", user="root")["changes-queued"] == 1)
            guild.say(CHANNEL, "[[script:plain]] too late")
            support.eventually("the turn waits", lambda: len(support.call("ListTurns", "", user="root")) == 2)
        finally:
            support.model("release")
        bodies = guild.answers(CHANNEL, 2)
        self.assertEqual([body["content"] for body in bodies], ["let go", STOPPED])
        self.assertIn("not sandboxed", guild.told(off))

    def test_nobody_else_may(self):
        for verb in "on", "off", "status", "fresh", "stop":
            token = guild.command(verb, CHANNEL, author=guild.GUEST)
            self.assertEqual(guild.told(token), "Only the owners of this bot may do that.")
            self.assertTrue(guild.ephemeral(token))
        self.assertEqual(mode(), "on")

    def test_a_command_delivered_twice_or_of_others(self):
        guild.command("off", CHANNEL, root="another")
        guild.command("off", CHANNEL, group="another")
        self.assertIn("This channel: sandboxed", guild.told(guild.command("status", CHANNEL)))
        self.assertEqual(len(guild.requests("POST", "/callback")), 1)

    def test_without_the_owners_right(self):
        support.run("gpasswd", "-d", "sandbox-bot", "sandbox-bot-owners")
        # polkit of Debian 13 goes by the groups that the process has, Debian 12's by the user's.
        guild.restart_bot()
        try:
            for verb in "off", "fresh":
                self.assertIn("has not been given that right", guild.told(guild.command(verb, CHANNEL)))
            self.assertEqual(mode(), "on")
            guild.say(CHANNEL, "[[script:plain]] hello")
            self.assertIn("hello", guild.answer(CHANNEL)["content"])
        finally:
            support.run("gpasswd", "-a", "sandbox-bot", "sandbox-bot-owners")
            guild.restart_bot()

    def test_what_the_bot_may_not_do(self):
        call = ["runuser", "-u", "sandbox-bot", "--", "/opt/roundtable-tests/cases/call"]
        for method, signature, *arguments in (
            ("PurgeChannel", "s", guild.key(CHANNEL)), ("Reload", ""), ("SetChannelMode", "ss", "other:1", "on"),
            ("StartFresh", "s", "other:1"), ("GetChannelMode", "s", "other:1"), ("RunTurn", "ssssa{sv}", "other:1", "1", "A", "x", {}),
        ):
            with self.subTest(method=method):
                answer = json.loads(support.run(*call, method, signature, json.dumps(arguments)))
                self.assertRegex(answer.get("error", "nothing"), r"(AccessDenied|InteractiveAuthorizationRequired)$")


if __name__ == "__main__":
    unittest.main()
