"""Scenes of networks that other programs' users reported: names by another link, full tunnels, a proxy, another prefix, rules for sources."""

import contextlib
import json
import subprocess
import tempfile
import time

from answers import reply, serve, serve_names
from namespaces import bind, count_packets, inside, new_namespace, own_sysfs, packets, run_in, wire
from programs import now, run
from stage import CLASSES, Reach, cable_and_modem

SERVER, SERVER6, FAR_END = "203.0.113.10", "2001:db8:80::80", "203.0.113.77"
ROUTER, MODEM_GATEWAY, NAME_SERVER = "192.0.2.1", "198.51.100.1", "198.18.5.53"
PROXY_PORT = 3128

CHECKS = """
[connectivity]
endpoints = ["http://check.example.net/204"]
interval = "10s"
timeout = "2s"
"""


class Web:
    """A server that answers every request after its body: with a page, or 204 for `/204` and 200 for the rest."""

    def __init__(self, namespace, address, port=80, content=None, pause=0):
        self.paths, self.content, self.pause = [], content, pause
        with inside(namespace):
            self.server = serve(address, port, self.answer)

    def answer(self, page):
        if page.body(self.pause) is None:
            return
        self.paths.append(page.path)
        if self.content:
            page.send(200, self.content, **{"Content-Type": "text/html"})
        else:
            page.send(204 if page.path.endswith("/204") else 200)

    def count(self, path):
        return sum(seen.endswith(path) for seen in self.paths)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Play:
    """A machine with a cable and a modem; the far ends of both are one namespace. Each scene has one of its own."""

    def __init__(self, report, options, directory):
        self.report, self.options, self.directory = report, options, directory
        self.stack = contextlib.ExitStack()
        self.began, self.named = now(), SERVER

    def __enter__(self):
        self.internet, self.machine = cable_and_modem([f"{SERVER}/32", f"{FAR_END}/32", f"{SERVER6}/128"])
        self.stack.enter_context(own_sysfs())
        run("ip", "route", "add", "default", "via", ROUTER, "dev", "lan0", "metric", "100")
        return self

    def __exit__(self, *_):
        self.stack.close()

    def use(self, server):
        self.stack.callback(server.close)
        return server

    def web(self, *arguments, **options):
        return self.use(Web(self.internet, *arguments, **options))

    def names(self, address, namespace=None):
        """A name server that gives every name the address `named`, and none of IPv6."""
        bind("/etc/resolv.conf", f"nameserver {address}\noptions timeout:1 attempts:1\n", self.directory)
        self.stack.callback(subprocess.run, ["umount", "-l", "/etc/resolv.conf"])
        with inside(self.internet if namespace is None else namespace):
            self.use(serve_names(address, lambda query: reply(query, [self.named])))

    def reach(self, configuration):
        self.daemon = self.stack.enter_context(Reach(self.options, self.directory, configuration))
        return self.daemon

    def change(self, text, *command):
        self.began = now()
        if command:
            run(*command)
        self.report.say(f"0.00 s  {text}")

    def expect(self, what, holds, bound):
        """Waits until a condition holds, for so many seconds."""
        while not (found := holds()) and now() - self.began < bound:
            time.sleep(0.05)
        self.report.check(found, now() - self.began, "reach", what, bound + 1)

    def never(self, what, holds, seconds):
        time.sleep(seconds)
        self.report.check(not holds(), seconds, "reach", what)

    def connectivity(self, word):
        return lambda: self.daemon.status()["connectivity"] == word

    def add(self, *arguments):
        return self.daemon.call("queue", "add", *arguments).split()[0]

    # ------------------------------------------------------------ the scenes

    def names_elsewhere(self):
        side = new_namespace()
        self.stack.enter_context(inside(self.machine))
        wire(self.machine, "side0", ["198.18.5.1/24"], side, "far-side0", [f"{NAME_SERVER}/24"])
        web = self.web(SERVER)
        self.names(NAME_SERVER, namespace=side)
        count_packets(side='oifname "side0" udp dport 53', cable='oifname "lan0" udp dport 53')
        self.reach(CLASSES + CHECKS)
        self.change("the only name server is on another link than the default route")
        self.expect("connectivity full", self.connectivity("full"), 5)
        self.began = now()
        self.add("-d", "x=1", "http://shop.example.net/order")
        self.expect("the request arrives", lambda: web.count("/order") == 1, 5)
        self.report.check(packets("side") > 0 and packets("cable") == 0, None, "nftables",
                          f"{packets('side')} questions by side0, {packets('cable')} by lan0")

    def portal_by_names(self):
        web = self.web(SERVER)
        login = self.web(ROUTER, content=b"login")
        self.named = ROUTER
        self.names(ROUTER)
        self.reach(CLASSES + CHECKS)
        self.change("the name server answers each name with the router's own address, which has a login page")
        self.expect("connectivity portal", self.connectivity("portal"), 5)
        self.add("http://news.example.net/feed")
        self.never("the request for a public name is sent to no login page", lambda: login.count("/feed"), 3)
        self.named = SERVER
        self.change("the login is done: names have their addresses")
        self.expect("connectivity full", self.connectivity("full"), 30)
        self.began = now()
        self.expect("the request arrives", lambda: web.count("/feed") == 1, 10)

    def tunnel(self, works):
        """A full tunnel to FAR_END, as many VPN programs make it, and the server's own route."""
        run("ip", "link", "add", "vpn0", "type", "vxlan", "id", "7", "dstport", "4789", "remote", FAR_END)
        run("ip", "address", "add", "198.18.9.2/24", "dev", "vpn0")
        run("ip", "link", "set", "vpn0", "up")
        if works:
            with inside(self.internet):
                run("ip", "link", "add", "vpn0", "type", "vxlan", "id", "7", "dstport", "4789", "local", FAR_END, "remote",
                    "198.51.100.2")
                run("ip", "address", "add", "198.18.9.1/24", "dev", "vpn0")
                run("ip", "link", "set", "vpn0", "up")
        for half in ("0.0.0.0/1", "128.0.0.0/1"):
            run("ip", "route", "add", half, "via", "198.18.9.1", "dev", "vpn0")

    def dead_tunnel(self):
        web = self.web(SERVER)
        run("ip", "route", "add", "default", "via", MODEM_GATEWAY, "dev", "mob0", "metric", "700")
        run("ip", "route", "add", f"{FAR_END}/32", "via", ROUTER, "dev", "lan0")
        self.tunnel(works=False)
        count_packets(lan='oifname "lan0" tcp dport 80', modem='oifname "mob0" tcp dport 80')
        self.reach(CLASSES + f'[connectivity]\nendpoints = ["http://{SERVER}/204"]\ninterval = "10s"\ntimeout = "2s"\n')
        self.change("all traffic goes into a tunnel whose server is dead")
        self.expect("connectivity limited", self.connectivity("limited"), 8)
        for number in range(3):
            self.add("-d", "x=1", f"http://{SERVER}/order{number}")
        self.never("nothing is sent past the tunnel", lambda: any("order" in path for path in web.paths), 8)
        left = packets("lan") + packets("modem")
        self.report.check(left == 0, None, "nftables", f"{left} packets of requests and checks left by another link")

    def tunnel_over_modem(self):
        web = self.web(SERVER)
        run("ip", "route", "del", "default")
        run("ip", "route", "add", f"{FAR_END}/32", "via", MODEM_GATEWAY, "dev", "mob0")
        self.tunnel(works=True)
        self.reach(CLASSES)
        self.change("a tunnel over a modem")
        self.expect("the tunnel is metered", lambda: self.daemon.status()["metered"], 3)
        self.add("--when", "unmetered", "-d", "x=1", f"http://{SERVER}/order")
        self.never("the request for an unmetered network waits", lambda: web.count("/order"), 3)
        run_in(self.internet, "ip", "link", "set", "vpn0", "type", "vxlan", "remote", "192.0.2.2")
        self.change("the tunnel goes over the cable", "ip", "route", "replace", f"{FAR_END}/32", "via", ROUTER, "dev", "lan0")
        self.expect("the request arrives", lambda: web.count("/order") == 1, 10)

    def proxy_only(self):
        web = self.web(ROUTER, PROXY_PORT)
        self.names(ROUTER)
        with inside(self.internet):
            run("nft", "add table ip filter; add chain ip filter in { type filter hook prerouting priority 0; }")
            run("nft", f"add rule ip filter in ip daddr {SERVER} drop")
        proxy = f'proxy = "http://{ROUTER}:{PROXY_PORT}"\n'
        self.reach(CLASSES + CHECKS + proxy + "[queue]\n" + proxy)
        self.change("nothing but the proxy answers")
        self.expect("connectivity full", self.connectivity("full"), 5)
        self.began = now()
        self.add("-d", "x=1", "http://shop.example.net/order")
        self.expect("the request arrives by the proxy", lambda: web.count("http://shop.example.net/order") == 1, 5)

    def renumbering(self):
        run("ip", "address", "add", "2001:db8:1::2/64", "dev", "lan0")
        run_in(self.internet, "ip", "address", "add", "2001:db8:1::1/64", "dev", "far-lan0")
        run_in(self.internet, "ip", "address", "add", "2001:db8:2::1/64", "dev", "far-lan0")
        run("ip", "route", "add", "default", "via", "2001:db8:1::1", "dev", "lan0")
        web = self.web(SERVER6, pause=0.02)
        self.reach(CLASSES)
        body = f"{self.directory}/upload"
        with open(body, "wb") as file:
            file.truncate(12 << 20)
        self.add("-T", body, f"http://[{SERVER6}]/upload")
        time.sleep(1.5)
        run("ip", "address", "add", "2001:db8:2::2/64", "dev", "lan0")
        self.change("the router deprecates a prefix, which stays valid, and has a new one", "ip", "address", "change",
                    "2001:db8:1::2/64", "dev", "lan0", "preferred_lft", "0", "valid_lft", "600")
        self.expect("the upload that runs arrives whole", lambda: web.count("/upload") == 1, 20)
        failed = json.loads(self.daemon.call("queue", "list", "--json", "--all").splitlines()[0])["attempts"]
        self.report.check(failed == 0, None, "reach", f"{failed} attempts failed")

    def source_rules(self):
        self.reach(CLASSES)
        self.change("a rule sends what comes from the cable's address by the modem", "ip", "route", "add", "default", "via",
                    MODEM_GATEWAY, "dev", "mob0", "table", "100")
        run("ip", "rule", "add", "from", "192.0.2.2", "lookup", "100", "pref", "900")
        path = lambda key: self.daemon.status()["ipv4"].get(key)
        self.expect("leaves by mob0 from 192.0.2.2", lambda: (path("interface"), path("source")) == ("mob0", "192.0.2.2"), 2)
        text = self.daemon.call("explain")
        self.report.check("Rule 900 (from 192.0.2.2 lookup 100)" in text and "A first lookup" in text, None, "reach explain",
                          "the rule, and why it applies")
        self.began = now()
        run_in(self.internet, "ip", "link", "set", "far-mob0", "down")
        self.expect("not reachable: mob0 has no carrier", lambda: self.daemon.status()["root_interface"] == "mob0", 3)
        run_in(self.internet, "ip", "link", "set", "far-mob0", "up")
        self.change("the link is back, and a rule forbids it", "ip", "rule", "add", "from", "192.0.2.2", "prohibit", "pref", "800")
        self.expect("prohibited, by a rule", lambda: self.daemon.status()["root_cause"] == "rule", 2)


SCENES = {
    "names-elsewhere": ("a name server on another link", Play.names_elsewhere),
    "portal-names": ("a portal that answers every name with its own address", Play.portal_by_names),
    "tunnel-dead": ("a full tunnel whose server is dead", Play.dead_tunnel),
    "tunnel-modem": ("a full tunnel over a modem, then over a cable", Play.tunnel_over_modem),
    "proxy-only": ("a network that only a proxy leaves", Play.proxy_only),
    "renumbering": ("another IPv6 prefix in the middle of an upload", Play.renumbering),
    "source-rules": ("rules for the source that the kernel chooses", Play.source_rules),
}


def play(names, report, options, directory):
    for name in names:
        report.begin(name, SCENES[name][0])
        with tempfile.TemporaryDirectory(dir=directory) as own, Play(report, options, own) as scene:
            SCENES[name][1](scene)
