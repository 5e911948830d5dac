"""The ground of the situations: networks of simulated hardware, an Internet behind each, `reachd`, and the checks.

Everything here runs as root in the lab's guest, which ends after the situation: nothing is cleaned up.
"""

import collections
import contextlib
import fcntl
import json
import os
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

from answers import serve
from figures import memory_mib
from namespaces import be_quiet, inside
from programs import now, output_of, run, wait_for
from stage import Chatter, Reach

#: A host of the Internet, and a page for validation; each network has its own copy of that host.
SERVER, SERVER6 = "203.0.113.200", "2001:db8::1"
#: Hosts with which programs talk meanwhile.
TALKERS = ("203.0.113.201", "203.0.113.202", "203.0.113.203")
PAGE = f"http://{SERVER}/204"
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
VALIDATION = f"""
[connectivity]
endpoints = ["{PAGE}"]
interval = "30s"
timeout = "2s"
"""
METRICS = """
[metrics]
listen = "127.0.0.1:9101"
"""


def read(path):
    with contextlib.suppress(OSError):
        return Path(path).read_text().strip()
    return None


def has_carrier(name):
    return read(f"/sys/class/net/{name}/carrier") == "1" and read(f"/sys/class/net/{name}/operstate") == "up"


# ---------------------------------------------------------------- networks


class Web:
    """The Internet's web server in one network; it records the requests, and answers pages that end with /204."""

    def __init__(self, namespace, ledger, name):
        self.ledger, self.name = ledger, name
        with inside(namespace):
            self.server = serve(SERVER, 80, self.answer)

    def answer(self, page):
        if page.body() is not None:
            self.ledger.add(page.path, self.name, page.headers.get("Idempotency-Key"))
            page.send(204 if page.path.endswith("/204") else 200)


class Ledger:
    """What all servers received: path, network, time."""

    def __init__(self):
        self._lock = threading.Lock()
        self._rows = []

    def add(self, path, network, key):
        with self._lock:
            self._rows.append(SimpleNamespace(at=now(), path=path, network=network, key=key))

    def rows(self, prefix):
        with self._lock:
            return [row for row in self._rows if row.path.startswith(prefix)]


class Network:
    """An interface of this machine, and a namespace at its other end with a router and an Internet."""

    #: Set by subclasses: the namespace, the interface here, the networks' numbers, the metric of the default routes.
    far = name = near_address = gateway = near6 = gateway6 = None
    metric, length = 0, 24

    def __init__(self, ledger):
        self.ledger = ledger
        run("ip", "netns", "add", self.far)
        self._in_far("link set lo up", f"address add {SERVER}/32 dev lo", f"address add {SERVER6}/128 dev lo nodad")
        self.namespace = os.open(f"/run/netns/{self.far}", os.O_RDONLY | os.O_CLOEXEC)
        with inside(self.namespace):
            # So that a link that is set down, which is how cables are pulled here, keeps its addresses.
            run("sysctl", "-qw", "net.ipv6.conf.all.keep_addr_on_down=1", "net.ipv6.conf.default.keep_addr_on_down=1")

    def _in_far(self, *lines):
        run("ip", "-n", self.far, "-batch", "-", input="\n".join(lines) + "\n", text=True)

    def _far_addresses(self, link):
        self._in_far(f"link set {link} up", f"address replace {self.gateway}/{self.length} dev {link}",
                     f"address replace {self.gateway6}/64 dev {link} nodad")

    def configure(self, families="46"):
        """What a network manager does once the link works: address and default route."""
        lines = []
        if "4" in families:
            lines += [f"address replace {self.near_address}/{self.length} dev {self.name}",
                      f"route replace default via {self.gateway} dev {self.name} metric {self.metric}"]
        if "6" in families:
            lines += [f"address replace {self.near6}/64 dev {self.name} nodad",
                      f"route replace default via {self.gateway6} dev {self.name} metric {self.metric}"]
        run("ip", "-batch", "-", input="\n".join(lines) + "\n", text=True)

    def withdraw(self):
        """What a network manager does once the link is lost."""
        for family in ("-4", "-6"):
            subprocess.run(["ip", family, "address", "flush", "dev", self.name, "scope", "global"], check=True)
            subprocess.run(["ip", family, "route", "flush", "dev", self.name, "default"], stderr=subprocess.DEVNULL)

    def await_carrier(self, within=30):
        wait_for(lambda: has_carrier(self.name), f"{self.name} has a carrier", within)

    def connect(self):
        """Until the link works."""
        self.await_carrier()

    def talk(self, count=len(TALKERS)):
        """Programs that send to hosts of this network's Internet twice a second, until the result is closed."""
        self._in_far(*(f"address replace {address}/32 dev lo" for address in TALKERS))
        return contextlib.closing(Chatter(self.namespace, TALKERS[:count], pause=0.5))

    def set_dark(self, is_dark, hosts=(SERVER, *TALKERS)):
        """Hosts of the Internet vanish, or return; the gateway answers all along. Its kernel drops packets for others, which it
        would have to forward."""
        self._in_far(*(f"address {'delete' if is_dark else 'replace'} {address}/32 dev lo" for address in hosts))

    def lose_packets_both_ways(self, share):
        self.lose_packets(share)
        run("tc", "qdisc", "replace", "dev", self.name, "root", "netem", "loss", f"{share}%")

    def lose_packets(self, share):
        """Loses this share of what the far end sends, in percent."""
        with inside(self.namespace):
            run("tc", "qdisc", "replace", "dev", self.far_link, "root", "netem", "loss", f"{share}%")


class Gadget(Network):
    """A USB network device on the kernel's dummy controller. Vendor and product decide which driver takes it."""

    function, vendor, product, port, address = "ecm", None, None, 0, None
    far_link = None

    def __init__(self, ledger):
        super().__init__(ledger)
        subprocess.run(["modprobe", "dummy_hcd", "num=2"], check=True)
        subprocess.run(["modprobe", "-a", "libcomposite", "cdc_ether", "cdc_ncm", "qmi_wwan"], check=True)
        configured = Path("/sys/kernel/config/usb_gadget")
        if not configured.is_dir():
            run("mount", "-t", "configfs", "configfs", "/sys/kernel/config")
        self.gadget = configured / self.far
        function = self.gadget / f"functions/{self.function}.0"
        for directory in ("strings/0x409", "configs/c.1", f"functions/{self.function}.0"):
            (self.gadget / directory).mkdir(parents=True)
        (self.gadget / "idVendor").write_text(self.vendor)
        (self.gadget / "idProduct").write_text(self.product)
        (self.gadget / "strings/0x409/product").write_text(self.far)
        (function / "host_addr").write_text(self.address)
        (self.gadget / "configs/c.1/function").symlink_to(function)
        self.plug_in()
        self.start()
        self.web = Web(self.namespace, self.ledger, self.far)

    def start(self):
        """Brings both ends up."""
        near_end = (self.gadget / f"functions/{self.function}.0/ifname").read_text().strip()
        # The second time it is there.
        subprocess.run(["ip", "link", "set", near_end, "netns", self.far, "name", self.far_link], stderr=subprocess.DEVNULL)
        self._in_far(f"link set {self.far_link} down")
        run("ip", "link", "set", self.name, "up")
        # The far end last: the device may lose word of the carrier if no one listens.
        self._far_addresses(self.far_link)

    def plug_in(self):
        (self.gadget / "UDC").write_text(f"dummy_udc.{self.port}")
        wait_for(lambda: os.path.exists(f"/sys/class/net/{self.name}"), f"{self.name} appears")

    def unplug(self):
        (self.gadget / "UDC").write_text("\n")

    def await_carrier(self, within=30):
        def has_carrier_or_try():
            if not has_carrier(self.name):
                time.sleep(1)
                if not has_carrier(self.name):
                    self.start()
            return has_carrier(self.name)
        wait_for(has_carrier_or_try, f"{self.name} has a carrier", within)

    def set_cable(self, is_in):
        """Pulls the cable at the far end, or puts it in. Without a process of its own, for situations with many of these."""
        with inside(self.namespace), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as inet:
            request = struct.pack("16sH22x", self.far_link.encode(), 0)
            flags = struct.unpack_from("16xH", fcntl.ioctl(inet, SIOCGIFFLAGS, request))[0]
            flags = flags | IFF_UP if is_in else flags & ~IFF_UP
            fcntl.ioctl(inet, SIOCSIFFLAGS, struct.pack("16sH22x", self.far_link.encode(), flags))


class Cable(Gadget):
    """eth0, an Ethernet adapter."""

    far, far_link, name, metric, port = "lan", "lan0", "eth0", 100, 1
    near_address, gateway = "192.0.2.2", "192.0.2.1"
    near6, gateway6 = "2001:db8:10::2", "2001:db8:10::1"
    vendor, product, address = "0x0525", "0xa4a1", "00:00:5e:00:53:01"


class Modem(Gadget):
    """wwan0, a modem of the driver qmi_wwan, whose link works from the start, with or without a network."""

    far, far_link, name, metric, port = "cell", "cell0", "wwan0", 700, 0
    near_address, gateway, length = "203.0.113.2", "203.0.113.1", 25
    near6, gateway6 = "2001:db8:30::2", "2001:db8:30::1"
    vendor, product, address = "0x1410", "0xb001", "00:00:5e:00:53:02"

    def connect(self):
        """It works from the start."""


class EtherModem(Modem):
    """wwan0, a modem of the driver cdc_ether, which reports a carrier only while it has a network."""

    vendor, product = "0x12d1", "0x15c1"
    connect = Network.connect


class Wifi(Network):
    """wlan0, and access points with one name, which share a bridge. All frames go over simulated radios."""

    far, far_link, name, metric = "ap", "br0", "wlan0", 600
    near_address, gateway = "198.51.100.2", "198.51.100.1"
    near6, gateway6 = "2001:db8:20::2", "2001:db8:20::1"
    ssid, password = "lab-wifi", "lab-passphrase"
    #: Channels 1 and 6.
    channels = ((1, 2412), (6, 2437))

    def __init__(self, ledger, access_points=1):
        super().__init__(ledger)
        subprocess.run(["modprobe", "mac80211_hwsim", f"radios={access_points + 1}"], check=True)
        run("ip", "-n", self.far, "link", "add", "br0", "type", "bridge")
        self.points = []
        for number in range(access_points):
            link = f"wlan{number + 1}"
            radio = wait_for(lambda link=link: read(f"/sys/class/net/{link}/phy80211/name"), f"{link} appears")
            run("iw", "phy", radio, "set", "netns", "name", self.far)
            self.points.append(AccessPoint(self, link, self.channels[number][0]))
            self.points[-1].start()
        self._far_addresses("br0")
        self.web = Web(self.namespace, self.ledger, self.far)

    def connect(self):
        self.join()

    def join(self, password=None, wait=True):
        """Starts wpa_supplicant, and waits until it is connected."""
        frequencies = " ".join(str(frequency) for _, frequency in self.channels[: len(self.points)])
        Path("/run/wpa_supplicant.conf").write_text(
            f'ctrl_interface=/run/wpa_supplicant\nnetwork={{\n ssid="{self.ssid}"\n scan_freq={frequencies}\n'
            f' psk="{password or self.password}"\n}}\n')
        run("wpa_supplicant", "-B", "-i", self.name, "-c", "/run/wpa_supplicant.conf", "-f", "/run/wpa_supplicant.log",
            stdout=subprocess.DEVNULL)
        if wait:
            self.await_carrier()

    def ask(self, *words):
        """Tells wpa_supplicant something, and returns its answer."""
        return output_of("wpa_cli", "-i", self.name, *words).strip()

    def find(self, address):
        """Scans until the station knows the access point with this address."""
        def is_found():
            self.ask("scan")
            time.sleep(3)
            return address in self.ask("scan_results")
        wait_for(is_found, f"the station sees {address}", 60)

    def state(self):
        """What wpa_supplicant reports, as a dictionary."""
        return dict(line.split("=", 1) for line in self.ask("status").splitlines() if "=" in line)

    def serve_leases(self, addresses):
        """A DHCP server for these addresses."""
        with inside(self.namespace):
            subprocess.Popen(
                ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--interface=br0", "--bind-interfaces",
                 f"--dhcp-range={addresses},1h", f"--dhcp-option=option:router,{self.gateway}", "--dhcp-leasefile=/run/leases",
                 "--user=root", "--no-ping"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def radio(self):
        """The file that switches the radio off (rfkill)."""
        return next(Path(f"/sys/class/net/{self.name}/phy80211").resolve().glob("rfkill*")) / "soft"


class AccessPoint:
    def __init__(self, wifi, link, channel):
        self.wifi, self.link, self.channel, self.process = wifi, link, channel, None
        self.address = ""

    def start(self, password=None):
        settings = Path(f"/run/hostapd-{self.link}.conf")
        settings.write_text(
            f"interface={self.link}\ndriver=nl80211\nbridge=br0\nssid={self.wifi.ssid}\nhw_mode=g\nchannel={self.channel}\n"
            f"wpa=2\nwpa_key_mgmt=WPA-PSK\nrsn_pairwise=CCMP\nwpa_passphrase={password or self.wifi.password}\n")
        log = f"/run/hostapd-{self.link}.log"
        Path(log).write_text("")
        with inside(self.wifi.namespace):
            self.process = subprocess.Popen(["hostapd", str(settings)], stdin=subprocess.DEVNULL, stdout=open(log, "w"),
                                            stderr=subprocess.STDOUT)
        wait_for(lambda: "AP-ENABLED" in Path(log).read_text(), f"the access point {self.link} is up: {read(log)}")
        link = json.loads(output_of("ip", "-n", self.wifi.far, "-json", "link", "show", self.link))[0]
        self.address = link["address"]

    def stop(self):
        """It says goodbye to its stations."""
        self.process.terminate()
        self.process.wait()

    def fall_silent(self):
        """As if its power were cut."""
        self.process.kill()
        self.process.wait()
        run("ip", "-n", self.wifi.far, "link", "set", self.link, "down")


# ---------------------------------------------------------------- the ground


class Ground:
    """What a situation gets: networks, the programs, and the checks, whose rows are printed as they come."""

    def __init__(self, programs, directory, is_fast):
        self.programs, self.directory = Path(programs), Path(directory)
        #: Whether the clock jumps to the next timer, so that waiting costs nothing.
        self.is_fast = is_fast
        self.ledger = Ledger()
        self.rows = []
        self.reach = None
        self._stack = contextlib.ExitStack()
        self._began = 0
        be_quiet()

    def memory_mib(self):
        """What the daemon has in memory."""
        return memory_mib(self.reach.process.pid)

    def close(self):
        self._stack.close()

    # -------- networks

    def cable(self):
        return Cable(self.ledger)

    def wifi(self, access_points=1):
        return Wifi(self.ledger, access_points)

    def modem(self, kind=Modem):
        return kind(self.ledger)

    # -------- programs

    def start(self, configuration=""):
        """Starts `reachd` and a `reach watch` of it."""
        options = SimpleNamespace(reach=str(self.programs / "reach"))
        self.reach = self._stack.enter_context(Reach(options, self.directory, configuration))
        self._began = now()
        return self.reach

    def begin(self, *networks, families="46", configuration="", within=None):
        """The machine is in these networks, and the daemon says that it is reachable by the first of them. Returns that event."""
        for network in reversed(networks):
            network.connect()
        for network in networks:
            network.configure(families)
        self.start(configuration)
        proved = {"connectivity": "full"} if configuration else {}
        return self.expect("before", within or (10 if configuration else 1), status="reachable", interface=networks[0].name, **proved)

    def events(self, kind=None, since=0):
        """The lines of the stream so far."""
        return [event for event in self.reach.events.since(since) if kind is None or event["type"] == kind]

    def status(self, *arguments):
        """The last status in the stream."""
        return self.events_with_status()[-1]["status"]

    def events_with_status(self, since=0):
        return [event for event in self.events(since=since) if event["type"] in ("snapshot", "change")]

    def one_shot(self, *target, vrf=None):
        """What `reach status` says without the daemon, in a VRF or in none."""
        within = ["ip", "vrf", "exec", vrf] if vrf else []
        result = subprocess.run([*within, str(self.programs / "reach"), "status", "--no-daemon", "--json", *target],
                                capture_output=True, text=True, timeout=60)
        return json.loads(result.stdout.splitlines()[0])

    def metric(self, name):
        """A number that the daemon counts; its configuration has `METRICS`."""
        return self.reach.metric(name)

    def add(self, path, *arguments):
        """Queues a request to the host of the Internet, and returns its number."""
        return int(self.reach.call("queue", "add", *arguments, f"http://{SERVER}{path}").split()[0])

    def ping(self, address, count):
        """Sends, so that the kernel notices who does not answer."""
        subprocess.run(["ping", "-q", "-c", str(count), "-i", "1", "-W", "1", address], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    # -------- checks

    @property
    def elapsed(self):
        """Seconds since the last change to the network."""
        return now() - self._began

    def change(self, text, action=lambda: None):
        """Does something to the network; times of checks count from here."""
        self._began = now()
        action()
        self._say("     ", 0, text)
        return self._began

    def note(self, text):
        self._say("     ", self.elapsed, text)

    def check(self, is_right, text, seconds=None, bound=None):
        bound = self._scaled(bound)
        is_right = bool(is_right) and (bound is None or (seconds is not None and seconds <= bound))
        self.rows.append({"what": text, "seconds": seconds, "met": is_right})
        limit = "" if bound is None else f"   (at most {bound:g} s)"
        self._say("  ok " if is_right else "  NOT", seconds, text + limit)
        return is_right

    def _scaled(self, bound):
        """Where computing takes time, and more so on an emulated processor."""
        return bound if bound is None or self.is_fast else 4 * bound

    def expect(self, text, within, since=None, **wanted):
        """Checks that the stream reports this status in time; returns the event, or None.

        Keys are those of a status; `previous=` and others compare with the event. The state counts if it holds now.
        """
        since = self._began if since is None else since

        def holds(event):
            return event["type"] in ("snapshot", "change") and all(
                event["status"].get(key) == value for key, value in wanted.items())
        states = self.events_with_status()
        before = [event for event in states if event["at"] < since]
        found = None
        if before and holds(before[-1]) and len(before) == len(states):
            found, seconds = before[-1], 0
        else:
            found = self.reach.events.wait(holds, since, self._scaled(within))
            seconds = found["at"] - since if found else None
        words = ", ".join(f"{value}" for value in wanted.values())
        self.check(found, f"{text}: {words}", seconds, within)
        if not found:
            self._say("       ", None, f"the last state is {words_of(self.status())}")
        return found

    def expect_no_longer(self, text, within, **known):
        """Checks that the stream reports in time another status than this, since the last change."""
        def differs(event):
            return event["type"] == "change" and any(event["status"].get(key) != value for key, value in known.items())
        found = self.reach.events.wait(differs, self._began, self._scaled(within))
        words = ", ".join(known.values())
        self.check(found, f"{text}: no longer {words}", found["at"] - self._began if found else None, within)

    def expect_quiet(self, text, seconds):
        """Checks that nothing is reported for so long, after a second for what is under way."""
        time.sleep(1)
        since = now()
        time.sleep(seconds)
        seen = [event for event in self.events(since=since) if event["type"] not in ("probe", "queue")]
        return self.check(not seen, f"{text}: {len(seen)} events in {seconds:g} s" + "".join(f"; {line_of(e)}" for e in seen[:4]))

    def outages(self, since=0):
        """The changes from reachable to another status."""
        return [event for event in self.events("change", since)
                if event["previous"] and event["previous"]["status"] == "reachable" and event["status"]["status"] != "reachable"]

    def expect_outages(self, since, count, within=3):
        """Checks how many there were, after a while for what else may come. Returns their lengths."""
        time.sleep(within)
        lost = self.outages(since)
        lengths = []
        for outage in lost:
            back = next((event for event in self.events("change", outage["at"]) if event["status"]["status"] == "reachable"), None)
            lengths.append((back["at"] if back else now()) - outage["at"])
        text = ", of " + ", ".join(f"{length:.2f}" for length in lengths) + " s" if lengths else ""
        self.check(len(lost) == count, f"{len(lost)} outages{text}; {count} is right")
        return lengths

    def expect_root_cause(self, cause, interface, text):
        """Checks the stream's last root cause, and what `reach status` says without the daemon."""
        status = self.status()
        self.check((status["root_cause"], status["root_interface"]) == (cause, interface), f"{text}: {words_of(status)}")
        status = self.one_shot()
        self.check((status["root_cause"], status["root_interface"]) == (cause, interface), f"{text}, one-shot: {words_of(status)}")

    def check_stream(self):
        """What holds of every stream: no gap, no line without a difference, no state that is not the successor of the last."""
        events = self.events()
        numbers = [event["seq"] for event in events]
        self.check(numbers == list(range(1, len(numbers) + 1)), f"{len(numbers)} lines without a gap in seq")
        last, faults = None, []
        for event in events:
            if event["type"] == "snapshot":
                last = event["status"]
            elif event["type"] == "change":
                keys = ("status", "class", "interface", "reason", "root_cause", "root_interface")
                if any(event["previous"].get(key) != last.get(key) for key in keys):
                    faults.append(f"line {event['seq']}: previous is not the last state")
                if same(event["status"], last):
                    faults.append(f"line {event['seq']}: no difference")
                last = event["status"]
        self.check(not faults, "each change differs from the state before it" + "".join(f"; {fault}" for fault in faults[:3]))

    def check_delivery(self, prefix, ids, networks=None):
        """Checks that each request arrived once, and by the right network.

        `ids` maps paths to the numbers of the requests, `networks` paths to the networks that are right.
        """
        counts = collections.Counter(row.path for row in self.ledger.rows(prefix))
        lost = [path for path in ids if not counts[path]]
        twice = [path for path in counts if counts[path] > 1]
        self.check(not lost, f"{len(ids) - len(lost)} of {len(ids)} requests arrived" + (f"; not {lost[:5]}" if lost else ""))
        self.check(not twice, f"{len(twice)} arrived twice" + "".join(f"; {path}" for path in twice[:5]))
        if networks:
            wrong = [row for row in self.ledger.rows(prefix) if row.network not in networks[row.path]]
            self.check(not wrong, f"{len(wrong)} by a wrong link" + "".join(
                f"; {row.path} by {row.network} instead of {networks[row.path]}" for row in wrong[:5]))

    def await_done(self, ids, within):
        """Waits until all these requests are finished; returns those that are not."""
        def open_ones():
            done = {event["id"] for event in self.events("queue") if event["event"] in ("done", "dead", "cancelled")}
            return [identity for identity in ids if identity not in done]
        deadline = now() + within
        while open_ones() and now() < deadline:
            time.sleep(0.2)
        return open_ones()

    def stream(self):
        """The stream in short lines, for people: the status, and in the end also the queue."""
        if not self.reach:
            return []
        events = self.reach.events.since(0)
        return [line_of(event) for number, event in enumerate(events) if event["type"] != "queue" or number >= len(events) - 12]

    def _say(self, head, seconds, text):
        print(f"{head} {'' if seconds is None else f'{seconds:7.2f} s':>9}  {text}", flush=True)


def same(one, other):
    """Whether two statuses differ in nothing but the time."""
    volatile = ("time", "boottime_ns", "since", "connectivity_since", "epoch", "flaps", "held", "stale", "source")
    return all(one.get(key) == other.get(key) for key in {*one, *other} - set(volatile))


def words_of(status):
    parts = [status["status"], status.get("class"), status.get("interface"), status.get("reason"), status.get("root_cause"),
             status.get("root_interface"), status.get("connectivity"), status.get("network")]
    return " ".join(str(part) for part in parts if part)


def line_of(event):
    """A line of the stream in short."""
    head = f"{event['at']:9.3f} {event['type']}"
    if "status" in event and isinstance(event["status"], dict):
        return f"{head} {event.get('cause', '')} {','.join(event.get('changed', []))}: {words_of(event['status'])}"
    keys = ("event", "id", "attempt", "reason", "interface", "blockers", "slept_ms", "count", "destination")
    return f"{head} " + " ".join(f"{key}={event[key]}" for key in keys if event.get(key) is not None)
