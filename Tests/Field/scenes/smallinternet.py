"""A small Internet for `faults`: a machine, its LAN, three routers and servers, each in a network namespace of its own.

    machine 192.0.2.20 -- lan0 -- home 192.0.2.1 -- 203.0.113.1 first -- 203.0.113.6 last -- servers 198.51.100.0/26
                                                                             `-- 198.51.100.64/26, a LAN of servers
"""

import contextlib
import fcntl
import os
import queue
import socket
import ssl
import struct
import subprocess
import threading
import time
import traceback
from pathlib import Path

from answers import question, reply, serve, serve_names
from namespaces import CLONE_NEWNET, CLONE_NEWNS, inside
from programs import prepare_child, system_call

CLONE_NEWPID = 0x20000000
WWW, CHECK, SECOND, DNS, DNS2, NOTHING = (f"198.51.100.{n}" for n in (10, 11, 12, 53, 54, 70))
WWW6, CHECK6, SECOND6, DNS6, NOTHING6 = (f"2001:db8:51::{n}" for n in (10, 11, 12, 53, 70))
# Root name servers, which stand for the Internet
ROOT, ROOT6 = "198.51.100.4", "2001:db8:51::4"
# WWW and CHECK behind a translator (RFC 6052)
WWW64, CHECK64 = "64:ff9b::c633:640a", "64:ff9b::c633:640b"
NAMES = {"www.example.org": [WWW], "check.example.org": [CHECK], "second.example.org": [SECOND], "both.example.org": [WWW, WWW6],
         "off.example.org": [NOTHING], "six.example.org": [WWW6], "check6.example.org": [CHECK6], "second6.example.org": [SECOND6]}
NODES = ("machine", "lan", "home", "first", "last", "servers", "other")


def sh(command, check=True, text=None):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, input=text, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout


def mount(source, place, kind=None, flags=0, options=None):
    words = [None if word is None else str(word).encode() for word in (source, place, kind)]
    system_call("mount", *words, flags, options and options.encode())


def alone(work):
    """Runs `work` in a process with mounts, processes and a network of its own; returns its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 3
    try:
        system_call("unshare", CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET)
        inner = os.fork()
        if inner == 0:
            prepare_child()
            status = 3
            try:
                mount("none", "/", None, 0x44000)
                mount("proc", "/proc", "proc")
                mount("sysfs", "/sys", "sysfs")
                mount("tmpfs", "/run", "tmpfs", 0, "mode=755")
                status = work()
            except Exception:  # pylint: disable=broad-exception-caught
                traceback.print_exc()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    finally:
        os._exit(status & 255)


class SmallInternet:
    """The whole network, healthy; a scene breaks it."""

    def __init__(self, authority=None, ipv6=False):
        self.authority, self.files = authority, Path("/run/files")
        self.files.mkdir()
        self.environment = {}
        Path("/run/netns").mkdir()
        for name, text in (("resolv.conf", f"nameserver {DNS}\n"), ("nsswitch.conf", "hosts: files dns\n"),
                           ("hosts", "127.0.0.1 localhost\n")):
            self.file(name, text)
            if Path("/etc/" + name).exists():
                mount(self.files / name, os.path.realpath("/etc/" + name), None, 0x1000)
        if authority:
            mount(authority.root, os.path.realpath("/etc/ssl/certs/ca-certificates.crt"), None, 0x1000)
        for node in NODES:
            sh(f"ip netns add {node} && ip -n {node} link set lo up")
            self.sysctl(node, "net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.default.accept_ra=0")
        self.sysctl("machine", "net.ipv4.ping_group_range=0 2147483647")
        for node in ("home", "first", "last"):
            self.sysctl(node, "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        self.ip("lan", "link add lan type bridge mcast_snooping 0", "link set lan up")
        self.plug("machine", "lan0", "192.0.2.20/24", "2001:db8:1::20/64" if ipv6 else None)
        self.plug("home", "lan0", "192.0.2.1/24", "2001:db8:1::1/64" if ipv6 else None)
        self.wire("home", "wan0", "203.0.113.2/30", "first", "down0", "203.0.113.1/30", "f1" if ipv6 else None)
        self.wire("first", "up0", "203.0.113.5/30", "last", "down0", "203.0.113.6/30", "f2" if ipv6 else None)
        self.wire("last", "up0", "203.0.113.9/30", "servers", "net0", "203.0.113.10/30", "f3" if ipv6 else None)
        self.wire("last", "side0", "198.51.100.65/26", "other", "net0", "198.51.100.66/26")
        self.ip("machine", "route add default via 192.0.2.1")
        self.ip("home", "route add default via 203.0.113.1")
        self.ip("first", "route add default via 203.0.113.6", "route add 192.0.2.0/24 via 203.0.113.2")
        self.ip("last", "route add default via 203.0.113.5", "route add 198.51.100.0/26 via 203.0.113.10")
        self.ip("servers", "route add default via 203.0.113.9", *(f"address add {a}/32 dev lo" for a in (WWW, CHECK, SECOND, DNS, DNS2, ROOT)))
        if ipv6:
            self.ip("machine", "route add default via 2001:db8:1::1")
            self.ip("home", "route add default via 2001:db8:f1::2")
            self.ip("first", "route add default via 2001:db8:f2::2", "route add 2001:db8:1::/64 via 2001:db8:f1::1")
            self.ip("last", "route add default via 2001:db8:f2::1", "route add 2001:db8:51::/48 via 2001:db8:f3::2",
                    "route add 64:ff9b::/96 via 2001:db8:f3::2")
            self.ip("servers", "route add default via 2001:db8:f3::1",
                    *(f"address add {a}/128 dev lo nodad" for a in (WWW6, CHECK6, SECOND6, DNS6, ROOT6, WWW64, CHECK64)))
        addresses = [WWW, CHECK, SECOND] + ([WWW6, CHECK6, SECOND6, WWW64, CHECK64] if ipv6 else [])
        for address in addresses:
            self.web(address, 80)
            if authority:
                self.web(address, 443, authority.good)
        self.names = {address: self.name_server(address) for address in (DNS, DNS2, ROOT, *([DNS6, ROOT6] if ipv6 else []))}

    # ------------------------------------------------------------ links

    def file(self, name, text):
        path = self.files / name
        path.write_text(text)
        return path

    def ip(self, node, *commands):
        sh(f"ip -n {node} -batch -", text="\n".join(commands) + "\n")

    def sysctl(self, node, *settings):
        sh(f"ip netns exec {node} sysctl -qw " + " ".join(f"'{setting}'" for setting in settings))

    def run(self, node, command):
        return sh(f"ip netns exec {node} {command}")

    def plug(self, node, link, address=None, address6=None, mac=None):
        """Connects a node to the LAN's switch."""
        port = f"to-{node}"[:12]
        hard = f"address {mac} " if mac else ""
        self.ip(node, f"link add {link} {hard}type veth peer name {port} netns lan", f"link set {link} up",
                *(f"address add {a} dev {link}" for a in (address, address6) if a))
        self.ip("lan", f"link set {port} master lan", f"link set {port} up")

    def wire(self, near, near_link, near_address, far, far_link, far_address, ipv6=None):
        self.ip(near, f"link add {near_link} type veth peer name {far_link} netns {far}", f"link set {near_link} up",
                f"address add {near_address} dev {near_link}",
                *([f"address add 2001:db8:{ipv6}::1/64 dev {near_link} nodad"] if ipv6 else []))
        self.ip(far, f"link set {far_link} up", f"address add {far_address} dev {far_link}",
                *([f"address add 2001:db8:{ipv6}::2/64 dev {far_link} nodad"] if ipv6 else []))

    def nft(self, node, rules):
        sh(f"ip netns exec {node} nft -f -", text="flush ruleset\ntable inet faults {\n" + rules + "\n}\n")

    def chain(self, node, hook, *rules):
        self.nft(node, f"chain c {{ type filter hook {hook} priority 0; " + "; ".join(rules) + "; }")

    def lose(self, node, link, share):
        """Loses a share, in percent, of what comes in by a link. (Not every kernel has netem.)"""
        self.nft(node, f"chain c {{ type filter hook prerouting priority -300; iif {link} numgen random mod 1000 < {share * 10} drop; }}")

    def delay(self, seconds, near="first", near_link="up0", near_address="203.0.113.5/30", far="last", far_link="down0",
              far_address="203.0.113.6/30", routes=()):
        """Replaces a wire by one on which each packet takes so long."""
        self.ip(near, f"link del {near_link}")
        ends = [self.tap(near, near_link), self.tap(far, far_link)]
        self.ip(near, f"address add {near_address} dev {near_link}")
        self.ip(far, f"address add {far_address} dev {far_link}")
        for node, route in routes:
            self.ip(node, f"route add {route}")
        for source, target in (ends, ends[::-1]):
            threading.Thread(target=relay, args=(source, target, seconds), daemon=True).start()

    def tap(self, node, link, kind=0x1002):
        with self.inside(node):
            end = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
            fcntl.ioctl(end, 0x400454ca, struct.pack("16sH14x", link.encode(), kind))
        self.ip(node, f"link set {link} up")
        return end

    @contextlib.contextmanager
    def inside(self, node):
        namespace = os.open(f"/run/netns/{node}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            with inside(namespace):
                yield
        finally:
            os.close(namespace)

    def raw_link(self, passes=True, name="raw0"):
        """Replaces the machine's LAN by a link without a gateway, as modems and tunnels are, to the first router."""
        self.ip("machine", "link del lan0")
        ends = [self.tap("machine", name, 0x1001), self.tap("first", "tun9", 0x1001)]
        self.ip("machine", f"address add 203.0.113.130/32 dev {name}", f"route add default dev {name}")
        self.ip("first", "route add 203.0.113.130/32 dev tun9")
        if passes:
            for source, target in (ends, ends[::-1]):
                threading.Thread(target=relay, args=(source, target), daemon=True).start()
        self.ends = ends

    # ------------------------------------------------------------ servers

    def web(self, address, port, identity=None, answer=None, node="servers"):
        context = None
        if identity:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*identity)
        with self.inside(node):
            return serve(address, port, answer or (lambda page: page.send(204)), context)

    def name_server(self, address, node="servers", port=53):
        server = NameServer()
        with self.inside(node):
            serve_names(address, server.answer, port)
            streams = socket.create_server((address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
        threading.Thread(target=server.streams, args=(streams,), daemon=True).start()
        return server


def relay(source, target, seconds=0):
    waiting = queue.SimpleQueue()

    def deliver():
        while True:
            due, packet = waiting.get()
            time.sleep(max(0, due - time.monotonic()))
            with contextlib.suppress(OSError):
                os.write(target, packet)
    threading.Thread(target=deliver, daemon=True).start()
    with contextlib.suppress(OSError):
        while True:
            waiting.put((time.monotonic() + seconds, os.read(source, 65536)))


class NameServer:
    """Answers from `table`; `change(server, query, name, kind)` may return other bytes, or None for no answer."""

    def __init__(self):
        self.table, self.change, self.delay = dict(NAMES), None, 0

    def reply(self, query, code=None, addresses=None):
        found = self.table.get(question(query)[0]) if addresses is None else addresses
        if code is None:
            code = 3 if found is None else 0
        return reply(query, found or [], code)

    def answer(self, query):
        if self.delay:
            time.sleep(self.delay)
        name, kind, _ = question(query)
        return self.change(self, query, name, kind) if self.change else self.reply(query)

    def streams(self, server):
        def one(connection):
            with contextlib.suppress(Exception), connection:
                connection.settimeout(10)
                size = struct.unpack("!H", connection.recv(2))[0]
                answer = self.answer(connection.recv(size))
                if answer is None:
                    time.sleep(10)
                else:
                    connection.sendall(struct.pack("!H", len(answer)) + answer)
                    connection.recv(1)
        while True:
            connection, _ = server.accept()
            threading.Thread(target=one, args=(connection,), daemon=True).start()
