#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""A short conversation with the bot, for ./try bot: what people see on the (fake) Discord, and the bot's calls on the bus between.

What is shown of the bus is what a monitor saw there, not what the bot says of itself.
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, "/opt/roundtable-tests/cases"]
import guild  # noqa: E402
import support  # noqa: E402

SANDBOX = "org.roundtable.Sandbox1"
CHANNEL = guild.CHANNELS[0]
WIDTH = 30
# What people say, by when and where; the bot's part is found out.
heard = []


def people(who, text):
    heard.append((time.time(), who, text))


def plain(value):
    """busctl's JSON without its types."""
    if isinstance(value, dict) and set(value) == {"type", "data"}:
        return plain(value["data"])
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def shown(value):
    if isinstance(value, list):
        return f"[{len(value)} part{'' if len(value) == 1 else 's'}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value).lower()


def members(dictionary):
    """Flags that are false say nothing, and an outcome has its text twice."""
    twice = {"text"} if "guest-text" in dictionary else set()
    return ", ".join(f"{name} {shown(value)}" for name, value in dictionary.items() if value is not False and name not in twice)


def bus_lines(file):
    """What was called of sandboxd, and what came back."""
    calls = {}
    for line in file:
        message = json.loads(line)
        at = message.get("timestamp-realtime", 0) / 1e6
        body = plain(message["payload"]["data"]) if message.get("payload") else []
        if message["type"] == "method_call" and message.get("interface", "").startswith(SANDBOX):
            calls[(message["sender"], message["cookie"])] = message["member"]
            words = [members(each) if isinstance(each, dict) else shown(each) for each in body]
            yield at, f"→ {message['interface'].split('.')[-1]}.{message['member']}", " ".join(words)
        elif message["type"] in ("method_return", "error"):
            member = calls.get((message.get("destination"), message.get("reply_cookie")))
            if member is None:
                continue
            what = message.get("error_name", f"← {member}")
            if member == "ListTurns":
                body = [f"{len(body[0])} turns"]
            words = [members(each) if isinstance(each, dict) else shown(each) for each in body]
            yield at, what, " ".join(words)


def discord_lines():
    """What the bot did on Discord."""
    for request in guild.state()["requests"]:
        at, path, body = request["at"] / 1000, request["path"], request["body"]
        if path.endswith("/typing"):
            yield at, "roundtable", "is typing …"
        elif request.get("created"):
            where = f"in #channel-{int(path.split('/')[2]) - 1000}"
            pings = "pings nobody" if body["allowed_mentions"]["parse"] == [] else "PINGS"
            yield at, f"roundtable, {where}", f"{body['content']}    ({pings})"
        elif path.endswith("@original"):
            yield at, "roundtable, to Olga alone", body["content"].replace("\n", " ")


def say(who, channel, text, mention=True):
    people(f"{guild.NAMES[who]}, in #channel-{int(channel) - 1000}", ("@roundtable " if mention else "") + text)
    guild.say(channel, text, author=who, mention=mention)


def command(verb, channel):
    people(f"Olga, in #channel-{int(channel) - 1000}", f"/roundtable sandbox {verb}")
    guild.told(guild.command(verb, channel))


def converse():
    command("on", CHANNEL)
    say(guild.GUEST, CHANNEL, "What time is it where you are? Please remember that I asked.")
    guild.answers(CHANNEL, 1)
    say(guild.OTHER, CHANNEL, "I had noodles.", mention=False)
    say(guild.GUEST, guild.OPEN, "Are you here too?")
    say(guild.OTHER, CHANNEL, "Greet them all! [[script:ping]]")
    guild.answers(CHANNEL, 2)
    command("status", CHANNEL)


def watched():
    """Whether the monitor sees what goes over the bus by now."""
    support.run("busctl", "call", SANDBOX, "/", "org.freedesktop.DBus.Peer", "Ping")


def main():
    guild.ready(1)
    guild.ask("clear", {})
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
        with open(file.name, "w", encoding="utf-8") as output:
            monitor = subprocess.Popen(["busctl", "monitor", "--json=short", SANDBOX], stdin=subprocess.DEVNULL, stdout=output)
        support.eventually("the monitor sees the bus", lambda: watched() or os.path.getsize(file.name) > 0)
        converse()
        monitor.terminate()
        monitor.wait(timeout=10)
        lines = [(at, f"   {what:{WIDTH}} {words if len(words) < 300 else words[:297] + '…'}") for at, what, words in bus_lines(file)]
    lines += [(at, f" \033[1m{who}:\033[0m {text}") for at, who, text in heard + list(discord_lines())]
    for at, line in sorted(lines):
        print(datetime.datetime.fromtimestamp(at).strftime("%H:%M:%S.%f")[:-3] + line)
    support.nothing_left()


if __name__ == "__main__":
    main()
