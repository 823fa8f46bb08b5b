# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""What the cases in a machine share: calls as one user or another, the model's gate, what a turn leaves."""

import contextlib
import glob
import hashlib
import json
import os
import pathlib
import pwd
import subprocess
import time

HERE = os.path.dirname(os.path.realpath(__file__))
MODEL = os.path.join(HERE, "..", "model", "model")
MODEL_PORT = "8400"
ERROR = "org.roundtable.Sandbox1.Error."
LABEL = "org.roundtable.sandbox.turn"
SLICE = "sandboxd-turn.slice"
KEY_FILE = pathlib.Path("/etc/roundtable-sandbox/keys/model")
CASE_DROP_IN = pathlib.Path("/etc/roundtable-sandbox/sandboxd.conf.d/90-case.conf")
IMAGE = "roundtable-sandbox-worker:latest"


def run(*words, check=True, timeout=60):
    """A program's output; one that fails fails the test with what it said."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=timeout, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: status {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def start(*units, verb="start"):
    """The cases start services more often than systemd lets anybody (StartLimitBurst=), so the count begins anew."""
    run("systemctl", "reset-failed", *units, check=False)  # a stopped unit may not be loaded any more
    run("systemctl", verb, *units)


def restart(*units):
    start(*units, verb="restart")


def eventually(what, check, seconds=10):
    """Waits until check() is true (or returns something true, which is handed back)."""
    limit = time.monotonic() + seconds
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > limit:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def polkit_stood_still(since):
    """Whether polkit judged nobody for 15 s since then (seconds since the epoch). Now and then it does not notice that the
    script of the rules has ended (src/daemon/guard.c): once in some ten thousand verdicts beside Docker's work, without our
    services too. What a test waits for less than that fails then, and says nothing about us."""
    # It says so when it goes on, which is when it answers again.
    try:
        run("busctl", "--timeout=30", "get-property", "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
            "org.freedesktop.PolicyKit1.Authority", "BackendVersion", check=False)
        run("journalctl", "--sync")
        said = run("journalctl", "-u", "polkit.service", "-o", "cat", "--no-pager", f"--since=@{since:.3f}")
    except (AssertionError, subprocess.TimeoutExpired):
        return False  # what failed stays a failure
    return "Terminating runaway script" in said


class Failed(Exception):
    """A named error of the bus."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name, self.text = name, text


class Call:
    """A method call under way, in a process of its own."""

    def __init__(self, method, signature, *arguments, user="bot"):
        words = [os.path.join(HERE, "call"), method, signature, json.dumps(arguments)]
        if user != "root":
            words = ["runuser", "-u", user, "--", *words]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def reply(self, timeout=60):
        """What came back; a bus error is raised as Failed."""
        try:
            out, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"no answer within {timeout} s") from None
        answer = json.loads(out)
        if "error" in answer:
            raise Failed(answer["error"], answer["text"])
        return answer["reply"]

    def finished(self):
        return self.process.poll() is not None


def call(method, signature, *arguments, user="bot", timeout=60):
    return Call(method, signature, *arguments, user=user).reply(timeout)


def start_turn(channel, text, user="bot", **options):
    return Call("RunTurn", "ssssa{sv}", channel, "1001", "Ada", text, options, user=user)


def run_turn(channel, text, user="bot", timeout=60, **options):
    ok, reply = start_turn(channel, text, user=user, **options).reply(timeout)
    return bool(ok), str(reply)


def sandbox(channel, mode="on"):
    call("SetChannelMode", "ss", channel, mode, user="root")


def model(verb):
    return run(MODEL, "ctl", "--port", MODEL_PORT, verb)


@contextlib.contextmanager
def configured(text):
    """sandboxd with these lines in a drop-in, while the block runs."""
    CASE_DROP_IN.write_text(text, encoding="utf-8")
    try:
        restart("sandboxd.service")
        yield
    finally:
        CASE_DROP_IN.unlink()
        restart("sandboxd.service")


@contextlib.contextmanager
def held_turn(channel, text="[[script:hold]] please", **options):
    """A turn that stands still inside a model call while the block runs; let go at its end. Yields the Call."""
    turn = start_turn(channel, text, **options)
    try:
        model("wait")
        yield turn
    finally:
        model("release")


def containers():
    return run("docker", "ps", "-aq", "--no-trunc", "--filter", f"label={LABEL}").split()


def scopes():
    """Units below our slice."""
    listed = run("systemctl", "list-units", "--all", "--plain", "--no-legend", "--type=scope", check=True)
    names = [line.split()[0] for line in listed.splitlines() if line.split()]
    return [name for name in names
            if name.startswith("sandboxd-turn-") or run("systemctl", "show", "-P", "Slice", name).strip() == SLICE]


def processes(name):
    """Numbers of the processes whose program has that name."""
    found = []
    for link in glob.glob("/proc/[0-9]*/exe"):
        with contextlib.suppress(OSError):
            if os.path.basename(os.readlink(link)) == name:
                found.append(int(link.split("/")[2]))
    return found


def workers():
    """Processes of the worker's user."""
    uid = pwd.getpwnam("sandbox-worker").pw_uid
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                found.append(int(name))
    return found


def leftovers(docker=True):
    """What turns have left, as text; empty where nothing is."""
    found = {
        "scopes": scopes(),
        "brokers": processes("sandbox-broker"),
        "directories": glob.glob("/run/roundtable-sandbox/turn-*"),
        "containers": containers() if docker else [],
    }
    return ", ".join(f"{name}: {value}" for name, value in found.items() if value)


def nothing_left(seconds=10, docker=True):
    """Cleaning up happens behind the reply, so it may come a moment later; never much later."""
    last = []

    def clean():
        last[:] = [leftovers(docker)]
        return not last[0]

    try:
        eventually("nothing left of the turn", clean, seconds)
    except AssertionError as error:
        raise AssertionError(f"{error}: {last[0]}") from None


def journal(*matches):
    return run("journalctl", "-b", "-o", "cat", "--no-pager", *matches)


def status(pid):
    """The fields of /proc/PID/status."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def main_pid(unit):
    return int(run("systemctl", "show", "-P", "MainPID", unit).strip())


def workspace(channel):
    return pathlib.Path("/var/lib/roundtable-sandbox/workspaces") / hashlib.sha256(channel.encode()).hexdigest()
