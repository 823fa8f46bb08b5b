# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""Messages: which are answered, how, and what the worker is told of them."""

import json
import unittest

import guild
import support
from bot_case import Case

CHANNEL, SECOND = guild.CHANNELS[:2]


class Messages(Case):
    def test_a_mention_is_answered(self):
        asked = guild.say(CHANNEL, "[[script:plain]] hello")
        body = guild.answer(CHANNEL)
        self.assertIn("You said: ", body["content"])
        self.assertIn("hello", body["content"])
        self.assertEqual(body["message_reference"]["message_id"], asked["id"])
        self.check_quiet(body)

    def test_typing_is_shown_until_the_outcome(self):
        guild.say(CHANNEL, "[[script:hold]]")
        support.model("wait")
        try:
            # Discord shows it for ten seconds: a second one comes before that.
            support.eventually("typing, twice", lambda: len(guild.typing(CHANNEL)) >= 2, 12)
            self.assertEqual(guild.sent(CHANNEL), [])
        finally:
            support.model("release")
        guild.answer(CHANNEL)
        shown = len(guild.typing(CHANNEL))
        guild.nothing_said(guild.OPEN)
        self.assertEqual(len(guild.typing(CHANNEL)), shown)

    def test_an_answer_to_the_bot_is_answered(self):
        ours = guild.message(CHANNEL, "It is noon.", mention=False, author=guild.SELF)
        ours["author"] = guild.SELF_USER
        guild.say(CHANNEL, "[[script:plain]] really?", mention=False, **guild.replying_to(ours))
        self.assertIn("really?", guild.answer(CHANNEL)["content"])

    def test_the_quoted_message_is_told(self):
        quoted = guild.message(CHANNEL, "The quick brown fox.", mention=False, author=guild.OTHER)
        guild.say(CHANNEL, "[[script:plain]] what is that?", **guild.replying_to(quoted))
        text = guild.answer(CHANNEL)["content"]
        self.assertIn("untrusted text", text)
        self.assertIn("The quick brown fox.", text)

    def test_attachments_are_told_of(self):
        file = {"id": guild.snowflake(), "filename": "a.png", "size": 1, "url": "https://cdn.example/a.png", "proxy_url": "https://cdn.example/a.png"}
        guild.say(CHANNEL, "[[script:plain]] look", attachments=[file])
        self.assertIn("Attachments are not supported", guild.answer(CHANNEL)["content"])

    def test_who_is_not_answered(self):
        stranger = guild.message(CHANNEL, "hi", author=guild.OTHER, mention=False)
        cases = {
            "not addressed": guild.message(CHANNEL, "just chatting", mention=False),
            "an answer to somebody else": guild.message(CHANNEL, "yes", mention=False, **guild.replying_to(stranger)),
            "everybody is mentioned": guild.message(CHANNEL, "@everyone hi", mention=False, mention_everyone=True),
            "a bot": guild.message(CHANNEL, "hello", author="77"),
            "a webhook": guild.message(CHANNEL, "hello", author="78", webhook_id="78"),
        }
        cases["a bot"]["author"]["bot"] = True
        del cases["a webhook"]["member"]
        for event in cases.values():
            guild.post(event)
        guild.nothing_said(CHANNEL)

    def test_a_direct_message_is_not_answered(self):
        # As a channel of a server it would be: that it is direct is what counts.
        support.sandbox(guild.key("3001"))
        event = guild.message("3001", "hello", channel_type=1)
        del event["guild_id"], event["member"]
        guild.post(event)
        guild.nothing_said("3001")

    def test_a_channel_that_is_not_sandboxed_is_left_alone(self):
        guild.say(guild.OPEN, "hello")
        guild.say(guild.OPEN, "hello", author=guild.OWNER)
        guild.nothing_said(guild.OPEN)

    def test_another_server_is_left_alone(self):
        support.sandbox(guild.key(guild.FOREIGN))
        guild.say(guild.FOREIGN, "hello", guild=guild.ELSEWHERE)
        guild.nothing_said(guild.FOREIGN)

    def test_an_owner_is_served_like_a_guest(self):
        guild.say(CHANNEL, "[[script:plain]] it is me", author=guild.OWNER)
        self.assertIn("it is me", guild.answer(CHANNEL)["content"])
        guild.say(CHANNEL, "just chatting", author=guild.OWNER, mention=False)
        guild.nothing_said(guild.OPEN)
        guild.answer(CHANNEL)

    def test_the_name_that_people_see_is_told(self):
        guild.say(CHANNEL, "[[script:plain]] who am I?")
        guild.answer(CHANNEL)
        spoken = json.dumps(guild.model_log()[-1]["body"]["messages"])
        self.assertIn("Ada", spoken)
        self.assertIn(guild.GUEST, spoken)

    def test_a_thread_beside_its_parent(self):
        guild.say(guild.THREAD, "hello")
        guild.say(CHANNEL, "[[script:plain]] hello parent")
        guild.answer(CHANNEL)
        guild.nothing_said(guild.THREAD)  # it inherits nothing
        support.sandbox(guild.key(guild.THREAD))
        try:
            guild.say(guild.THREAD, "[[script:plain]] hello thread")
            self.assertIn("hello thread", guild.answer(guild.THREAD)["content"])
            guild.answer(CHANNEL)
            self.assertIn("was accepted", support.journal("SANDBOX_CHANNEL=" + guild.key(guild.THREAD)))
        finally:
            support.sandbox(guild.key(guild.THREAD), "off")

    def test_a_long_reply_comes_in_parts(self):
        guild.say(CHANNEL, "[[script:essay]]")
        bodies = guild.answers(CHANNEL, 2)
        for body in bodies:
            self.check_quiet(body)
            self.assertLessEqual(len(body["content"].encode("utf-16-le")) // 2, 2000)
            # A code block is whole in each part: as many fences open as close.
            self.assertEqual(body["content"].count("```") % 2, 0, body["content"])
        self.assertIn("message_reference", bodies[0])
        self.assertNotIn("message_reference", bodies[1])
        text = "".join(body["content"] for body in bodies)
        for word in ("first line of code", "last line of code", "The end."):
            self.assertIn(word, text)

    def test_everyone_from_the_model_pings_nobody(self):
        guild.say(CHANNEL, "[[script:ping]]")
        body = guild.answer(CHANNEL)
        self.assertIn("@everyone", body["content"])
        self.check_quiet(body)

    def test_an_edit_changes_nothing(self):
        asked = guild.say(CHANNEL, "[[script:plain]] before")
        guild.answer(CHANNEL)
        guild.ask("dispatch", {"t": "MESSAGE_UPDATE", "d": dict(asked, content=f"<@{guild.SELF}> after", edited_timestamp="2026-01-02T00:00:00.000Z")})
        guild.nothing_said(guild.OPEN)
        self.assertIn("before", guild.answer(CHANNEL)["content"])

    def test_two_at_once_in_one_channel(self):
        first = guild.say(CHANNEL, "[[script:plain]] one")
        second = guild.say(CHANNEL, "[[script:plain]] two", author=guild.OTHER)
        bodies = guild.answers(CHANNEL, 2)
        self.assertEqual([body["message_reference"]["message_id"] for body in bodies], [first["id"], second["id"]])
        self.assertIn("one", bodies[0]["content"])
        self.assertIn("two", bodies[1]["content"])

    def test_two_channels_side_by_side(self):
        guild.say(CHANNEL, "[[script:hold]]")
        support.model("wait")
        try:
            guild.say(SECOND, "[[script:plain]] meanwhile")
            guild.answer(SECOND)
            self.assertEqual(guild.sent(CHANNEL), [])
        finally:
            support.model("release")
        guild.answer(CHANNEL)


class Deleted(Case):
    def turns(self, channel):
        return [turn[2] for turn in support.call("ListTurns", "", user="root") if turn[1] == guild.key(channel)]

    def test_a_queued_message_that_is_deleted(self):
        guild.say(CHANNEL, "[[script:hold]]")
        support.model("wait")
        try:
            queued = guild.say(CHANNEL, "[[script:plain]] never mind")
            support.eventually("it waits", lambda: "queued" in self.turns(CHANNEL))
            guild.delete(queued)
            support.eventually("it is gone", lambda: "queued" not in self.turns(CHANNEL))
        finally:
            support.model("release")
        self.assertIn("let go", guild.answer(CHANNEL)["content"])
        guild.nothing_said(guild.OPEN)
        guild.answer(CHANNEL)

    def test_a_running_one(self):
        asked = guild.say(CHANNEL, "[[script:hold]]")
        support.model("wait")
        try:
            guild.ask("dispatch", {"t": "MESSAGE_DELETE_BULK", "d": {"ids": [asked["id"]], "channel_id": CHANNEL, "guild_id": guild.GUILD}})
            support.eventually("its turn has ended", lambda: not self.turns(CHANNEL))
        finally:
            support.model("release")
        guild.nothing_said(guild.OPEN)
        self.assertEqual(guild.sent(CHANNEL), [])

    def test_one_that_is_answered_already(self):
        asked = guild.say(CHANNEL, "[[script:plain]] hello")
        guild.answer(CHANNEL)
        guild.delete(asked)
        guild.nothing_said(guild.OPEN)
        guild.answer(CHANNEL)


if __name__ == "__main__":
    unittest.main()
