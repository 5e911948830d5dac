"""Programs that are started, awaited and killed."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# With the directories of servers, which are not in everybody's path.
PATH = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin:/usr/local/sbin"
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


class Failure(RuntimeError):
    """Something is not as it must be."""


def system_call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def now():
    """Seconds on the clock of boottime_ns."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def wait_for(condition, what, within=60, pause=0.01):
    """Waits until the condition is true, and returns its value."""
    deadline = now() + within
    while True:
        value = condition()
        if value:
            return value
        if now() > deadline:
            raise Failure(f"within {within} s not: {what}")
        time.sleep(pause)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def prepare_child(processor=None):
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if processor is not None:
        os.sched_setaffinity(0, {processor})


@contextlib.contextmanager
def started(argv, processor=None, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    process = subprocess.Popen(argv, preexec_fn=lambda: prepare_child(processor), **options)
    try:
        yield process
    finally:
        end(process)


def end(process, within=5):
    """Lets it end in order, or kills it; returns its status."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(within)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()


class Program:
    """A process that is killed and started again. What it prints goes to the file `log`."""

    def __init__(self, log, *arguments, prepare=prepare_child, **options):
        self.log, self.arguments, self.prepare, self.options = Path(log), [str(word) for word in arguments], prepare, options
        self.process = None
        self.kills = 0

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.arguments, **{
                "stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "preexec_fn": self.prepare, **self.options})

    def must_run(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.arguments[0]} ended by itself with {self.process.returncode}: {self.said()[-2000:]}")

    def said(self):
        return self.log.read_text(errors="replace")

    def signal(self, number):
        self.must_run()
        self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1

    def stop(self):
        """Its status; None if it had ended, or was never started."""
        if self.process is None or self.process.poll() is not None:
            return None
        return end(self.process, 20)


def conclude(report, file, began):
    """Prints the report of a test, also into a file if there is one, and ends with 0 if it is met."""
    report["seconds"] = round(time.monotonic() - began)
    print(json.dumps(report, indent=2))
    if file:
        file.write_text(json.dumps(report) + "\n")
    sys.exit(0 if report["met"] else 1)
