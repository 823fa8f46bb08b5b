# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What the scripted model says. Pure: a request in, a reply out.

A turn's step is how many answers with tool calls came since the guest's message, so a script needs no memory of its own and
any number of turns can run at once.
"""

import json
import re

WORD = re.compile(r"\[\[script:([a-z0-9-]+)(?: ([^\]]*))?\]\]")


class Reply:
    """status, body (bytes go out as they are), headers; final: no tool is called; hold: not before it is let go."""

    def __init__(self, status, body, headers=(), final=False, hold=False):
        self.status, self.body, self.headers, self.final, self.hold = status, body, headers, final, hold


def say(text, **more):
    message = {"role": "assistant", "content": text}
    return Reply(200, {"id": "scripted", "object": "chat.completion",
                       "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                       "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}, final=True, **more)


def call(*tools):
    calls = [{"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
             for index, (name, arguments) in enumerate(tools)]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    return Reply(200, {"id": "scripted", "object": "chat.completion",
                       "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                       "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})


def fail(status, headers=()):
    return Reply(status, {"error": {"message": f"scripted status {status}"}}, headers)


def result_text(content):
    """A tool's result as a person would say it: the worker hands it over as JSON."""
    try:
        value = json.loads(content)
    except ValueError:
        return content
    return str(value.get("text", content)) if isinstance(value, dict) else str(value)


def clock_and_note(turn):
    """Asks for the time, writes a note, and answers with both."""
    if turn.step == 0:
        return call(("host_clock", {}), ("memory_set", {"scope": "channel", "key": "last question", "text": turn.text[:500]}))
    clock, note = (turn.results + ["", ""])[:2]
    return say(f"It is {result_text(clock).strip()}. I have noted your question for this channel ({result_text(note).strip()}).")


def call_one(turn):
    """[[script:call TOOL JSON]]: calls that tool, then says what it gave."""
    name, _, arguments = turn.argument.partition(" ")
    if turn.step == 0:
        return call((name, json.loads(arguments or "{}")))
    return say(turn.results[0] if turn.results else "no result")


def retry_after(turn):
    """429 once, then an answer."""
    return fail(429, [("Retry-After", "1")]) if turn.attempt == 0 else say("after a second try")


def kept(turn):
    """An answer with members beside the contract's, as models that think or sign their calls give them."""
    if turn.step > 0:
        return say("done")
    reply = call(("memory_get", {"scope": "channel"}))
    message = reply.body["choices"][0]["message"]
    message.update(reasoning_content="because", refusal=None)
    message["tool_calls"][0].update(index=0, extra_content={"google": {"thought_signature": "AbC"}})
    return reply


def essay(turn):
    """3,000 characters with a code block that no part of 2,000 can hold beside the rest."""
    code = ["first line of code"] + ["    x = x + 1  # and so on"] * 60 + ["last line of code"]
    return say("Some words before it. " * 65 + "\n```python\n" + "\n".join(code) + "\n```\nThe end.")


SCRIPTS = {
    "clock-and-note": clock_and_note,
    "call": call_one,
    "plain": lambda turn: say(f"You said: {turn.text}"),
    "hold": lambda turn: say("let go", hold=True),
    "kept": kept,
    "loop": lambda turn: call(("memory_get", {"scope": "channel"})),
    "nine-calls": lambda turn: call(*[("memory_get", {"scope": "channel"})] * 9),
    "status": lambda turn: fail(int(turn.argument)),
    "retry-after": retry_after,
    "redirect": lambda turn: Reply(302, b"", [("Location", "/redirected")]),
    "garbage": lambda turn: Reply(200, b"this is { not JSON"),
    "no-choices": lambda turn: Reply(200, {"choices": []}),
    "blank": lambda turn: say("  \n "),
    "huge": lambda turn: say("x" * (2 << 20)),
    "long": lambda turn: say("x" * 100001),
    "essay": essay,
    "ping": lambda turn: say("Hello @everyone, @here, <@1> and <@&100>!"),
    "echo-key": lambda turn: say(f"the key is {turn.key}"),
    "echo-key-hex": lambda turn: say("the key is " + turn.key.encode().hex()),
    "system": lambda turn: say(turn.system),
    "history": lambda turn: say(str(turn.history)),
}
NAMES = sorted(SCRIPTS)


class Turn:
    """What a script looks at: the guest's text, the step, the results of the last calls."""

    def __init__(self, body, key, default):
        messages = body.get("messages", []) if isinstance(body, dict) else []
        self.key = key
        self.attempt = 0
        users = [index for index, message in enumerate(messages) if message.get("role") == "user"]
        last = users[-1] if users else len(messages)
        self.system = messages[0].get("content", "") if messages and messages[0].get("role") == "system" else ""
        self.history = max(last - 1, 0)
        self.text = self.spoken(messages[last].get("content", "")) if users else ""
        after = messages[last + 1:]
        self.step = sum(1 for message in after if message.get("role") == "assistant")
        self.results = []
        for message in after:
            if message.get("role") == "assistant":
                self.results = []
            elif message.get("role") == "tool":
                self.results.append(message.get("content", ""))
        found = WORD.search(self.text)
        self.script = found.group(1) if found else default
        self.argument = (found.group(2) or "") if found else ""

    @staticmethod
    def spoken(content):
        """The worker sends the guest's message as JSON with the speaker; a plain text is one too."""
        try:
            value = json.loads(content)
        except ValueError:
            return content
        return value.get("message", content) if isinstance(value, dict) else content

    def reply(self):
        script = SCRIPTS.get(self.script)
        return script(self) if script else say(f"there is no script '{self.script}'")


def mcp(body):
    """An MCP server with one answer: what it was given."""
    arguments = body.get("params", {}).get("arguments") if isinstance(body, dict) else None
    return {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": json.dumps(arguments)}]}}
