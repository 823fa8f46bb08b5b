# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
"""The matrix: each fault, the states of a turn that it is tried in, the outcomes a caller may get, what the journal says."""

import contextlib
import os
import pathlib
import signal

import states
import support

REPLIED = "replied"
# A daemon that dies cannot answer; the bus does it.
LOST = ("org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected", "no answer")
STATE_DIR = pathlib.Path("/var/lib/roundtable-sandbox")
EVERY = ("idle", "prepared", "queued", "preparing", "starting", "running", "finishing", "replied")
LASTING = ("arriving", "queued", "starting", "running", "finishing")
BEFORE_THE_END = ("queued", "preparing", "starting", "running")
ALIVE = ("queued", "preparing", "starting", "running", "finishing")


def kill(program, number=signal.SIGKILL):
    for pid in states.pids(program):
        os.kill(pid, number)


def systemctl(*words):
    support.run("systemctl", *words, timeout=90)


def back(unit, seconds=30):
    """Waits until systemd says so; a unit that nobody wants any more is started."""
    def active():
        return support.run("systemctl", "is-active", unit, check=False).strip() == "active"

    support.eventually(f"{unit} is back", active, seconds)


def after_kill(unit, program):
    """SIGKILL, then wait until systemd has put a new one in its place."""
    kill(program)
    support.eventually(f"{unit} was missed", lambda: not support.processes(program) or
                       support.run("systemctl", "is-active", unit, check=False).strip() != "active", 5)


def kill_waiting_worker():
    """Its program has the image's own name for it."""
    os.kill(int(support.run("docker", "inspect", "-f", "{{.State.Pid}}", support.containers()[0])), signal.SIGKILL)


class Fault:
    """inject: makes it. end: takes it away, after the outcomes have come. want: the outcomes that are right, by state ("*": any
    other). says: what the journal must have. daemon_dies: sandboxd is not there to record. docker: it is Docker that is
    broken. goes_on: turns are let go on, since the fault alone does not end them. cancels: nothing ends the turn but a
    cancellation, which must be quick. leaves: the callers die. returns: they had given a message-id, and ask for the record,
    which has one of the outcomes in want. deadline: of a bad worker's turns; more where the fault itself takes its time."""

    def __init__(self, name, at, inject, want, says=None, end=None, **flags):
        self.name, self.at, self.inject, self.want, self.says = name, at, inject, want, says
        self.end = end or (lambda: None)
        self.daemon_dies = flags.pop("daemon_dies", False)
        self.docker = flags.pop("docker", False)
        self.goes_on = flags.pop("goes_on", False)
        self.cancels = flags.pop("cancels", False)
        self.leaves = flags.pop("leaves", False)
        self.returns = flags.pop("returns", False)
        self.text = flags.pop("text", states.HELD)
        self.image = flags.pop("image", None)
        self.deadline = flags.pop("deadline", "5s")
        assert not flags, flags

    def wanted(self, state):
        return self.want.get(state, self.want.get("*", ()))


def error(*names):
    return tuple(support.ERROR + name for name in names)


def watchdog_fires():
    kill("sandboxd", signal.SIGSTOP)
    pid = support.main_pid("sandboxd.service")
    support.eventually("the watchdog has fired", lambda: support.main_pid("sandboxd.service") != pid, 30)


def restart(unit):
    return lambda: systemctl("restart", unit)


def stop_docker():
    systemctl("stop", "docker.socket", "docker.service")


def start_docker():
    systemctl("start", "docker.socket", "docker.service")


def stop_containerd():
    """dockerd is bound to it and goes too."""
    systemctl("stop", "docker.socket", "containerd.service")


def start_containerd():
    systemctl("start", "containerd.service", "docker.socket", "docker.service")


def containerd_back():
    """dockerd connects to the new one by itself, a little later: the fault ends when a container can be started."""
    back("containerd.service")
    back("docker.service")
    support.eventually("Docker starts containers", lambda: "good" in support.run(
        "docker", "run", "--rm", "--network", "none", "faulty-worker:plain", check=False), 40)


def polkit_away():
    systemctl("mask", "--runtime", "--now", "polkit.service")


def polkit_back():
    systemctl("unmask", "--runtime", "polkit.service")
    systemctl("start", "polkit.service")


def fill(directory):
    """Takes all that is left, to the last block."""
    def inject():
        free = os.statvfs(directory)
        with open(f"{directory}/.fill", "wb") as file, contextlib.suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, free.f_bfree * free.f_frsize)
        with open(f"{directory}/.fill2", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
    return inject


def unfill(directory):
    def end():
        for name in (".fill", ".fill2"):
            pathlib.Path(directory, name).unlink(missing_ok=True)
    return end


def run_is_small():
    """So that filling it takes nothing of the host's memory; it keeps what a turn needs."""
    used = os.statvfs("/run")
    kib = (used.f_blocks - used.f_bfree) * used.f_frsize // 1024 + 2048
    support.run("mount", "-o", f"remount,size={kib}k", "/run")


def fill_run():
    run_is_small()
    fill("/run")()


def unfill_run():
    unfill("/run")()
    support.run("mount", "-o", "remount,size=25%", "/run")


def lock_elsewhere():
    """sandboxd keeps its lock open for writing, and with it the file system writable: so the lock is on another one."""
    lock, other = STATE_DIR / "lock", pathlib.Path("/run/faults-lock")
    other.touch(0o600)
    lock.touch(0o600)
    owner = STATE_DIR.stat()
    for path in (lock, other):
        os.chown(path, owner.st_uid, owner.st_gid)
    support.run("mount", "--bind", str(other), str(lock))


def mounted_read_only():
    """The file system itself, for whoever has it open."""
    support.run("mount", "-o", "remount,ro", str(STATE_DIR))


def mounted_writable():
    support.run("mount", "-o", "remount,rw", str(STATE_DIR))


def state_read_only():
    STATE_DIR.chmod(0o500)
    (STATE_DIR / "workspaces").chmod(0o2511)


def state_writable():
    STATE_DIR.chmod(0o700)
    (STATE_DIR / "workspaces").chmod(0o2711)


def nothing():
    """The worker is the fault."""


def paused(program):
    numbers = []

    def inject():
        numbers[:] = states.pids(program)
        for number in numbers:
            os.kill(number, signal.SIGSTOP)

    def end():
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGCONT)
    return inject, end


RUN_FULL = error("DiskFull", "DiskLow", "ScopeRefused", "DockerRefused")
# While a turn is being made, what was asked of Docker last may be refused; a worker that ran went with Docker, and was not killed.
DOCKER_GONE = error("DockerDown", "DockerRefused")
pause_docker, resume_docker = paused("dockerd")
pause_containerd, resume_containerd = paused("containerd")

HOST = [
    Fault("sandboxd killed", EVERY, lambda: after_kill("sandboxd.service", "sandboxd"), {"*": LOST},
          "Main process exited, code=killed", lambda: back("sandboxd.service"), daemon_dies=True),
    Fault("sandboxd stopped", EVERY, lambda: systemctl("stop", "sandboxd.service"), {"*": error("Restarted", "ShuttingDown")},
          "Stopping, with", lambda: systemctl("start", "sandboxd.service")),
    Fault("sandboxd restarted", EVERY, restart("sandboxd.service"), {"*": error("Restarted", "ShuttingDown")}, "Stopping, with"),
    Fault("sandboxd hangs (watchdog)", ("prepared", "running", "queued", "finishing", "replied"), watchdog_fires, {"*": LOST},
          "Watchdog timeout", lambda: back("sandboxd.service"), daemon_dies=True),
    Fault("broker killed", ("prepared", "queued", "starting", "running"), lambda: kill("sandbox-broker"), {"*": error("BrokerFailed")},
          "The broker of turn|thrown away: broker-ended"),
    Fault("waiting worker killed", ("prepared",), kill_waiting_worker, {}, "thrown away: worker-ended"),
    Fault("egress killed", ALIVE, lambda: after_kill("sandbox-egress.service", "sandbox-egress"),
          {"*": error("EgressDown", "ModelUnreachable") + (REPLIED,)}, "code=killed"),
    Fault("egress restarted", ("prepared",) + ALIVE, restart("sandbox-egress.service"),
          {"*": error("EgressDown", "ModelUnreachable") + (REPLIED,)}, "Started sandbox-egress.service"),
    Fault("dockerd killed", EVERY, lambda: kill("dockerd"), {"preparing": DOCKER_GONE + (REPLIED,), "*": DOCKER_GONE},
          "code=killed", lambda: back("docker.service"), docker=True),
    Fault("dockerd stopped", LASTING + ("prepared", "preparing"), stop_docker, {"*": DOCKER_GONE}, "Stopped docker.service",
          start_docker, docker=True),
    # It would wait for containerd, so not in "starting".
    Fault("dockerd restarted", ("idle", "prepared", "queued", "preparing", "running", "finishing"), restart("docker.service"),
          {"preparing": DOCKER_GONE + (REPLIED,), "*": DOCKER_GONE}, "Started docker.service", docker=True),
    Fault("dockerd stands still", ("queued", "starting", "running"), pause_docker, {"*": error("Cancelled")},
          "Finished|ended without a reply", resume_docker, docker=True, cancels=True),
    # Containers live on without it; what is asked of Docker meanwhile is refused.
    Fault("containerd killed", EVERY, lambda: kill("containerd"), {"*": DOCKER_GONE + (REPLIED,)}, "code=killed",
          containerd_back, goes_on=True),
    Fault("containerd stopped", LASTING + ("prepared", "preparing"), stop_containerd, {"*": DOCKER_GONE + (REPLIED,)},
          "Stopped containerd.service", start_containerd, docker=True),
    Fault("containerd restarted", EVERY, restart("containerd.service"), {"*": DOCKER_GONE + (REPLIED,)},
          "Started containerd.service", containerd_back, goes_on=True),
    Fault("containerd stands still", ("preparing", "queued", "running"), pause_containerd, {"*": error("Cancelled")},
          "ended without a reply", resume_containerd, docker=True, cancels=True),
    Fault("bus restarted", EVERY, restart("dbus.service"), {"*": LOST}, "system bus is lost"),
    Fault("systemd executed anew", EVERY, lambda: systemctl("daemon-reexec"), {"*": (REPLIED,)}, "Reexecuting", goes_on=True),
    # Without it no broker gets a scope.
    Fault("polkit away", ("prepared",) + LASTING, polkit_away,
          {"arriving": ("org.freedesktop.DBus.Error.AccessDenied",), "queued": (REPLIED,) + error("ScopeRefused"),
           "*": (REPLIED,)}, None, polkit_back, goes_on=True),
    Fault("run directory full", ("prepared",) + LASTING, fill_run,
          {"arriving": RUN_FULL, "starting": RUN_FULL + (REPLIED,), "queued": RUN_FULL + (REPLIED,), "*": (REPLIED,)}, None,
          unfill_run, goes_on=True),
    Fault("state directory full", ("prepared",) + LASTING, fill(STATE_DIR),
          {"arriving": error("DiskFull", "DiskLow"), "*": (REPLIED,) + error("DiskFull", "DiskLow", "WorkerFailed")}, None,
          unfill(STATE_DIR), goes_on=True),
    Fault("state directory read-only", LASTING, state_read_only, {"*": (REPLIED,) + error("DiskFull", "Internal")}, None,
          state_writable, goes_on=True),
    # Our worker cannot keep what was said.
    Fault("state directory mounted read-only", ("arriving", "queued", "starting", "running"), mounted_read_only,
          {"arriving": error("StateNotWritten"), "queued": error("StoreUnreadable", "Internal"), "*": error("StoreUnreadable")},
          "Read-only file system", mounted_writable, goes_on=True),
    # Nobody is left to hear of it.
    Fault("caller leaves", BEFORE_THE_END, lambda: None, {}, "ended without a reply .cancelled", leaves=True),
    # They may come back.
    Fault("caller leaves, with a message-id", BEFORE_THE_END, lambda: None, {"*": (REPLIED,)}, "replied", leaves=True, returns=True,
          goes_on=True),
    Fault("caller leaves, with a message-id; sandboxd killed", ("queued", "running"),
          lambda: after_kill("sandboxd.service", "sandboxd"),
          {"queued": ("restarted", REPLIED), "running": ("restarted",)}, "code=killed", lambda: back("sandboxd.service"),
          daemon_dies=True, leaves=True, returns=True),
]

# What a worker does, whether its image says that it is ours (a reply then counts at its newline), and what may come of it
# when nobody interferes.
INVALID = error("ReplyInvalid", "ReplyTooLarge", "WorkerFailed")
LATE = error("DeadlineExceeded")
WORKERS = [
    ("ignore-signals", "plain", LATE),
    ("flood-stdout", "plain", INVALID),
    ("flood-stdout", "own", INVALID),
    ("flood-stderr", "plain", LATE + INVALID),
    ("fork-to-limit", "plain", LATE + error("WorkerFailed")),
    ("fill-memory", "plain", error("WorkerOutOfMemory")),
    ("fill-workspace", "plain", (REPLIED,) + error("DiskFull")),
    ("fill-tmp", "plain", (REPLIED,)),
    ("close-stdout", "plain", LATE + INVALID),
    ("reply-and-linger", "plain", LATE),
    ("reply-and-linger", "own", (REPLIED,)),
    ("reply-and-burn", "own", (REPLIED,)),
    ("reply-twice", "plain", INVALID),
    ("reply-twice", "own", (REPLIED,)),
    ("reply-no-utf8", "plain", INVALID),
    ("exit-at-once", "plain", INVALID),
]
# These stay until somebody ends them.
STAYING = ("ignore-signals", "fork-to-limit", "close-stdout", "reply-and-linger")


def text_of(name):
    return f"[[bad:{name}]]"


def worker_faults():
    for name, image, want in WORKERS:
        said = "was|ended without a reply|replied"
        yield Fault(f"worker ({image}): {name}", ("alone",), nothing, {"*": want}, said, text=text_of(name), image=image)
        if name in STAYING and image == "plain":
            yield Fault(f"worker: {name}, cancelled", ("running",), nothing, {"*": error("Cancelled")}, said,
                        text=text_of(name), image=image, cancels=True)
            yield Fault(f"worker: {name}, sandboxd killed", ("running",),
                        lambda: after_kill("sandboxd.service", "sandboxd"), {"*": LOST}, "code=killed",
                        lambda: back("sandboxd.service"), daemon_dies=True, text=text_of(name), image=image)
            yield Fault(f"worker: {name}, dockerd killed", ("running",), lambda: kill("dockerd"), {"*": DOCKER_GONE},
                        "code=killed", lambda: back("docker.service"), docker=True, text=text_of(name), image=image)
    # Docker cannot end this one, so systemd has to.
    text = text_of("ignore-signals")
    yield Fault("worker: ignore-signals, dockerd stopped", ("running",), stop_docker, {"*": DOCKER_GONE},
                "Stopped docker.service", start_docker, docker=True, text=text, image="plain", deadline="60s")
    yield Fault("worker: ignore-signals, dockerd stands still", ("running",), pause_docker, {"*": error("Cancelled")},
                "ended without a reply", resume_docker, docker=True, cancels=True, text=text, image="plain")
    yield Fault("worker: reply-and-burn, dockerd stands still", ("burning",), pause_docker, {"*": (REPLIED,)}, "replied",
                resume_docker, docker=True, text=text_of("reply-and-burn"), image="own", deadline="60s")


FAULTS = HOST + list(worker_faults())
CELLS = [(fault, state) for fault in FAULTS for state in fault.at]
# Rows cannot be lost by mistake.
N_CELLS = 179
