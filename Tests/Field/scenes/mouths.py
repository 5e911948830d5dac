"""One truth in every mouth: what status, explain, explain --probe, links, top, history, the log and a hook say of the same second."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
import time
from pathlib import Path

from answers import serve
from namespaces import inside, new_namespace, run_in, wire
from programs import Failure, run
from stage import Reach

WEB, OFFICE = "198.51.100.80", "198.51.100.90"
HOLD = 8

CONFIGURATION = """
[[interface]]
match = "up0"
class = "wired"
[[interface]]
match = "mod0"
class = "wwan"
[connectivity]
endpoints = ["http://198.51.100.80/204"]
interval = "10s"
timeout = "1s"
detect_silence = false
[hooks]
directory = "{hooks}"
[targets]
office = "198.51.100.90"
[[probe]]
name = "web"
target = "tcp://198.51.100.80:80"
interval = "2s"
timeout = "1s"
"""

HOOK = """#!/bin/sh
[ "$REACH_TARGET" = internet ] || exit 0
echo "$REACH_STATUS|$REACH_CONNECTIVITY|$REACH_ROOT_CAUSE|$REACH_ROOT_INTERFACE|$REACH_REASON" >> {mails}
"""

# The layer of each root cause and reason.
LAYERS = {
    "link": "no-interface no-links interface-gone link-down radio-blocked radio-switched-off no-carrier not-associated "
            "authenticating authentication-failed not-authorised modem-not-connected no-ports port-not-forwarding not-attached dormant",
    "address": "no-address self-assigned-address address-tentative address-duplicate ipv6-disabled small-mtu",
    "route": "no-default-route blackhole unreachable prohibited throw-route rule no-route",
    "gateway": "gateway-unreachable neighbour-unreachable",
}
LAYER = {word: layer for layer, words in LAYERS.items() for word in words.split()}


def said(status, connectivity, cause="", interface="", reason=""):
    """What a mouth says, in one word for all: the broken layer, and the link that it blames."""
    if status == "reachable":
        word = {"full": "works", "portal": "portal", "limited": "internet", "none": "internet"}.get(connectivity, "unproved")
        return word
    if status != "not-reachable":
        return "unknown"
    return " ".join(filter(None, [LAYER.get(cause) or LAYER.get(reason, "?"), interface]))


def page(page):
    """204, or a portal's login where `portal` of the server says so."""
    page.send(302, Location="http://192.0.2.1/login") if page.server.portal else page.send(204)


class Network:
    """A machine with a cable (up0) to a router and a modem (mod0) to a provider; both have an Internet behind them."""

    def __init__(self):
        self.router, self.provider, self.machine = new_namespace(), new_namespace(), new_namespace()
        self.servers = []
        for place in (self.router, self.provider):
            for address in (WEB, OFFICE):
                run_in(place, "ip", "address", "add", f"{address}/32", "dev", "lo")
            with inside(place):
                self.servers.append(serve(WEB, 80, page))
            self.servers[-1].portal = False
        run_in(self.machine, "sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")

    def on(self, place, *commands):
        for command in commands:
            run_in(place, *command.split())

    def me(self, *commands):
        self.on(self.machine, *commands)

    def rules(self, place, text):
        with inside(place):
            run("nft", "-f", "-", input=f"flush ruleset\n{text}\n", text=True)

    def reset(self, cable=True, modem=False, ipv6=False):
        """Everything as it was in the beginning: links are made again."""
        for place in (self.router, self.provider, self.machine):
            self.rules(place, "")
        for server in self.servers:
            server.portal = False
        for link in ("up0", "mod0"):
            with inside(self.machine):
                subprocess.run(["ip", "link", "del", link], stderr=subprocess.DEVNULL, check=False)
                for kind in ("blackhole", "unreachable", "prohibit"):
                    subprocess.run(["ip", "route", "del", kind, "default"], stderr=subprocess.DEVNULL, check=False)
                subprocess.run(["ip", "rule", "del", "priority", "100"], stderr=subprocess.DEVNULL, check=False)
        if cable:
            wire(self.machine, "up0", ["192.0.2.2/24"] + (["2001:db8:1::2/64"] if ipv6 else []), self.router, "lan0",
                 ["192.0.2.1/24"] + (["2001:db8:1::1/64"] if ipv6 else []))
            self.me("ip route add default via 192.0.2.1 metric 100")
            if ipv6:
                self.me("ip route add default via 2001:db8:1::1 metric 100")
        if modem:
            wire(self.machine, "mod0", ["198.18.7.2/24"], self.provider, "cell0", ["198.18.7.1/24"])
            self.me("ip route add default via 198.18.7.1 metric 700")

    def dark(self, place=None):
        self.rules(place or self.router, "table ip f { chain i { type filter hook prerouting priority 0; "
                                         "ip daddr 198.51.100.0/24 drop; }; }")


# Each situation: its name, how the network begins, what happens, and what all mouths must say.
SITUATIONS = [
    ("all is well", {}, lambda n: None, "works"),
    ("a login page", {}, lambda n: [setattr(s, "portal", True) for s in n.servers], "portal"),
    ("the provider is dead", {}, lambda n: n.dark(), "internet"),
    ("the cable is out", {}, lambda n: n.on(n.router, "ip link set lan0 down"), "link up0"),
    ("the link was taken down", {}, lambda n: n.me("ip link set up0 down"), "link up0"),
    ("the link is gone", {}, lambda n: n.me("ip link del up0"), "link up0"),
    ("the router is off", {}, lambda n: (n.on(n.router, "ip link set lan0 arp off"), n.me("ip neigh flush dev up0")), "gateway up0"),
    ("the address is gone", {}, lambda n: n.me("ip address flush dev up0"), "address up0"),
    ("the route is gone", {}, lambda n: n.me("ip route del default"), "route up0"),
    ("a route discards everything", {}, lambda n: n.me("ip route replace blackhole default metric 1"), "route"),
    ("a route forbids everything", {}, lambda n: n.me("ip route replace prohibit default metric 1"), "route"),
    ("a rule forbids everything", {}, lambda n: n.me("ip rule add priority 100 prohibit"), "route"),
    ("cable taken down, the modem carries", {"modem": True}, lambda n: n.me("ip link set up0 down"), "works"),
    ("cable dark, the modem would work", {"modem": True}, lambda n: n.dark(), "internet"),
    ("both out", {"modem": True},
     lambda n: (n.on(n.provider, "ip link set cell0 down"), n.on(n.router, "ip link set lan0 down")), "link up0"),
    ("cable down, the modem without a route", {"modem": True},
     lambda n: n.me("ip route del default via 198.18.7.1", "ip link set up0 down"), "link up0"),
    ("modem alone, by the configuration, and out", {"cable": False, "modem": True},
     lambda n: n.on(n.provider, "ip link set cell0 down"), "link mod0"),
    ("modem alone, its provider is dead", {"cable": False, "modem": True}, lambda n: n.dark(n.provider), "internet"),
    ("IPv6 that nothing proved, IPv4 is dark", {"ipv6": True}, lambda n: n.dark(), "internet"),
    # What carried what was proved is gone, which packets alone find out: status speaks of the Internet as a whole.
    ("IPv6 that nothing proved, IPv4's route is gone", {"ipv6": True, "probe": "route up0"},
     lambda n: n.me("ip route del default via 192.0.2.1"), "internet"),
    ("a loss that is held back", {"hold": True}, lambda n: n.on(n.router, "ip link set lan0 down"), "link up0"),
]


class Mouths:
    """What each mouth says now."""

    def __init__(self, reach, mails, options):
        self.reach, self.mails, self.options = reach, mails, options

    def one(self, *arguments):
        return json.loads(self.reach.call(*arguments, check=False).splitlines()[0])

    def status(self):
        return self.one("status", "--json")

    @staticmethod
    def of(report):
        held = report.get("held_root_cause")
        if held:
            return said("not-reachable", "", held, report.get("held_root_interface"))
        return said(report["status"], report.get("connectivity"), report.get("root_cause"), report.get("root_interface"),
                    report.get("reason"))

    def links(self, interface):
        lines = [json.loads(line) for line in self.reach.call("links", "--json", "--all", check=False).splitlines()]
        link = next((line for line in lines if line["interface"] == interface), None)
        if link is None:
            return "gone"
        return link["trouble"] or link.get("connectivity") or "up"

    def probe(self):
        # As `reach explain --probe` starts it, with another configuration than the machine's.
        result = subprocess.run(
            [self.reach.arguments[0], "--diagnose", "internet", "--config", str(self.reach.configuration)], capture_output=True,
            text=True, timeout=60, env={**os.environ, "REACH_SOCKET": str(self.reach.socket)})
        report = json.loads(result.stdout.splitlines()[0])
        if report["outcome"] in ("ok", "degraded"):
            return "works", report.get("text") or ""
        return report.get("layer") or report["outcome"], report.get("text") or ""

    def history(self, target="internet"):
        text = subprocess.run([self.options.reach, "history", "--json", "--state", str(self.reach.state)],
                              capture_output=True, text=True, check=True).stdout
        lines = [json.loads(line) for line in text.splitlines()]
        states = [line for line in lines if line.get("target") == target and "status" in line]
        return self.of(states[-1]) if states else "-"

    def mail(self):
        text = self.mails.read_text().splitlines() if self.mails.exists() else []
        return said(*text[-1].split("|")) if text else "-"

    def log(self):
        lines = re.findall(r"the Internet is (lost|back).*", self.reach.said())
        layers = re.findall(r"layer=(\S+)", self.reach.said())
        return "works" if not lines or lines[-1] == "back" else layers[-1]

    def top(self):
        """The first line of `reach top`, which needs a terminal."""
        process, end = pty.fork()
        if process == 0:
            os.environ.update({"TERM": "xterm", "COLUMNS": "200", "LINES": "40"})
            os.execv(self.options.reach, ["reach", "top", "--socket", str(self.reach.socket)])
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        shown, deadline = b"", time.monotonic() + 2
        with contextlib.suppress(OSError):
            while time.monotonic() < deadline:
                if select.select([end], [], [], 0.1)[0]:
                    shown += os.read(end, 65536)
            os.write(end, b"q")
        os.close(end)
        os.waitpid(process, 0)
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", shown.decode(errors="replace"))
        lines = [line.strip() for line in text.splitlines() if "nternet" in line or "login page" in line]
        return lines[-1] if lines else ""

    def sentence(self):
        return self.reach.call("status", check=False).splitlines()[0]

    def explained(self):
        return self.reach.call("explain", check=False).splitlines()[0]


def settled(mouths, expected, within):
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if mouths.of(mouths.status()) == expected:
            return
        time.sleep(0.2)


def play_one(report, network, options, directory, number, situation):
    name, beginning, happens, expected = situation
    place = Path(directory) / f"mouths-{number}"
    hooks, mails = place / "hooks", place / "mails"
    hooks.mkdir(parents=True)
    hook = hooks / "mail"
    hook.write_text(HOOK.format(mails=mails))
    hook.chmod(0o755)
    text = CONFIGURATION.format(hooks=hooks)
    # Of the same second: nothing is waited for, unless the situation is about that.
    text += f'[hold]\ndown = "{HOLD}s"\n' if beginning.get("hold") else '[hold]\nflaps = "0s"\n'
    network.reset(**{key: value for key, value in beginning.items() if key not in ("hold", "probe")})
    with Reach(options, place, text) as reach:
        mouths = Mouths(reach, mails, options)
        settled(mouths, "works", 12)
        happens(network)
        settled(mouths, expected, 30)
        # A failed gateway or a route may need a moment until the last mouth has heard of it.
        time.sleep(0.5)
        layer, interface = (expected.split(" ") + [""])[:2]
        status, explain = mouths.of(mouths.status()), mouths.of(mouths.one("explain", "--json"))
        sentence, explained, top = mouths.sentence(), mouths.explained(), mouths.top()
        link = mouths.links(interface or mouths.status().get("interface") or "up0")
        history, mail, log = mouths.history(), mouths.mail(), mouths.log()
        probe, blame = mouths.probe()
        probed, probed_link = (beginning.get("probe", expected).split(" ") + [""])[:2]
        isHeld = bool(beginning.get("hold"))
        report.say(f"{number:2} {name}: {sentence}")
        report.say(f"   explain --probe: {probe} {blame}")
        row = {"situation": name, "expected": expected, "status": status, "explain": explain, "explain --probe": probe,
               "link": link, "history": history, "hook": mail, "log": log, "sentence": sentence}
        last = "works" if isHeld else None
        checks = [
            ("status", status == expected, status), ("explain", explain == expected, explain),
            ("explain, in words", same(sentence, explained) or isHeld, explained), ("top", same(sentence, top), top),
            ("explain --probe", probe == probed and probed_link in blame, f"{probe} {blame}"),
            ("links", fits(link, layer), link), ("history", history == (last or expected), history),
            ("hook", mail in ((last,) if last else (expected, "-" if expected == "works" else expected)), mail),
            ("log", log == (last or layer), log),
        ]
        # A named target beyond the gateway is not available while its path is proved dead, whatever the kernel says.
        named, past = mouths.one("status", "--json", "office"), mouths.history("office")
        checks.append(("a target's name", named.get("name") == "office" and "office is" in mouths.reach.call(
            "status", "office", check=False), named.get("name")))
        if expected in ("internet", "portal") and not beginning.get("probe"):
            checks.append(("its history", past == expected, past))
        for mouth, is_right, text in checks:
            report.check(is_right, None, mouth, f"{name}: {text}")
        return row


def same(one, other):
    """Whether two sentences of a second are the same, apart from what the kernel heard of the gateway."""
    plain = [re.sub(r" and its gateway answers|, held.*| \(a hold-down.*", "", text).split(",")[0].strip() for text in (one, other)]
    return plain[0] == plain[1]


def fits(link, layer):
    if layer == "link":
        return link in ("no-carrier", "link-down", "dormant", "gone")
    known = {"works": ("full",), "portal": ("portal",), "internet": ("limited",), "gateway": ("up", "none", "limited")}
    return link in known.get(layer, ("up", "unknown", "limited", "none", "full"))


def table(rows):
    """The rows for the documentation."""
    columns = ["situation", "status", "explain", "explain --probe", "link", "history", "hook", "log"]
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return lines + ["| " + " | ".join(str(row[column]) for column in columns) + " |" for row in rows]


def mouths(report, options, directory):
    if not shutil.which("nft"):
        raise Failure("nft is not installed")
    network = Network()
    chosen = options.situations.split(",") if options.situations else None
    rows = [play_one(report, network, options, directory, number, situation)
            for number, situation in enumerate(SITUATIONS, 1) if chosen is None or str(number) in chosen]
    print("\n" + "\n".join(table(rows)), flush=True)


SCENES = {"mouths": ("what every mouth says in twenty situations", mouths)}


def play(names, report, options, directory):
    for name in names:
        report.begin(name, SCENES[name][0])
        SCENES[name][1](report, options, directory)
