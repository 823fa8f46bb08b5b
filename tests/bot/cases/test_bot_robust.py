# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Restarts, broken connections and what Discord does on bad days: nothing is lost, and nothing is said twice."""

import contextlib
import time
import unittest

import guild
import support
from bot_case import FAILED, Case

CHANNEL = guild.CHANNELS[4]


@contextlib.contextmanager
def held(event):
    """A message whose turn stands still inside a model call while the block runs."""
    asked = guild.post(event)
    support.model("wait")
    try:
        yield asked
    finally:
        support.model("release")


def hold():
    return guild.message(CHANNEL, "[[script:hold]]")


def accepted(channel):
    return support.journal("SANDBOX_CHANNEL=" + guild.key(channel)).count("was accepted")


class Sandboxd(Case):
    def check_restart(self, *restart):
        with held(hold()):
            guild.say(CHANNEL, "[[script:plain]] I wait")
            support.eventually("it waits", lambda: len(support.call("ListTurns", "", user="root")) == 2)
            support.run(*restart)
            bodies = guild.answers(CHANNEL, 2, 30)
        self.assertEqual(bodies[0]["content"], FAILED)
        self.assertIn("I wait", bodies[1]["content"])
        guild.nothing_said(guild.OPEN)
        guild.answers(CHANNEL, 2)

    def test_restarted_in_the_middle_of_a_turn(self):
        self.check_restart("systemctl", "restart", "sandboxd.service")

    def test_killed_in_the_middle_of_a_turn(self):
        self.check_restart("systemctl", "kill", "-s", "KILL", "sandboxd.service")

    def test_away_when_the_message_comes(self):
        support.run("systemctl", "stop", "sandboxd.service")
        guild.say(CHANNEL, "[[script:plain]] is anybody there?")
        support.start("sandboxd.service")
        self.assertIn("is anybody there?", guild.answer(CHANNEL)["content"])

    def test_the_bus_is_restarted_in_the_middle_of_a_turn(self):
        with held(hold()):
            support.run("systemctl", "restart", "dbus.service")
            support.eventually("sandboxd is back on it", lambda: "The system bus is back" in support.journal("-u", "sandboxd.service", "-n", "5"), 30)
            support.eventually("the bot too", lambda: support.journal("-u", guild.BOT, "-n", "1").strip() == "connected to the bus", 30)
        self.assertIn("let go", guild.answer(CHANNEL)["content"])
        guild.say(CHANNEL, "[[script:plain]] and now?")
        self.assertIn("and now?", guild.answers(CHANNEL, 2)[1]["content"])


class Discord(Case):
    def test_an_event_delivered_twice(self):
        before = accepted(CHANNEL)
        with held(hold()) as event:
            guild.post(event)
        guild.answer(CHANNEL)
        guild.post(event)
        guild.nothing_said(guild.OPEN)
        guild.answer(CHANNEL)
        self.assertEqual(accepted(CHANNEL), before + 1)

    def test_the_gateway_breaks_and_is_resumed(self):
        before = guild.state()
        with held(hold()):
            guild.ask("gateway", {"close": 4000})
            guild.say(CHANNEL, "[[script:plain]] said meanwhile")
            support.eventually("it has resumed", lambda: guild.state()["resumes"] == before["resumes"] + 1, 30)
        bodies = guild.answers(CHANNEL, 2)
        self.assertIn("said meanwhile", bodies[1]["content"])
        self.assertEqual(guild.state()["identifies"], before["identifies"])

    def test_the_gateway_asks_for_a_new_connection(self):
        before = guild.state()
        guild.ask("gateway", {"op": 7})
        support.eventually("it has resumed", lambda: guild.state()["resumes"] == before["resumes"] + 1, 30)
        guild.say(CHANNEL, "[[script:plain]] hello again")
        self.assertIn("hello again", guild.answer(CHANNEL)["content"])

    def test_the_session_is_lost(self):
        before = guild.state()["identifies"]
        with held(hold()):
            guild.ask("gateway", {"close": 4000, "forget": True})
            guild.ready(before + 1)
        self.assertIn("let go", guild.answer(CHANNEL)["content"])
        guild.say(CHANNEL, "[[script:plain]] hello again")
        self.assertIn("hello again", guild.answers(CHANNEL, 2)[1]["content"])

    def test_429(self):
        guild.fault("POST", f"/channels/{CHANNEL}/messages", 429, headers={"retry-after": "1"},
                    body={"message": "You are being rate limited.", "retry_after": 1.0, "global": False})
        guild.say(CHANNEL, "[[script:plain]] hello")
        self.assertIn("hello", guild.answer(CHANNEL)["content"])
        tries = guild.requests("POST", f"/channels/{CHANNEL}/messages")
        self.assertEqual([each["status"] for each in tries], [429, 200])
        self.assertGreaterEqual(tries[1]["at"] - tries[0]["at"], 1000)

    def test_5xx(self):
        guild.fault("POST", f"/channels/{CHANNEL}/messages", 503, times=6)
        guild.say(CHANNEL, "[[script:plain]] hello")
        self.assertIn("hello", guild.answer(CHANNEL)["content"])
        self.assertEqual(len(guild.requests("POST", f"/channels/{CHANNEL}/messages")), 7)

    def test_5xx_although_it_was_done(self):
        guild.fault("POST", f"/channels/{CHANNEL}/messages", 502, times=5, after=True)
        guild.say(CHANNEL, "[[script:essay]]")
        # Both parts, each once.
        bodies = guild.answers(CHANNEL, 2)
        guild.nothing_said(guild.OPEN)
        guild.answers(CHANNEL, 2)
        self.assertNotEqual(bodies[0]["content"], bodies[1]["content"])
        self.assertEqual(len(guild.requests("POST", f"/channels/{CHANNEL}/messages")), 7)

    def test_typing_fails(self):
        guild.fault("POST", "/typing$", 500, times=100)
        guild.say(CHANNEL, "[[script:plain]] hello")
        self.assertIn("hello", guild.answer(CHANNEL)["content"])

    def test_an_answer_that_discord_refuses(self):
        guild.fault("POST", f"/channels/{CHANNEL}/messages", 403, body={"message": "Missing Permissions", "code": 50013})
        guild.say(CHANNEL, "[[script:plain]] hello")
        support.eventually("it was refused", lambda: guild.requests("POST", f"/channels/{CHANNEL}/messages", status=403))
        guild.say(CHANNEL, "[[script:plain]] hello again")
        self.assertIn("hello again", guild.answer(CHANNEL)["content"])


class Bot(Case):
    def test_sigterm_lets_running_replies_end(self):
        with held(hold()):
            stop = support.subprocess.Popen(["systemctl", "stop", guild.BOT])
            support.eventually("it is told", lambda: "SIGTERM: ending" in support.journal("-u", guild.BOT, "-n", "5"))
            guild.say(CHANNEL, "[[script:plain]] too late")
        self.assertIn("let go", guild.answer(CHANNEL)["content"])
        self.assertEqual(stop.wait(timeout=5), 0)
        self.assertEqual(support.run("systemctl", "show", "-P", "Result", guild.BOT).strip(), "success")
        guild.restart_bot("start")
        guild.nothing_said(guild.OPEN)
        guild.answer(CHANNEL)

    def test_what_is_owed_after_ten_seconds_is_sent_by_the_next(self):
        with held(hold()):
            began = time.monotonic()
            support.run("systemctl", "stop", guild.BOT)
            self.assertLess(time.monotonic() - began, 13)
            self.assertEqual(support.run("systemctl", "show", "-P", "Result", guild.BOT).strip(), "success")
            self.assertEqual(guild.sent(CHANNEL), [])
        guild.restart_bot("start")
        self.assertIn("let go", guild.answer(CHANNEL)["content"])

    def test_so_is_what_a_killed_one_owes(self):
        with held(hold()) as asked:
            before = guild.state()["identifies"]
            support.run("systemctl", "kill", "-s", "KILL", guild.BOT)
            guild.ready(before + 1)
        body = guild.answer(CHANNEL)
        self.assertIn("let go", body["content"])
        self.assertEqual(body["message_reference"]["message_id"], asked["id"])
        guild.restart_bot()
        guild.nothing_said(guild.OPEN)
        guild.answer(CHANNEL)

    def test_one_that_is_killed_before_it_knows_that_it_has_answered(self):
        guild.fault("POST", f"/channels/{CHANNEL}/messages", 502, times=100_000, after=True)
        guild.say(CHANNEL, "[[script:plain]] hello")
        guild.answer(CHANNEL)
        before = guild.state()["identifies"]
        support.run("systemctl", "kill", "-s", "KILL", guild.BOT)
        guild.ask("clear", {})
        guild.ready(before + 1)
        # It sends it again; that it is the same message is Discord's knowledge, by the nonce.
        support.eventually("it is sent again", lambda: guild.requests("POST", f"/channels/{CHANNEL}/messages", status=200))
        guild.nothing_said(guild.OPEN)
        self.assertEqual(guild.sent(CHANNEL), [])

    def test_its_memory_is_bounded(self):
        filler = "x" * 1900
        for _ in range(2000):
            guild.say(guild.OPEN, filler, mention=False)
        # And nobody else has to wait for it.
        guild.say(CHANNEL, "[[script:plain]] hello")
        self.assertIn("hello", guild.answer(CHANNEL)["content"])
        guild.nothing_said(guild.OPEN)
        used = int(support.status(support.main_pid(guild.BOT))["VmHWM"].split()[0])
        self.assertLess(used, 200_000)


if __name__ == "__main__":
    unittest.main()
