# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What a guest is shown when there is no answer: one of four sentences, and nothing of the cause."""

import unittest

import guild
import support
from bot_case import BUSY, FAILED, SLOW_DOWN, Case

CHANNEL = guild.CHANNELS[3]


class Failures(Case):
    def test_the_model_refuses(self):
        guild.say(CHANNEL, "[[script:status 400]]")
        self.assertEqual(guild.answer(CHANNEL)["content"], FAILED)

    def test_the_model_gives_nothing(self):
        guild.say(CHANNEL, "[[script:blank]]")
        body = guild.answer(CHANNEL)
        self.assertTrue(body["content"].startswith("Sorry, "), body)
        self.check_quiet(body)

    def test_docker_is_down(self):
        support.run("systemctl", "stop", "docker.socket", "docker.service")
        try:
            guild.say(CHANNEL, "[[script:plain]] hello")
            self.assertEqual(guild.answer(CHANNEL)["content"], FAILED)
        finally:
            support.start("docker.socket", "docker.service")
        guild.ask("clear", {})
        guild.say(CHANNEL, "[[script:plain]] and now?")
        self.assertIn("and now?", guild.answer(CHANNEL)["content"])

    def test_the_deadline(self):
        with support.configured("[Turns]\nDeadline=3s\n"):
            guild.say(CHANNEL, "[[script:hold]]")
            try:
                self.assertEqual(guild.answer(CHANNEL)["content"], FAILED)
            finally:
                support.model("release")

    def test_busy(self):
        with support.configured("[Turns]\nMaxQueued=1\n"):
            guild.say(CHANNEL, "[[script:hold]]")
            support.model("wait")
            try:
                guild.say(CHANNEL, "[[script:plain]] second")
                support.eventually("it waits", lambda: len(support.call("ListTurns", "", user="root")) == 2)
                third = guild.say(CHANNEL, "[[script:plain]] third")
                body = guild.answer(CHANNEL)
                self.assertEqual(body["content"], BUSY)
                self.assertEqual(body["message_reference"]["message_id"], third["id"])
                self.check_quiet(body)
            finally:
                support.model("release")
            guild.answers(CHANNEL, 3)

    def test_slow_down(self):
        with support.configured("[Turns]\nSpeakerTurns=1/10min\n"):
            guild.say(CHANNEL, "[[script:plain]] once")
            guild.answer(CHANNEL)
            guild.say(CHANNEL, "[[script:plain]] twice")
            bodies = guild.answers(CHANNEL, 2)
            self.assertRegex(bodies[1]["content"], SLOW_DOWN)
            # Others are served.
            guild.say(CHANNEL, "[[script:plain]] me too", author=guild.OTHER)
            self.assertIn("me too", guild.answers(CHANNEL, 3)[2]["content"])

    def test_the_bot_has_no_rights(self):
        support.run("mv", "/etc/polkit-1/rules.d/60-roundtable-bot.rules", "/root/")
        support.run("systemctl", "restart", "polkit.service")
        try:
            guild.say(CHANNEL, "just chatting", mention=False)
            guild.say(CHANNEL, "[[script:plain]] hello")
            self.assertEqual(guild.answer(CHANNEL)["content"], FAILED)
        finally:
            support.run("mv", "/root/60-roundtable-bot.rules", "/etc/polkit-1/rules.d/")
            support.run("systemctl", "restart", "polkit.service")


if __name__ == "__main__":
    unittest.main()
