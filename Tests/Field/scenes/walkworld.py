"""The world of the random walk: a machine with two cables, a router behind each, one far host behind both; and what may happen."""

import contextlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

import walkservices
from namespaces import coming_back, inside, new_namespace, own_sysfs

FAR, FAR6 = walkservices.FAR, "2001:db8:ffff::10"
LINKS = ("e0", "e1")
FARS, REFUSALS = (f"{FAR}/32", "203.0.113.0/24", "default"), ("prohibit", "unreachable", "blackhole", "throw")


def own(link, last):
    return f"192.0.2.{128 * LINKS.index(link) + last}"


def own6(link, last):
    return f"2001:db8:{LINKS.index(link)}::{last}"


class World:
    """New namespaces, which go with this process. The current thread stays in that of the machine."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(coming_back())
        self.routers, self.asked, self.services = {}, [], {}
        for link in LINKS:
            self.routers[link] = self.new_namespace()
            for address in (f"{FAR}/32", f"{walkservices.NAMES}/32", f"{FAR6}/128"):
                self.try_("ip", "address", "add", address, "dev", "lo")
            self.services[link] = walkservices.Services(link, self.asked)
        self.machine = self.new_namespace()
        self.stack.enter_context(own_sysfs())
        for link in LINKS:
            self.plug(link)
        self.do(["ip", "route", "add", "default", "via", own("e0", 1), "dev", "e0", "metric", "100"])

    @staticmethod
    def new_namespace():
        made = new_namespace()
        for key, value in (("rp_filter", "0"), ("arp_ignore", "1")):
            Path(f"/proc/sys/net/ipv4/conf/all/{key}").write_text(value)
        return made

    @staticmethod
    def try_(*command):
        """What is already so is no failure."""
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

    def do(self, command):
        """Runs a command here, or at the router of a link if it begins with `@LINK`."""
        if command[0].startswith("@"):
            with inside(self.routers[command[0][1:]]):
                return self.try_(*command[1:])
        if command[0] == "mend":
            return self.mend(command[1])
        if command[0] == "plug":
            return self.plug(command[1])
        if command[0] in ("web", "names"):
            setattr(self.services[command[1]], command[0], command[2])
            return True
        return self.try_(*command)

    def plug(self, link):
        """Makes a link with its far end, as it is at first; nothing if there is one."""
        far = f"/proc/{os.getpid()}/fd/{self.routers[link]}"
        if not self.try_("ip", "link", "add", link, "type", "veth", "peer", "name", "g" + link, "netns", far):
            return False
        with inside(self.routers[link]):
            for address in (own(link, 1) + "/25", own6(link, 1) + "/64", "fe80::1/64"):
                self.try_("ip", "address", "add", address, "dev", "g" + link)
            self.try_("ip", "link", "set", "g" + link, "up")
        for address in (own(link, 2) + "/25", own6(link, 2) + "/64"):
            self.try_("ip", "address", "add", address, "dev", link)
        return self.try_("ip", "link", "set", link, "up")

    def mend(self, link):
        """Makes a link as it is at first, with a default route, and removes what refuses. Otherwise most of a walk finds nothing that
        works."""
        for six in ([], ["-6"]):
            for preference in ("80", "90"):
                self.try_("ip", *six, "rule", "del", "pref", preference)
        self.try_("ip", "rule", "add", "pref", "32766", "lookup", "main")
        for kind in REFUSALS:
            for far in FARS:
                self.try_("ip", "route", "del", kind, far)
        self.plug(link)
        with inside(self.routers[link]):
            self.try_("ip", "link", "set", "g" + link, "up", "arp", "on")
        self.try_("ip", "link", "set", link, "up")
        self.try_("ip", "address", "del", "169.254.7.7/16", "dev", link)
        self.try_("ip", "address", "add", own(link, 2) + "/25", "dev", link)
        self.try_("ip", "address", "add", own6(link, 2) + "/64", "dev", link)
        metric = str(100 + 50 * LINKS.index(link))
        return self.try_("ip", "route", "add", "default", "via", own(link, 1), "dev", link, "metric", metric)

    def services_work(self):
        return all(service.web == "works" for service in self.services.values())

    def picture(self):
        """Links, addresses, routes and rules, as ip(8) prints them."""
        show = ("ip -br link; ip -br address; ip -4 route show table all; ip -6 route show table all; ip rule; ip -6 rule")
        parts = [subprocess.run(["sh", "-c", show], capture_output=True, check=False).stdout]
        for router in self.routers.values():
            with inside(router):
                parts.append(subprocess.run(["ip", "-br", "link"], capture_output=True, check=False).stdout)
        return parts + [(service.web, service.names) for service in self.services.values()]

    def close(self):
        for service in self.services.values():
            service.close()
        self.stack.close()
        for descriptor in (self.machine, *self.routers.values()):
            os.close(descriptor)


# ---------------------------------------------------------------- what may happen


def operations(random):
    """One thing that happens, as words: some are a pair, so that what breaks is mended as often."""
    link, number = random.choice(LINKS), random.choice((50, 100, 200))
    far, kind = random.choice(FARS), random.choice(REFUSALS)
    refuses = random.choice(("prohibit", "unreachable", "blackhole"))
    users = random.choice(([], [], ["uidrange", "0-99"], ["uidrange", "1000-1999"]))
    six = ["-6"] if random.random() < 0.25 else []
    gateway = own6(link, 1) if six else own(link, 1)
    to = [] if random.random() < 0.5 else ["to", FAR6 if six else FAR]
    route = lambda action: ["ip", *six, "route", action, "default", "via", gateway, "dev", link, "metric", str(number)]
    part = lambda action: ["ip", "route", action, "203.0.113.0/24", "via", own(link, 1), "dev", link, "metric", str(number)]
    table = lambda action: ["ip", "route", action, "default", "via", own(link, 1), "dev", link, "table", "77"]
    rule = lambda action: ["ip", *six, "rule", action, "pref", "90", *users, *to, refuses]
    choices = [
        (6, [["mend", link]]),
        (3, [[f"@{link}", "ip", "link", "set", "g" + link, "down"]]), (3, [[f"@{link}", "ip", "link", "set", "g" + link, "up"]]),
        (2, [["ip", "link", "set", link, "down"]]), (2, [["ip", "link", "set", link, "up"]]),
        (1, [["ip", "link", "del", link]]), (2, [["plug", link]]),
        (1, [["ip", "address", "del", own(link, 2) + "/25", "dev", link]]),
        (2, [["ip", "address", "add", own(link, 2) + "/25", "dev", link]]),
        (1, [["ip", "address", "flush", "dev", link], ["ip", "address", "add", "169.254.7.7/16", "dev", link],
             ["ip", "route", "add", "default", "dev", link, "scope", "link", "metric", "1002"]]),
        (1, [["ip", "address", "del", "169.254.7.7/16", "dev", link], ["ip", "address", "add", own(link, 2) + "/25", "dev", link]]),
        (4, [route("add")]), (2, [route("del")]),
        (1, [part("add")]), (1, [part("del")]),
        (1, [["ip", "route", "add", kind, far]]), (2, [["ip", "route", "del", kind, far]]),
        (2, [rule("add")]), (3, [["ip", *six, "rule", "del", "pref", "90"]]),
        (1, [["ip", "rule", "add", "pref", "95", "lookup", "77"], table("add")]), (1, [table("del")]),
        (1, [["ip", "rule", "add", "pref", "80", "lookup", "main", "suppress_prefixlength", "0"],
             ["ip", "rule", "del", "pref", "32766"]]),
        (2, [["ip", "rule", "del", "pref", "80"], ["ip", "rule", "add", "pref", "32766", "lookup", "main"]]),
        (1, [[f"@{link}", "ip", "link", "set", "g" + link, "arp", "off"], ["ip", "neigh", "flush", "dev", link]]),
        (2, [[f"@{link}", "ip", "link", "set", "g" + link, "arp", "on"]]),
        (1, [["ip", "neigh", "flush", "dev", link]]), (2, [["send"]]),
        (2, [["web", link, random.choice(walkservices.WEB)]]), (2, [["web", link, "works"]]),
        (1, [["names", link, random.choice(walkservices.DNS)]]), (2, [["names", link, "works"]]),
    ]
    return random.choices([what for _, what in choices], [weight for weight, _ in choices])[0]


def text(commands):
    return "; ".join(" ".join(words) for words in commands)


# ---------------------------------------------------------------- what is true


def unsettled():
    """Whether the kernel is asking a neighbour now: what follows from it is not known yet."""
    for family in ("-4", "-6"):
        done = subprocess.run(["ip", "-j", family, "neighbour", "show"], capture_output=True, text=True, check=False)
        for entry in json.loads(done.stdout or "[]"):
            if {"INCOMPLETE", "DELAY", "PROBE"} & set(entry.get("state", [])):
                return True
    return False


def answers(address):
    """Whether a packet to an address is answered."""
    return subprocess.run(["ping", "-n", "-q", "-c", "1", "-W", "1", address], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def link_facts():
    """What holds of each link now: `up`, `carrier`, and the families in which it has a wide address."""
    done = subprocess.run(["ip", "-j", "address", "show"], capture_output=True, text=True, check=False)
    facts = {}
    for link in json.loads(done.stdout or "[]"):
        wide = {a["family"] for a in link.get("addr_info", []) if a.get("scope") == "global" and not a["local"].startswith("169.254")}
        facts[link["ifname"]] = {"up": "UP" in link["flags"], "carrier": "LOWER_UP" in link["flags"], "wide": wide}
    return facts


def addresses(link):
    """The addresses of a link."""
    done = subprocess.run(["ip", "-j", "address", "show", "dev", str(link)], capture_output=True, text=True, check=False)
    return {address["local"] for found in json.loads(done.stdout or "[]") for address in found.get("addr_info", [])}


def shows_carrier(link):
    """Whether the kernel keeps a trace of when a link got its carrier: it reports the link's groups then, if there is an address of the
    link to report from."""
    done = subprocess.run(["ip", "-6", "address", "show", "dev", link, "scope", "link"], capture_output=True, text=True, check=False)
    return "inet6" in done.stdout


def carrier_changes(link):
    try:
        return int(Path(f"/sys/class/net/{link}/carrier_changes").read_text())
    except (OSError, ValueError):
        return 0


def directory():
    return Path(tempfile.mkdtemp(prefix="reach-walk-", dir="/run"))


def own_configuration():
    """Gives this process an /etc of its own, in which /etc/reach is; returns whether it can have one."""
    for place in ("etc", "etc-work"):
        (Path("/run") / place).mkdir()
    layers = "lowerdir=/etc,upperdir=/run/etc,workdir=/run/etc-work"
    if not World.try_("mount", "-t", "overlay", "overlay", "-o", layers, "/etc"):
        return False
    Path("/etc/reach").mkdir(exist_ok=True)
    return True
