# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What the bot asks of sandboxd: every message is offered, whole, and what becomes of it is sandboxd's decision."""

import unittest

import buswatch
import guild
from bot_case import Case

CHANNEL = guild.CHANNELS[6]
PARENT = guild.CHANNELS[0]  # of the thread


class Bus(Case):
    def offered(self, event, watch):
        found = [message for message, in watch.called("Manager.Deliver") if message["message-id"] == event["id"]]
        self.assertEqual(len(found), 1)
        return {name: value for name, value in found[0].items() if value is not False}

    def test_every_message_is_offered(self):
        ours = guild.message(CHANNEL, "It is noon.", mention=False)
        ours["author"] = guild.SELF_USER
        webhook = guild.message(CHANNEL, "news", author="78", webhook_id="78", mention=False)
        del webhook["member"]
        direct = guild.message("3001", "psst", channel_type=1, mention=False)
        del direct["guild_id"], direct["member"]
        file = {"id": guild.snowflake(), "filename": "a", "size": 1, "url": "https://cdn.example/a", "proxy_url": "https://cdn.example/a"}
        with buswatch.Watch() as watch:
            plain = guild.say(guild.OPEN, "hello", mention=False)
            thread = guild.say(guild.THREAD, "hello", author=guild.OWNER, attachments=[file])
            quoting = guild.say(CHANNEL, "[[script:plain]] really?", mention=False, **guild.replying_to(ours))
            for event in webhook, direct:
                guild.post(event)
            guild.answer(CHANNEL)
            guild.nothing_said(guild.OPEN, guild.THREAD)
        ada = {"speaker-id": guild.GUEST, "speaker-name": "Ada", "principal": "discord:" + guild.GUEST, "resolved": True}
        self.assertEqual(self.offered(plain, watch), {
            **ada, "channel": guild.key(guild.OPEN), "text": "hello", "message-id": plain["id"]})
        self.assertEqual(self.offered(thread, watch), {
            "channel": guild.key(PARENT), "thread": guild.key(guild.THREAD), "speaker-id": guild.OWNER, "speaker-name": "Olga",
            "principal": "discord:" + guild.OWNER, "resolved": True, "text": "@roundtable hello", "attachments": True, "mentioned": True,
            "owner": True, "message-id": thread["id"]})
        self.assertEqual(self.offered(quoting, watch), {
            **ada, "channel": guild.key(CHANNEL), "text": "[[script:plain]] really?", "quoted-text": "It is noon.", "replied-to": True,
            "message-id": quoting["id"]})
        self.assertTrue(self.offered(webhook, watch)["integration"])
        self.assertTrue(self.offered(direct, watch)["direct"])

    def test_what_else_is_called(self):
        with buswatch.Watch() as watch:
            guild.say(CHANNEL, "[[script:plain]] hello")
            guild.answer(CHANNEL)
            guild.say(CHANNEL, "just chatting", mention=False)
            guild.nothing_said(guild.OPEN)
        self.assertEqual({what for _, what, _ in watch.messages if what.startswith("→")}, {"→ Manager.Deliver", "→ Turn.Wait"})
        self.assertEqual(watch.called("Turn.Wait"), [[{"chunk-size": 2000}]] * 2)


if __name__ == "__main__":
    unittest.main()
