# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The service set up as a section wants it, `docker run` beside it, and when nothing is left."""

import contextlib
import json
import os
import pathlib
import pwd
import subprocess
import threading
import time

import bus

CONF = pathlib.Path("/etc/roundtable-sandbox/sandboxd.conf.d/90-bench.conf")
STATE = pathlib.Path("/var/lib/roundtable-sandbox")
RUN = pathlib.Path("/run/roundtable-sandbox")
SCRATCH = pathlib.Path("/var/lib/bench")
TURN = json.dumps({"text": "Hello", "speaker": {"id": "1001", "name": "Ada"}}).encode()


def run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stdout}")
    return done.stdout


def channel(index):
    return f"discord:{index:05}"


def wait_until(what, check, seconds=60):
    """Milliseconds until check() is true."""
    began = time.perf_counter()
    while not check():
        if time.perf_counter() - began > seconds:
            raise SystemExit(f"not within {seconds} s: {what}")
        time.sleep(0.001)
    return (time.perf_counter() - began) * 1000


class Rig:
    def __init__(self, can_prepare):
        self.can_prepare = can_prepare
        self.bot = self.root = None
        self.settings = {}

    # --- the service ---

    def configure(self, prepared=0, **settings):
        """Written, and read by a reload where the service runs."""
        wanted = dict(settings, prepared=prepared)
        if wanted == self.settings:
            return
        self.settings = wanted
        lines = ["[Worker]", f"Image={settings.get('image', 'roundtable-sandbox-worker:latest')}",
                 f"Runtime={settings.get('runtime', '')}", "[Turns]", "MaxTurns=16", "MaxQueued=64", "SpeakerTurns=off",
                 f"Calls={settings.get('calls', 48)}", f"Deadline={settings.get('deadline', '120s')}"]
        if self.can_prepare:
            lines.append(f"PreparedTurns={prepared}")
        CONF.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if self.root is not None:
            self.root.wait(self.root.send("Reload", "", b""))
            if prepared == 0:
                self.settle()

    def restart(self, channels, **settings):
        """With so many sandboxed channels. Milliseconds from the program's start to READY."""
        self.close()
        run("systemctl", "stop", "sandboxd.service")
        self.settings = {}
        self.configure(**settings)
        path = STATE / "channels.json"
        path.write_text(json.dumps([channel(index) for index in range(channels)]) + "\n", encoding="utf-8")
        run("systemctl", "reset-failed", "sandboxd.service")
        run("systemctl", "start", "sandboxd.service")
        shown = dict(line.split("=") for line in run(
            "systemctl", "show", "-p", "ExecMainStartTimestampMonotonic,ActiveEnterTimestampMonotonic", "sandboxd.service").split())
        self.bot, self.root = bus.Caller("bot"), bus.Caller("root")
        return (int(shown["ActiveEnterTimestampMonotonic"]) - int(shown["ExecMainStartTimestampMonotonic"])) / 1000

    def close(self):
        for caller in (self.bot, self.root):
            if caller is not None:
                caller.close()
        self.bot = self.root = None

    def turn_dirs(self):
        with contextlib.suppress(FileNotFoundError):
            return {name for name in os.listdir(RUN) if name.startswith("turn-")}
        return set()

    def prepared(self):
        return self.root.number("TurnsPrepared") if self.can_prepare else 0

    def settle(self, prepared=0):
        """Until nothing runs but so many prepared turns."""
        wait_until("the turns are over", lambda: self.prepared() == prepared and len(self.turn_dirs()) == prepared
                   and self.root.number("TurnsRunning") == 0)

    def repeated(self, burst, tries=3):
        """burst(), again where it failed: with cgroup v1, runc and systemd at times race for a group of many containers."""
        for left in reversed(range(tries)):
            try:
                return burst()
            except bus.Failed as error:
                self.close()
                self.bot, self.root = bus.Caller("bot"), bus.Caller("root")
                wait_until("no turn runs", lambda: self.root.number("TurnsRunning") == 0)
                if left == 0:
                    raise SystemExit(f"again and again: {error}") from None
                print(f"… repeated after: {error}", flush=True)

    def turn(self, name, **options):
        """Milliseconds to the reply, and to nothing left of the turn. Only one may be prepared, the channel's own."""
        before = self.turn_dirs()
        began = time.perf_counter()
        took = self.bot.turn(name, **options)
        of_turn = before or self.turn_dirs()
        wait_until("the turn's directory is gone", lambda: not of_turn & self.turn_dirs())
        return took, (time.perf_counter() - began) * 1000

    # --- docker ---

    def docker_words(self, runtime=None):
        worker = pwd.getpwnam("sandbox-worker")
        for name in ("run", "workspace"):
            (SCRATCH / name).mkdir(parents=True, exist_ok=True)
        words = ["docker", "run", "--rm", "-i", "--user", f"{worker.pw_uid}:{worker.pw_gid}", "--network", "none", "--read-only",
                 "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--memory", "512m", "--memory-swap", "512m",
                 "--cpus", "1", "--pids-limit", "64", "--ulimit", "nofile=256:256",
                 "--tmpfs", "/tmp:rw,noexec,nosuid,nodev,size=64m,mode=1777",
                 "--tmpfs", "/dev/shm:rw,noexec,nosuid,nodev,size=1m,mode=1777", "--shm-size", "1048576",
                 "--mount", f"type=bind,source={SCRATCH}/run,target=/broker,readonly,bind-propagation=rprivate",
                 "--mount", f"type=bind,source={SCRATCH}/workspace,target=/workspace,bind-propagation=rprivate",
                 "--log-driver", "none", "--ipc", "private", "--cgroupns", "private", "--oom-score-adj", "500",
                 "--cgroup-parent", "sandboxd-turn.slice", "--stop-timeout", "1", "--env", "HOME=/tmp/home"]
        return words + (["--runtime", runtime] if runtime else []) + ["bench-answer:latest"]

    def docker_run(self, began=None, runtime=None):
        """Milliseconds to the reply's first byte, and to the end, which comes when the container is removed."""
        began = began or time.perf_counter()
        with subprocess.Popen(self.docker_words(runtime), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdin.write(TURN)
            process.stdin.close()
            first = process.stdout.read(1)
            took = (time.perf_counter() - began) * 1000
            process.stdout.read()
            if process.wait() != 0 or not first:
                raise bus.Failed("docker run has failed")
        return took, (time.perf_counter() - began) * 1000

    @staticmethod
    def at_once(count, call):
        """In so many threads; one that fails is missing in what the others did."""
        def without_failure():
            with contextlib.suppress(bus.Failed):
                call()
        threads = [threading.Thread(target=without_failure) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def docker_runs(self, count):
        """So many at once: milliseconds from the first one's start to each first byte."""
        began, took = time.perf_counter(), []
        self.at_once(count, lambda: took.append(self.docker_run(began)[0]))
        if len(took) != count:
            raise bus.Failed("docker run has failed")
        return took

    def docker_steady(self, callers, count):
        """count runs in all, by so many callers, each starting the next when its last has ended: when each ended. One that
        Docker fails (as in repeated()) took its time and gave nothing."""
        numbers, ended = iter(range(count)), []

        def call():
            for _ in numbers:
                with contextlib.suppress(bus.Failed):
                    self.docker_run()
                    ended.append(time.perf_counter())
        self.at_once(callers, call)
        return ended
