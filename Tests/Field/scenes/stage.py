"""The stage of the scenes: the report, `reachd`, and NetworkManager in the same namespace."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from namespaces import inside, new_namespace, run_in, wire
from programs import Failure, now, started, wait_for
from reachd import Reachd

WEB, NAMES = "198.51.100.80", "198.51.100.53"
# Another host, which has nothing to do with the checks.
OTHER = "198.51.100.7"
WEB6 = "2001:db8:80::80"
LOGIN = "http://192.0.2.1:8080/login"


# ---------------------------------------------------------------- lines of programs


class Events:
    """The lines of a program that writes JSON, as they arrive."""

    def __init__(self, process):
        self.all = []
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                event["at"] = event["boottime_ns"] / 1e9
                with self._changed:
                    self.all.append(event)
                    self._changed.notify_all()

    def since(self, moment):
        with self._changed:
            return [event for event in self.all if event["at"] >= moment]

    def wait(self, matches, since, within):
        """The first event that matches; None if there is none in time."""
        deadline = now() + within
        with self._changed:
            while True:
                for event in self.all:
                    if event["at"] >= since and matches(event):
                        return event
                if now() >= deadline:
                    return None
                self._changed.wait(max(0, deadline - now()))


# ---------------------------------------------------------------- the report


class Report:
    def __init__(self):
        self.failed = []
        self.rows = []
        self.scene = ""

    def begin(self, scene, title):
        self.scene = scene
        print(f"\n{scene}: {title}", flush=True)

    def say(self, text):
        print(f"  {text}", flush=True)

    def note(self, seconds, who, what):
        self.rows.append({"scene": self.scene, "seconds": seconds, "who": who, "what": what})
        print(f"       {'-' if seconds is None else f'{seconds:6.2f} s':>9}  {who:15} {what}", flush=True)

    def check(self, is_right, seconds, who, what, bound=None):
        """Prints and returns whether something is right, and in time."""
        is_right = bool(is_right) and (bound is None or (seconds is not None and seconds <= bound))
        limit = "" if bound is None else f"   (at most {bound:.2f} s)"
        self.rows.append({"scene": self.scene, "seconds": seconds, "who": who, "what": what, "met": is_right})
        print(f"  {'ok ' if is_right else 'NOT'}  {'-' if seconds is None else f'{seconds:6.2f} s':>9}  {who:15} {what}{limit}",
              flush=True)
        if not is_right:
            self.failed.append(f"{self.scene}: {who} {what}")
        return is_right


# ---------------------------------------------------------------- the programs


class Reach(Reachd):
    """`reachd` in the current namespace, and a `reach watch` of it."""

    def __init__(self, options, directory, configuration):
        self.reach = options.reach
        super().__init__(Path(options.reach).with_name("reachd"), Path(directory), configuration)
        self.stack = contextlib.ExitStack()
        self.events = None

    def __enter__(self):
        self.start_daemon()
        watch = self.stack.enter_context(
            started([self.reach, "watch", "--json", "--socket", str(self.socket)], stdout=subprocess.PIPE))
        self.events = Events(watch)
        if self.events.wait(lambda event: event["type"] == "snapshot", 0, 10) is None:
            raise Failure("reach watch prints nothing")
        return self

    def __exit__(self, *_):
        self.stop()
        self.stack.close()

    def start_daemon(self):
        self.start()
        self.await_answer()

    def call(self, *arguments, check=True):
        result = subprocess.run([self.reach, *map(str, arguments), "--socket", str(self.socket)], capture_output=True,
                                text=True, timeout=240)
        if check and result.returncode != 0:
            raise Failure(f"reach {' '.join(map(str, arguments))}: {result.stderr}")
        return result.stdout

    def status(self):
        with contextlib.suppress(ValueError, IndexError):
            return json.loads(self.call("status", "--json", check=False).splitlines()[0])
        return None

    def metric(self, name, port=9101):
        """A number that the daemon counts; its configuration has `[metrics]`."""
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(f"{name} "):
                    return int(float(line.split()[1]))
        raise Failure(f"there is no metric {name}")

    def probes(self):
        lines = self.call("probes", "--json", check=False).splitlines()
        return {report["probe"]: report for report in map(json.loads, lines)}


class Chatter:
    """Connections of the machine to hosts in another namespace, which greet; over each a byte is sent ten times a second."""

    PORT = 5222

    def __init__(self, namespace, addresses, pause=0.1):
        self.pause = pause
        self.ended = threading.Event()
        with inside(namespace):
            self.server = socket.create_server(("0.0.0.0", self.PORT))
        self.far, self.near = [], []
        for address in addresses:
            self.near.append(socket.create_connection((address, self.PORT), timeout=5))
            self.far.append(self.server.accept()[0])
            # A connection that has received nothing may end at a proxy.
            self.far[-1].send(b"!")
            self.near[-1].recv(1)
        for end in self.near:
            end.setblocking(False)
        threading.Thread(target=self._send, daemon=True).start()

    def _send(self):
        while not self.ended.wait(self.pause):
            for end in self.near:
                with contextlib.suppress(OSError):
                    end.send(b".")

    def close(self):
        self.ended.set()
        for end in (*self.near, *self.far, self.server):
            end.close()


# The classes of the links of `cable_and_modem`.
CLASSES = """
[[interface]]
match = "lan*"
class = "wired"
[[interface]]
match = "mob*"
class = "wwan"
"""


def cable_and_modem(addresses):
    """A machine with lan0 and mob0, in whose namespace this process is then, and one at the other end of both, with these addresses."""
    internet, machine = new_namespace(), new_namespace()
    for name, network in (("lan0", "192.0.2"), ("mob0", "198.51.100")):
        wire(machine, name, [f"{network}.2/24"], internet, f"far-{name}", [f"{network}.1/24"])
    for address in addresses:
        run_in(internet, "ip", "address", "add", address, "dev", "lo")
    return internet, machine


CONNECTIVITY = ["unknown", "none", "portal", "limited", "full"]

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/>
<allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
"""

SETTINGS = """[main]
plugins=keyfile
dns=none
rc-manager=unmanaged
hostname-mode=none
no-auto-default=*
auth-polkit=false
systemd-resolved=false
firewall-backend=none
[connectivity]
enabled=true
uri=http://check.example.net/nm
interval={interval}
"""


class NetworkManager:
    """NetworkManager with a bus of its own, in the current namespace: it observes the links that others set up."""

    def __init__(self, root, directory, interval):
        self.root = root
        self.directory = Path(directory) / "networkmanager"
        self.directory.mkdir()
        self.interval = interval
        self.history = []
        self.stack = contextlib.ExitStack()
        self.ended = threading.Event()

    @staticmethod
    def find(options):
        """The root directory of its files: installed, or unpacked by Tests/Field/scenes/networkmanager."""
        if options.without_networkmanager:
            return None, "it was not wanted"
        if not shutil.which("dbus-daemon") or not shutil.which("busctl"):
            return None, "dbus-daemon or busctl is not installed (apt-get install dbus-daemon systemd)"
        for root in ("/", options.networkmanager):
            if os.access(os.path.join(root, "usr/sbin/NetworkManager"), os.X_OK):
                return root, ""
        return None, f"there is none below / or {options.networkmanager} (Tests/Field/scenes/networkmanager unpacks one)"

    def __enter__(self):
        bus = self.directory / "bus.conf"
        bus.write_text(BUS)
        Path("/run/dbus").mkdir(exist_ok=True)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.stack.enter_context(
            started(["dbus-daemon", f"--config-file={bus}", "--nofork", "--nopidfile"], **quiet))
        wait_for(lambda: os.path.exists("/run/dbus/system_bus_socket"), "the bus comes up", 15)
        settings = self.directory / "NetworkManager.conf"
        settings.write_text(SETTINGS.format(interval=self.interval))
        environment = dict(os.environ)
        if self.root != "/":
            library = next(Path(self.root).glob("usr/lib/*-linux-gnu"))
            environment["LD_LIBRARY_PATH"] = str(library)
        places = " ".join(f"--{option}={self.directory}/{name}" for option, name in (
            ("config-dir", "conf.d"), ("system-config-dir", "conf.d"), ("intern-config", "intern.conf"),
            ("state-file", "state"), ("pid-file", "pid")))
        # If /sys is read-only, NetworkManager assumes a container and does not wait for udev. Its state must not go to
        # this machine's /var/lib.
        script = ("mount -o remount,bind,ro /sys && mount -t tmpfs tmpfs /var/lib && "
                  f"exec {self.root}/usr/sbin/NetworkManager --no-daemon --config={settings} {places}")
        self.stack.enter_context(started(["unshare", "--mount", "sh", "-c", script], env=environment, **quiet))
        wait_for(lambda: self.read() is not None, "NetworkManager answers", 15, 0.05)
        threading.Thread(target=self._follow, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.stack.close()

    def read(self):
        """Its connectivity, as a word."""
        result = subprocess.run(
            ["busctl", "get-property", "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
             "org.freedesktop.NetworkManager", "Connectivity"], capture_output=True, text=True)
        words = result.stdout.split()
        return CONNECTIVITY[int(words[1])] if result.returncode == 0 and len(words) == 2 else None

    def _follow(self):
        while not self.ended.wait(0.2):
            word = self.read()
            if word and (not self.history or self.history[-1][1] != word):
                self.history.append((now(), word))

    def check(self):
        """Makes it check now, and waits until it has."""
        subprocess.run(["busctl", "--timeout=30", "call", "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
                        "org.freedesktop.NetworkManager", "CheckConnectivity"], capture_output=True)

    def wait(self, words, since, within):
        """When it reported one of these words, and the word; None if not in time. An earlier report that still holds counts."""
        deadline = now() + within
        while True:
            for index, (moment, word) in enumerate(self.history):
                end = self.history[index + 1][0] if index + 1 < len(self.history) else float("inf")
                if word in words and end > since:
                    return max(moment, since), word
            if now() > deadline:
                return None
            time.sleep(0.1)
