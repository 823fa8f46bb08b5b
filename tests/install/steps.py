#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The five steps of README.md, and its first call: each command as it stands there, as root in the source tree.

    steps.py LABEL

Only what a reader has to fill in is filled in: the model's URL, and the key on standard input.
"""

import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path("/root/roundtable-sandbox")
MODEL = pathlib.Path("/opt/install-tests/model/model")
KEY_FILE = pathlib.Path("/root/the-key")
PORT = 8400
KEY = "sk-of-the-install-test-0123456789"
URL = f"http://127.0.0.1:{PORT}/v1/chat/completions"
# An endpoint in the machine itself is neither public nor behind TLS; sandboxd.conf(5) says what that takes.
LOCAL = "PlainHTTP=yes\nAllowPrivate=yes\n"


def section(title):
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    return re.search(rf"^## {title}\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL).group(1)


def steps():
    """(text, [code block, …]) for each numbered step."""
    for step in re.split(r"^\d\. ", section("Install"), flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"(?:^ {7}.*\n|^\n(?= {7}))+", step, re.MULTILINE)
        parts = [part for block in blocks for part in re.split(r"\n\n+", block.strip("\n"))]
        yield step, [re.sub(r"^ {7}", "", part, flags=re.MULTILINE).strip("\n") + "\n" for part in parts]


def run(command, text=""):
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=900, check=False, cwd=SOURCE)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stdout[-4000:]}")
    return done.stdout


def configure(step, block):
    """Writes the block into the file that the step names."""
    path = pathlib.Path(re.search(r"`(/etc/\S+\.conf)`", step).group(1))
    text, n = re.subn(r"(?m)^URL=.*$", f"URL={URL}", block)
    if n != 1:
        raise AssertionError("the block has no URL= to fill in")
    path.write_text(text + LOCAL, encoding="utf-8")
    return str(path)


def expect(pattern, output):
    if not re.search(pattern, output):
        raise AssertionError(f"no {pattern!r} in {output[-4000:]}")


def cases():
    """(name, function) in order."""
    for number, (step, blocks) in enumerate(steps(), 1):
        for block in blocks:
            if block.startswith("["):
                yield f"step {number}: the file", lambda step=step, block=block: configure(step, block)
                continue
            for line in block.splitlines():
                # The key, to whoever reads it.
                yield f"step {number}: {line}", lambda line=line: run(line, KEY + "\n" if "/dev/stdin" in line else "")
    busctl = re.search(r"^ {4}(busctl (?:.*\\\n)*.*\n)", section("Call it from a bot"), re.MULTILINE).group(1)
    yield "the first call by busctl", lambda: expect(r'^bs true "[^"]*\d\d:\d\d', run(busctl))
    yield "the first turn has a reply", lambda: expect(r"\d\d:\d\d", run('sandboxctl run discord:1234 "What time is it?"'))
    yield "the service is well", lambda: expect("image-state: ok", run("sandboxctl status"))


def main():
    label = sys.argv[1]
    KEY_FILE.write_text(KEY, encoding="utf-8")
    KEY_FILE.chmod(0o400)
    run(f"systemd-run --quiet --unit=the-model --property=Type=notify {MODEL} serve --port {PORT} --key-file {KEY_FILE} "
        "--log /root/the-model.jsonl")
    listed = list(cases())
    print(f"1..{len(listed)}", flush=True)
    for name, case in listed:
        try:
            case()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            print(f"not ok - {label}: {name}")
            print("".join(f"#   {line}\n" for line in str(error).splitlines()), end="")
            # Nothing behind a step that failed means anything.
            return 1
        print(f"ok - {label}: {name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
