# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The fake Discord as the cases use it: what people do there, and what the bot did. Ids are those of fake/world.mjs."""

import itertools
import json
import time
import urllib.request

import support

URL = "http://127.0.0.1:8500/control/"
SELF, GUILD, ELSEWHERE = "900000000000000009", "100", "200"
# Sandboxed ones, and one that is not; the thread stands in the first.
CHANNELS = [str(number) for number in range(1001, 1009)]
OPEN, THREAD, FOREIGN = "1009", "1900", "2001"
OWNER, GUEST, OTHER = "1", "42", "43"
BOT = "sandbox-discord-bot.service"
NAMES = {OWNER: "Olga", GUEST: "Ada", OTHER: "Bert"}
SELF_USER = {"id": SELF, "username": "roundtable", "discriminator": "0", "avatar": None, "bot": True}

_last = itertools.count(1)


def key(channel):
    return "discord:" + channel


def ask(verb, body=None):
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(URL + verb, data=data), timeout=10) as answer:
        return json.load(answer)


def snowflake():
    """Discord's ids tell the time, and none is there twice."""
    return str(((int(time.time() * 1000) - 1420070400000) << 22) + next(_last) % (1 << 22))


def user(number, **more):
    return {"id": number, "username": NAMES.get(number, "somebody").lower(), "global_name": NAMES.get(number),
            "discriminator": "0", "avatar": None, **more}


def message(channel, text, author=GUEST, mention=True, guild=GUILD, **more):
    """A message as the gateway tells of it."""
    event = {
        "id": snowflake(), "channel_id": channel, "guild_id": guild, "author": user(author),
        "member": {"nick": None, "roles": [], "joined_at": "2026-01-01T00:00:00.000Z", "deaf": False, "mute": False, "flags": 0},
        "content": f"<@{SELF}> {text}" if mention else text, "timestamp": "2026-01-01T00:00:00.000Z", "edited_timestamp": None,
        "tts": False, "mention_everyone": False, "mentions": [SELF_USER] if mention else [], "mention_roles": [],
        "attachments": [], "embeds": [], "pinned": False, "type": 0,
    }
    event.update(more)
    return event


def replying_to(other, **more):
    """What a message that answers another one has besides."""
    return {"type": 19, "message_reference": {"type": 0, "message_id": other["id"], "channel_id": other["channel_id"], "guild_id": GUILD},
            "referenced_message": other, **more}


def post(event):
    ask("dispatch", {"t": "MESSAGE_CREATE", "d": event})
    return event


def say(channel, text, **more):
    return post(message(channel, text, **more))


def delete(event):
    ask("dispatch", {"t": "MESSAGE_DELETE", "d": {name: event[name] for name in ("id", "channel_id", "guild_id")}})


def fault(method, path, status, **more):
    """The next answer to such a request."""
    ask("fault", {"method": method, "path": path, "status": status, **more})


def state():
    return ask("state")


def requests(method, ending, **fields):
    """What the bot asked of Discord since the last clearing."""
    return [request for request in state()["requests"]
            if request["method"] == method and request["path"].endswith(ending)
            and all(request.get(name) == value for name, value in fields.items())]


def sent(channel):
    """The messages that people see in a channel, of the bot's."""
    return [request["body"] for request in requests("POST", f"/channels/{channel}/messages", created=True)]


def typing(channel):
    return requests("POST", f"/channels/{channel}/typing")


def answers(channel, count=1, seconds=20):
    """Waits for so many, and takes a further one for a failure: what was said twice comes at once."""
    support.eventually(f"{count} messages in {channel}, not {len(sent(channel))}", lambda: len(sent(channel)) >= count, seconds)
    found = sent(channel)
    if len(found) != count:
        raise AssertionError(f"{len(found)} messages: {found}")
    return found


def answer(channel, seconds=20):
    return answers(channel, 1, seconds)[0]


def nothing_said(*channels):
    """After whatever came before: a message in a channel of its own is offered behind it and must be answered."""
    fence = CHANNELS[-1]
    before = len(sent(fence))
    say(fence, "[[script:plain]] are you done?")
    answers(fence, before + 1)
    for channel in channels:
        if sent(channel) or typing(channel):
            raise AssertionError(f"{channel}: {sent(channel)}")


def command(verb, channel, author=OWNER, group="sandbox", root="roundtable"):
    """Uses the slash command, and gives what its user alone is shown."""
    token = "token-" + snowflake()
    ask("dispatch", {"t": "INTERACTION_CREATE", "d": {
        "id": snowflake(), "application_id": SELF, "type": 2, "token": token, "version": 1, "guild_id": GUILD, "channel_id": channel,
        "channel": {"id": channel, "type": 0}, "locale": "en-US", "guild_locale": "en-US", "app_permissions": "8",
        "entitlements": [], "authorizing_integration_owners": {"0": GUILD}, "context": 0, "attachment_size_limit": 1000,
        "member": {"user": user(author), "nick": None, "roles": [], "joined_at": "2026-01-01T00:00:00.000Z", "deaf": False,
                   "mute": False, "permissions": "8", "flags": 0},
        "data": {"id": "5", "name": root, "type": 1, "guild_id": GUILD,
                 "options": [{"type": 2, "name": group, "options": [{"type": 1, "name": verb, "options": []}]}]},
    }})
    return token


def told(token, seconds=20):
    """The text that the command's user is shown, once it is there."""
    def found():
        edits = requests("PATCH", f"/webhooks/{SELF}/{token}/messages/@original")
        replies = [request for request in requests("POST", f"/{token}/callback") if request["body"]["type"] == 4]
        return [request["body"] for request in edits] + [request["body"]["data"] for request in replies]
    return support.eventually("the command is answered", found, seconds)[0]["content"]


def ephemeral(token):
    """Whether nobody else sees it."""
    return all(request["body"]["data"]["flags"] & 64 for request in requests("POST", f"/{token}/callback"))


def ready(identifies):
    """Waits until the bot has begun so many sessions and is connected."""
    support.eventually("the bot is ready", lambda: (now := state())["identifies"] >= identifies and now["connected"] == 1, 30)


def restart_bot(verb="restart"):
    before = state()["identifies"]
    support.start(BOT, verb=verb)
    ready(before + 1)
    support.eventually("it is ready", lambda: "ready as" in support.journal("_SYSTEMD_INVOCATION_ID=" + support.run(
        "systemctl", "show", "-P", "InvocationID", BOT).strip()), 20)


def model_log():
    """What the model was asked for, newest last."""
    with urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:8400/control/log", data=b""), timeout=10) as answer:
        return json.load(answer)
