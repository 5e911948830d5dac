"""Scenes of the Internet: failures, and when `reach` and NetworkManager report them."""

import contextlib
import json
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import time
import urllib.request
from pathlib import Path

from answers import nginx
from certificates import Authority
from namespaces import bind, inside, new_namespace, own_sysfs, run_in, wire
from programs import PATH, now, started
from stage import LOGIN, NAMES, OTHER, WEB, WEB6, Chatter, NetworkManager, Reach

# For both. NetworkManager's and reach's default is 300 s: then NetworkManager sees an outage within five minutes, and reach
# when something fails.
INTERVAL = 10
TIMEOUT = 2
PROBE_INTERVAL, PROBE_TIMEOUT = 2, 1
# A probe fails, then three checks, 1 s and 2 s apart. The first check is delayed if the last one was less than five
# seconds ago.
STRIKES = 3 * TIMEOUT + 1 + 2
BOUND = PROBE_INTERVAL * 1.1 + PROBE_TIMEOUT + 5 + STRIKES + 1

# A path with traffic: a second without an answer to several transmissions, then a test of 1.5 s.
SILENCE_BOUND = 4

API = "https://192.0.2.1:8443/api"

FOUND, TESTS = "reach_silence_found_total", "reach_silence_tests_total"

CONFIGURATION = f"""
[metrics]
listen = "127.0.0.1:9101"
[[interface]]
match = "up0"
class = "wired"
[connectivity]
endpoints = ["http://check.example.net/204", "https://check.example.net/204"]
interval = "{INTERVAL}s"
timeout = "{TIMEOUT}s"
"""


def probe(name, target, more=""):
    return (f'[[probe]]\nname = "{name}"\ntarget = "{target}"\ninterval = "{PROBE_INTERVAL}s"\n'
            f'timeout = "{PROBE_TIMEOUT}s"\nfailing_interval = "{PROBE_INTERVAL}s"\n{more}')


PROBES = (probe("web", "http://www.example.net/", 'family = "ipv4"\n') + probe("shop", "https://shop.example.net/")
          + probe("names", f"dns://{NAMES}/www.example.net") + probe("ping", f"icmp://{WEB}"))


class Internet:
    """machine - up0 - router - wan0 - internet, with a web server and a name server in the last."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.internet, self.router, self.machine = new_namespace(), new_namespace(), new_namespace()
        wire(self.machine, "up0", ["192.0.2.2/24", "2001:db8::2/64"], self.router, "lan0", ["192.0.2.1/24", "2001:db8::1/64"])
        wire(self.router, "wan0", ["203.0.113.2/24", "2001:db8:f::2/64"], self.internet, "far0",
             ["203.0.113.1/24", "2001:db8:f::1/64"])
        for route in ("default via 192.0.2.1", "default via 2001:db8::1"):
            run_in(self.machine, "ip", "route", "add", *route.split())
        for route in ("198.51.100.0/24 via 203.0.113.1", "2001:db8:80::/48 via 2001:db8:f::1"):
            run_in(self.router, "ip", "route", "add", *route.split())
        for route in ("192.0.2.0/24 via 203.0.113.2", "2001:db8::/64 via 2001:db8:f::2"):
            run_in(self.internet, "ip", "route", "add", *route.split())
        for address in (f"{WEB}/32", f"{OTHER}/32", f"{NAMES}/32", f"{WEB6}/128"):
            run_in(self.internet, "ip", "address", "add", address, "dev", "lo")
        run_in(self.router, "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        run_in(self.machine, "sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647", "net.ipv6.conf.up0.accept_ra=1",
               "net.ipv6.conf.up0.autoconf=0")
        self.stack.enter_context(own_sysfs())
        self._serve()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _serve(self):
        authority = Authority(self.directory)
        check = authority.issue("check", ["check.example.net", "www.example.net"])
        self.shop = authority.issue("shop", ["shop.example.net"])
        self.expired = authority.issue("expired", ["shop.example.net"], end="20210101000000Z")
        system = Path("/etc/ssl/certs/ca-certificates.crt")
        bind(str(system), system.read_text() + authority.root.read_text(), self.directory)
        bind("/etc/resolv.conf", f"nameserver {NAMES}\n", self.directory)
        seen = self.directory / "seen"
        seen.touch()
        pages = (f"location ~ ^/(plain|clear)$ {{ access_log {seen}; return 200; }} "
                 "location = /204 { return 204; } location = /nm { return 200 'NetworkManager is online'; } "
                 "location / { return 200 'all is well'; }")
        secure = "listen 443 ssl; listen [::]:443 ssl; ssl_certificate {}; ssl_certificate_key {};"
        self.web = self._nginx(self.internet, "web", f"""
            server {{ listen 80; listen [::]:80; {secure.format(*check)} {pages} }}
            server {{ server_name shop.example.net; {secure.format(*self.shop)} {pages} }}""")
        certificate, key = authority.issue("api", ["192.0.2.1"])
        self.api_servers = f"""
            server {{ listen 8443 ssl; ssl_certificate {certificate}; ssl_certificate_key {key}; default_type application/captive+json;
                location / {{ return 200 '%s'; }} }}"""
        self.api = self._nginx(self.router, "api", self.api_servers % "{}")
        self.portal = self._nginx(self.router, "portal", f"""
            server {{ listen 8080; listen [::]:8080; location / {{ return 302 {LOGIN}; }} }}""")
        dnsmasq = shutil.which("dnsmasq", path=PATH)
        with inside(self.internet):
            self.stack.enter_context(started(
                [dnsmasq, "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--pid-file=",
                 "--user=", "--group=", f"--address=/example.net/{WEB}", f"--address=/example.net/{WEB6}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def _nginx(self, namespace, name, servers):
        (self.directory / name).mkdir()
        program = nginx(self.directory / name, servers)
        with inside(namespace):
            program.start()
        self.stack.callback(program.stop)
        return program

    def requests_seen(self):
        """How many of the scenes' queued requests have arrived by HTTP."""
        return len((self.directory / "seen").read_text().splitlines())

    # ------------------------------------------------------------ failures

    def filter(self, *rules):
        """Adds rules for the packets that the router forwards."""
        run_in(self.router, "nft", "add table inet scene; add chain inet scene f { type filter hook forward priority 0; }")
        for rule in rules:
            run_in(self.router, "nft", f"add rule inet scene f {rule}")

    def open_portal(self):
        run_in(self.router, "nft", "add table inet portal; "
               "add chain inet portal p { type nat hook prerouting priority -100; }; "
               'add rule inet portal p iifname "lan0" tcp dport 80 redirect to :8080')
        self.filter("meta l4proto tcp drop", "meta l4proto { icmp, ipv6-icmp } drop")

    def answer_api(self, answer):
        """Sets the answer of the portal's API (RFC 8908)."""
        nginx(self.directory / "api", self.api_servers % json.dumps(answer))
        self.api.signal(signal.SIGHUP)

    def announce_api(self, is_there=True):
        """The machine's default route of IPv6 is from the router's advertisement, which has the portal's API (RFC 8910); or not."""
        if is_there:
            run_in(self.machine, "ip", "-6", "route", "del", "default", "via", "2001:db8::1")
        with inside(self.router):
            advertise("lan0", API if is_there else None, 1800 if is_there else 0)
        if not is_there:
            time.sleep(0.5)
            run_in(self.machine, "ip", "-6", "route", "add", "default", "via", "2001:db8::1")

    def restore(self):
        for table in ("scene", "portal"):
            with inside(self.router):
                subprocess.run(["nft", "delete", "table", "inet", table], stderr=subprocess.DEVNULL)

    def show_certificate(self, pair):
        for source, place in zip(pair, self.shop):
            if source != place:
                backup = place.with_suffix(place.suffix + ".good")
                if not backup.exists():
                    backup.write_bytes(place.read_bytes())
                place.write_bytes(source.read_bytes())
        self.web.signal(signal.SIGHUP)

    def restore_certificate(self):
        for place in self.shop:
            place.write_bytes(place.with_suffix(place.suffix + ".good").read_bytes())
        self.web.signal(signal.SIGHUP)


def advertise(link, uri, lifetime):
    """Sends a router advertisement with the URI of a portal's API, and its lifetime as a default router in seconds."""
    option = b""
    if uri:
        length = -(-(len(uri) + 2) // 8)
        option = struct.pack("BB", 37, length) + uri.encode().ljust(length * 8 - 2, b"\0")
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sender:
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        sender.sendto(struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, lifetime, 0, 0) + option, ("ff02::1", 0, 0, socket.if_nametoindex(link)))


class Play:
    """Plays one scene after the other, on one machine."""

    def __init__(self, report, internet, reach, manager, options):
        self.report, self.internet, self.reach, self.manager, self.options = report, internet, reach, manager, options
        self.began = now()

    # ------------------------------------------------------------ output and checks

    def change(self, text, *actions):
        for action in actions:
            action()
        self.began = now()
        self.report.say(f"0.00 s  {text}")

    def expect(self, what, matches, bound, since=None):
        """Checks that `reach watch` reports this in time."""
        event = self.reach.events.wait(matches, self.began if since is None else since, bound + 20)
        seconds = event["at"] - self.began if event else None
        self.report.check(event, seconds, "reach watch", what, bound)
        return event

    def manager_says(self, *words, within=45):
        if not self.manager:
            return
        found = self.manager.wait(words, self.began, within)
        if found:
            self.report.note(found[0] - self.began, "NetworkManager", f"connectivity {found[1]}")
        else:
            word = self.manager.history[-1][1] if self.manager.history else "nothing"
            self.report.note(None, "NetworkManager", f"still {word} after {within} s, not {' or '.join(words)}")

    def show(self, *commands):
        """Prints the output of these commands."""
        for command in commands:
            lines = self.reach.call(*command, check=False).rstrip().splitlines()
            self.report.say(f"$ reach {' '.join(command)}")
            for line in lines:
                self.report.say("    " + line)

    def recover(self):
        """Restores everything for the next scene."""
        self.internet.restore()
        self.began = now()
        if self.manager:
            self.manager.check()
        until = now() + 60
        while now() < until:
            status = self.reach.status()
            probes = self.reach.probes()
            both = status and all(status[family].get("connectivity") == "full" for family in ("ipv4", "ipv6"))
            if both and all(probe["state"] == "up" for probe in probes.values()):
                break
            # Some program sends, as on any machine.
            self.visit()
            time.sleep(0.5)
        else:
            self.report.check(False, None, "reach status", f"full again: {json.dumps(self.reach.status())}")
        if self.manager:
            self.manager.check()
            self.manager.wait(["full"], now(), 30)

    def visit(self):
        """Fetches a page from a host that has nothing to do with the checks."""
        trust = ssl.create_default_context()
        trust.check_hostname = False
        trust.verify_mode = ssl.CERT_NONE
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"https://{OTHER}/", timeout=1, context=trust).read()

    # ------------------------------------------------------------ the scenes

    def captive_portal(self):
        self.change("the router answers HTTP with a login page, and lets nothing else through", self.internet.open_portal)
        event = self.expect("connectivity portal", lambda event: connectivity(event) == "portal", BOUND)
        page = event and event["status"].get("portal")
        self.report.check(page == LOGIN, None, "reach watch", f"the page is {page}")
        self.manager_says("portal")
        self.show(["status"], ["probes"])
        ids = [int(self.reach.call("queue", "add", *words).split()[0]) for words in (
            ["--when", "validated", f"http://{WEB}/validated"], ["-d", "hello", f"http://{WEB}/clear"],
            ["-d", "hello", f"https://shop.example.net/secret"])]
        time.sleep(4)
        for identity in ids:
            self.show(["queue", "explain", str(identity)])
        self.change("the user has paid", self.internet.restore)
        self.expect("connectivity full", lambda event: connectivity(event) == "full", INTERVAL * 2)
        for identity in ids:
            self.expect(f"request {identity} done", lambda event: event["type"] == "queue" and event.get("id") == identity
                        and event["event"] == "done", 30)
        self.manager_says("full")

    def portal_api(self):
        page, terms = "https://login.example/", "https://login.example/terms"
        captive = {"captive": True, "user-portal-url": page, "venue-info-url": terms}
        self.change("the router announces the API of a portal, which is closed, and lets nothing but its checks by HTTP through",
                    lambda: self.internet.answer_api(captive), lambda: self.internet.filter("meta l4proto tcp th dport 443 drop"),
                    self.internet.announce_api)
        event = self.expect("connectivity portal", lambda event: connectivity(event) == "portal", BOUND)
        status = event["status"] if event else {}
        session = status.get("portal_session") or {}
        self.report.check(status.get("portal") == page, None, "reach watch", f"the page is {status.get('portal')}")
        self.report.check(session.get("captive") is True and session.get("venue_info_url") == terms, None, "reach watch",
                          f"its API says {json.dumps(session)}")
        self.manager_says("portal", within=15)
        self.show(["status"])
        before = self.internet.requests_seen()
        ids = [int(self.reach.call("queue", "add", *words).split()[0]) for words in (
            [f"http://{WEB}/plain"], ["-d", "hello", f"http://{WEB}/clear"])]
        time.sleep(4)
        for identity in ids:
            self.show(["queue", "explain", str(identity)])
        sent = self.internet.requests_seen() - before
        self.report.check(sent == 0, None, "server", f"{sent} queued requests arrived")
        self.change("the user has paid for five minutes", self.internet.restore,
                    lambda: self.internet.answer_api({"captive": False, "user-portal-url": page, "seconds-remaining": 290,
                                                      "can-extend-session": True}))
        # The API is asked again after 5, 10 and 20 s.
        self.expect("connectivity full", lambda event: connectivity(event) == "full", 20 * 1.1 + TIMEOUT)
        self.expect("the session is about to end", lambda event: "status" in event and event["type"] == "change" and (
            event["status"].get("portal_session") or {}).get("seconds_remaining"), 20 * 1.1 + TIMEOUT)
        for identity in ids:
            self.expect(f"request {identity} done", lambda event: event["type"] == "queue" and event.get("id") == identity
                        and event["event"] == "done", 30)
        self.manager_says("full")
        self.show(["status"])
        self.internet.announce_api(False)

    def names_dead(self):
        self.change("no name server answers", lambda: self.internet.filter("meta l4proto { tcp, udp } th dport 53 drop"))
        self.expect("connectivity limited", lambda event: connectivity(event) == "limited", BOUND)
        ours = lambda event: event["type"] == "probe" and event["probe"]["probe"] == "names"
        self.expect("probe names is paused", lambda event: ours(event) and event["event"] == "paused", BOUND)
        # It is one outage, which is reported once: that of the Internet.
        down = [event for event in self.reach.events.since(self.began) if ours(event) and event["event"] == "down"]
        self.report.check(not down, None, "reach watch", f"probe names was reported down {len(down)} times")
        self.manager_says("limited", "none")
        self.report.check(self.reach.probes()["ping"]["state"] == "up", None, "reach probes", "ping, which needs no name, is up")
        self.show(["status"], ["probes"])

    def upstream_dark(self):
        self.change("everything beyond the gateway is dark", lambda: self.internet.filter("drop"))
        self.expect("connectivity limited or none", lambda event: connectivity(event) in ("limited", "none"), BOUND)
        self.report.check((self.reach.status() or {}).get("status") == "reachable", None, "reach status",
                          "still has a path, over which nothing answers")
        self.manager_says("limited", "none")
        self.show(["status"])
        # Checks become rarer now. One sample of the sockets, which is taken every second, has to see no traffic first.
        time.sleep(4)
        self.change("it is back, and a client fetches a page", self.internet.restore, self.visit)
        self.expect("connectivity full", lambda event: connectivity(event) == "full", 2)
        self.manager_says("full")

    def upstream_silent(self):
        with contextlib.closing(Chatter(self.internet.internet, (WEB, OTHER, NAMES))):
            # The kernel confirms the gateway within seconds, and a check may have just been made.
            time.sleep(6)
            self.change("everything beyond the gateway is dark, while three programs send",
                        lambda: self.internet.filter("drop"))
            self.expect("connectivity limited", lambda event: connectivity(event) == "limited", SILENCE_BOUND)
            self.manager_says("limited", "none")
            self.show(["explain"])
            self.change("it is back", self.internet.restore)
            self.expect("connectivity full", lambda event: connectivity(event) == "full", SILENCE_BOUND)
            self.manager_says("full")

    def noisy(self):
        seconds = self.options.noise
        with contextlib.closing(Chatter(self.internet.internet, (WEB, OTHER, NAMES))):
            self.change(f"the router loses every second packet from the Internet, at random, for {seconds} s, "
                        "while three programs send",
                        lambda: self.internet.filter('iifname "wan0" numgen random mod 2 == 0 drop'))
            changes = self.endure(seconds)
            self.report.check(not changes, None, "reach watch", f"the connectivity changed {len(changes)} times")
            self.internet.restore()
            self.change(f"every second packet both ways, for {seconds} s",
                        lambda: self.internet.filter("numgen random mod 2 == 0 drop"))
            # Of four packets one gets there and back: programs wait for minutes, and no check may be answered in as long.
            changes = self.endure(seconds)
            self.report.note(None, "reach watch", f"the connectivity changed {len(changes)} times")

    def endure(self, seconds):
        """Waits, and checks that neither silence nor a change of the status is found; the changes of connectivity."""
        (found, tests) = (self.reach.metric(FOUND), self.reach.metric(TESTS))
        time.sleep(seconds)
        found = self.reach.metric(FOUND) - found
        self.report.check(found == 0, None, "metrics", f"{found} times silence was found")
        self.report.note(None, "metrics", f"{self.reach.metric(TESTS) - tests} times the path was tested")
        changes = [event for event in self.reach.events.since(self.began) if event["type"] == "change"]
        lost = [event for event in changes if "status" in event["changed"]]
        self.report.check(not lost, None, "reach watch", f"the status changed {len(lost)} times")
        return whole_connectivity(changes)

    def one_server_dead(self):
        seconds = min(60, self.options.noise)
        with contextlib.closing(Chatter(self.internet.internet, (WEB, OTHER, NAMES))):
            before = self.reach.metric(FOUND)
            self.change(f"one of the three servers is dead for {seconds} s",
                        lambda: self.internet.filter(f"ip daddr {OTHER} drop", f"ip saddr {OTHER} drop"))
            time.sleep(seconds)
            found = self.reach.metric(FOUND) - before
            self.report.check(found == 0, None, "metrics", f"{found} times silence was found")
            changes = whole_connectivity([event for event in self.reach.events.since(self.began) if event["type"] == "change"])
            self.report.check(not changes, None, "reach watch", f"the connectivity changed {len(changes)} times")

    def ipv6_broken(self):
        self.change("IPv6 is dropped by the router", lambda: self.internet.filter("meta nfproto ipv6 drop"))
        ipv6 = lambda event: "status" in event and event["type"] != "queue" and (
            event["status"]["ipv6"].get("connectivity") == "limited")
        self.expect("IPv6 limited", ipv6, INTERVAL * 1.1 + TIMEOUT + STRIKES + 1)
        status = self.reach.status()
        self.report.check(status["ipv4"]["connectivity"] == "full" and status["connectivity"] == "full", None,
                          "reach status", "IPv4 and the whole are full")
        self.manager_says("limited", "none", "portal", within=30)
        self.show(["status"])

    def certificate_expired(self):
        self.change("the shop's certificate has ended", lambda: self.internet.show_certificate(self.internet.expired))
        down = lambda event: event["type"] == "probe" and event["event"] == "down" and event["probe"]["probe"] == "shop"
        event = self.expect("probe shop is down", down, 3 * PROBE_INTERVAL * 1.1 + PROBE_TIMEOUT + 1)
        last = (event or {}).get("probe", {}).get("last", {})
        self.report.check(last.get("reason") == "certificate" and last.get("certificate_days", 0) < 0, None, "reach watch",
                          f"the reason is {last.get('reason')}, {last.get('certificate_days')} days")
        self.report.check(self.reach.status()["connectivity"] == "full", None, "reach status", "the Internet is full")
        self.manager_says("limited", "portal", within=15)
        self.show(["probes"])
        self.internet.restore_certificate()

    def half_lost(self):
        seconds = 60 if self.options.quick else 120
        count = 10 if self.options.quick else 25
        before = {name: probe["uptime"] for name, probe in self.reach.probes().items()}
        self.change(f"the router loses every second packet, at random, for {seconds} s",
                    lambda: self.internet.filter("numgen random mod 2 == 0 drop"))
        for number in range(count):
            self.reach.call("queue", "add", f"http://{WEB}/{number}")
        # What has a body in the clear waits where nothing is proved, and half of all probes fail here.
        clear = [int(self.reach.call("queue", "add", "-d", "hello", f"http://{WEB}/clear/{number}").split()[0])
                 for number in range(5)]
        time.sleep(seconds)
        events = self.reach.events.since(self.began)
        changes = [event for event in events if event["type"] == "change"]
        flaps = [event for event in changes if "status" in event["changed"]]
        words = [f"{event['at'] - self.began:.0f} s {connectivity(event)}" for event in changes if "connectivity" in event["changed"]]
        self.report.check(not flaps, None, "reach watch", f"the status changed {len(flaps)} times")
        whole = whole_connectivity(changes)
        self.report.check(len(whole) <= 2, None, "reach watch", f"the connectivity changed {len(whole)} times: {', '.join(words) or 'never'}")
        if self.manager:
            said = [f"{moment - self.began:.0f} s {word}" for moment, word in self.manager.history if moment > self.began]
            self.report.note(None, "NetworkManager", f"changed {len(said)} times: {', '.join(said) or 'never'}")
        self.show(["status"], ["probes"])
        shares = {name: share(probe["uptime"], before[name]) for name, probe in self.reach.probes().items()}
        self.report.check(all(value is not None for value in shares.values()), None, "reach probes", "well for " + ", ".join(
            f"{name} {value:.0%}" for name, value in shares.items()))
        # Half of the packets are lost in each direction: of four echoes one comes back. Where its last echo was lost when the
        # Internet became limited, ping is paused, as the other probes are.
        if any(event["type"] == "probe" and event["event"] == "paused" and event["probe"]["probe"] == "ping" for event in events):
            self.report.note(None, "reach probes", "ping was paused with the Internet")
        else:
            beats = self.reach.probes()["ping"]["beats"][-seconds // PROBE_INTERVAL + 1:]
            good = beats.count("o")
            self.report.check(0.05 <= good / len(beats) <= 0.5, None, "reach probes", f"ping: {good} of {len(beats)} echoes")
        ended = lambda word: [event["id"] for event in self.reach.events.since(self.began)
                              if event["type"] == "queue" and event["event"] == word]
        done = lambda: len(set(ended("done")) - set(clear))
        limit = now() + 300
        while done() < count and now() < limit:
            time.sleep(0.5)
        self.report.check(done() == count and not ended("dead"), now() - self.began, "reach queue",
                          f"{done()} of {count} requests got through, {len(ended('dead'))} died", 400)
        self.report.note(None, "reach queue", f"{len(set(ended('done')) & set(clear))} of {len(clear)} with a body in the "
                         "clear went while a probe proved the path")


def connectivity(event):
    return event["status"]["connectivity"] if event["type"] in ("change", "snapshot") else None


def whole_connectivity(changes):
    """The changes of the whole connectivity, without those of one family alone."""
    words, last = [], "full"
    for event in changes:
        if connectivity(event) != last:
            last = connectivity(event)
            words.append(last)
    return words


def share(after, before):
    ok, fail = after["ok_ms"] - before["ok_ms"], after["fail_ms"] - before["fail_ms"]
    return ok / (ok + fail) if ok + fail > 0 else None


SCENES = {
    "portal": ("a captive portal", Play.captive_portal),
    "portal-api": ("a captive portal that announces its API", Play.portal_api),
    "names": ("name servers that are silent", Play.names_dead),
    "dark": ("an upstream that is dark beyond the gateway", Play.upstream_dark),
    "silent": ("an upstream that is dark while programs send", Play.upstream_silent),
    "ipv6": ("IPv6 broken, IPv4 good", Play.ipv6_broken),
    "certificate": ("a certificate that has ended", Play.certificate_expired),
    "noise": ("half of all packets lost while programs send", Play.noisy),
    "dead-server": ("one dead server among three while programs send", Play.one_server_dead),
    "loss": ("half of all packets lost", Play.half_lost),
}


def play(names, report, options, directory):
    root, why = NetworkManager.find(options)
    with contextlib.ExitStack() as stack:
        internet = stack.enter_context(Internet(directory))
        manager = stack.enter_context(NetworkManager(root, directory, INTERVAL)) if root else None
        reach = stack.enter_context(Reach(options, directory, CONFIGURATION + PROBES))
        player = Play(report, internet, reach, manager, options)
        if manager:
            version = re.search(r"\d[\d.]*", subprocess.run(
                ["busctl", "get-property", "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
                 "org.freedesktop.NetworkManager", "Version"], capture_output=True, text=True).stdout)
            report.say(f"with NetworkManager {version.group() if version else ''}, both asking every {INTERVAL} s")
        else:
            report.say(f"without NetworkManager: {why}")
        for name in names:
            report.begin(name, SCENES[name][0])
            player.recover()
            SCENES[name][1](player)
