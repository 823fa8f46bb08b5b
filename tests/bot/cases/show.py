#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""A short conversation with the bot, for ./try bot: what people see on the (fake) Discord, and the bot's calls on the bus between.

What is shown of the bus is what a monitor saw there, not what the bot says of itself.
"""

import datetime
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, "/opt/roundtable-tests/cases"]
import buswatch  # noqa: E402
import guild  # noqa: E402
import support  # noqa: E402

CHANNEL = guild.CHANNELS[0]
WIDTH = 30
# What people say, by when and where; the bot's part is found out.
heard = []


def bold(text):
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


def people(who, text):
    heard.append((time.time(), who, text))


def shown(value):
    if isinstance(value, list):
        return f"[{len(value)}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value).lower()


def members(dictionary):
    """Flags that are false say nothing, and an outcome has its text twice."""
    twice = {"text"} if "guest-text" in dictionary else set()
    return ", ".join(f"{name} {shown(value)}" for name, value in dictionary.items() if value is not False and name not in twice)


def bus_lines(messages):
    """What was called of sandboxd, and what came back."""
    for at, what, body in messages:
        if what == "← ListTurns":
            count = len(body[0])
            body = [f"{count} turn" if count == 1 else f"{count} turns"]
        words = " ".join(members(each) if isinstance(each, dict) else shown(each) for each in body)
        yield at, f"   {what:{WIDTH}} {words if len(words) < 300 else words[:297] + '…'}"


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


def main():
    guild.ready(1)
    guild.ask("clear", {})
    with buswatch.Watch() as watch:
        converse()
    lines = list(bus_lines(watch.messages))
    lines += [(at, f" {bold(who + ':')} {text}") for at, who, text in heard + list(discord_lines())]
    for at, line in sorted(lines):
        print(datetime.datetime.fromtimestamp(at).strftime("%H:%M:%S.%f")[:-3] + line)
    support.nothing_left()


if __name__ == "__main__":
    main()
