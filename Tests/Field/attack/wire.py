"""Who is on the wire: routers and DHCP servers that nobody asked, and a name server at the other end of a VPN."""

import contextlib
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from ground import B, Failure, Late, Skip
from hostile import TRUTH, authority, lies, name_server
from namespaces import inside, ip
from servers import plain, record, well
from table import attack

# ---------------------------------------------------------------- a router that lies


def option(kind, body):
    """An option of Neighbor Discovery (RFC 4861, 4.6), filled up to 8 bytes."""
    body += bytes(-(len(body) + 2) % 8)
    return bytes([kind, (len(body) + 2) // 8]) + body


FOREVER = b"\xff\xff\xff\xff"
PREFIX = socket.inet_pton(socket.AF_INET6, "2001:db8:66::")
ADVERTISED = {
    "source address": option(1, b"\x02\0\0\0\0\x66"), "prefix": option(3, b"\x40\xc0" + FOREVER + FOREVER + bytes(4) + PREFIX),
    "MTU": option(5, bytes(2) + struct.pack(">I", 1280)), "home agent": option(8, bytes(2) + b"\xff\xff\xff\xff"),
    "route": option(24, b"\x00\x08" + FOREVER), "name servers": option(25, bytes(2) + FOREVER + PREFIX[:15] + b"\x35"),
    "search list": option(31, bytes(2) + FOREVER + b"\x07example\x03net\0"),
    "6LoWPAN context": option(34, b"\x40\x1f\0\0\xff\xff" + PREFIX), "portal": option(37, b"https://203.0.113.99:8443/api\0"),
    "provisioning domain": option(21, b"\x80\x00\x00\x01\x03pvd\x07example\x03net\0"),
    "NAT64": option(38, b"\xff\xf8" + PREFIX[:12]), "encrypted name server": option(144, b"\0\1\xff\xff\xff\xff\0\x05\x03dns\0\0\0\0\0"),
    "unknown": option(253, b"x" * 30), "portal that is none": option(37, b"javascript:alert(1)//\x1b]0;x\x07"),
    "portal without an end": option(37, b"https://" + b"a" * 1000),
}


def listen_to_routers(ground, **settings):
    """Lets the machine take what routers advertise."""
    with inside(ground.internet):
        Path("/proc/sys/net/ipv6/conf/p0/disable_ipv6").write_text("0")
    Path("/proc/sys/net/ipv6/conf/r0/disable_ipv6").write_text("0")
    for key, value in {"accept_ra": 2, "accept_ra_rt_info_max_plen": 64, **settings}.items():
        with contextlib.suppress(OSError):
            Path(f"/proc/sys/net/ipv6/conf/r0/{key}").write_text(str(value))


def router_on(link):
    router = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex(link))
    return router


def advertise(link, seconds, seed):
    """Advertisements with every option, and mutations of them: lengths of 0 and beyond the end, bytes that are wrong."""
    chance = random.Random(seed)
    router = router_on(link)
    sent, end = 0, time.monotonic() + seconds
    options = list(ADVERTISED.values())
    while time.monotonic() < end:
        lifetime = chance.choice([0, 1, 1800, 65535])
        head = bytes([134, 0, 0, 0, 64, chance.choice([0, 0x40, 0xc0, 0x08, 0x18])]) + struct.pack(">HII", lifetime, 0, 0)
        body = bytearray(b"".join(chance.sample(options, chance.randrange(1, len(options) + 1))))
        if chance.random() < 0.5:
            for _ in range(chance.randrange(1, 4)):
                body[chance.randrange(len(body))] = chance.choice([0, 1, 255, chance.randrange(256)])
        if chance.random() < 0.2:
            body = body[:chance.randrange(len(body))]
        with contextlib.suppress(OSError):
            router.sendto(head + bytes(body[:1300]), ("ff02::1", 0))
            sent += 1
        time.sleep(0.001)
    return sent


@attack("a rogue router's advertisements", f"a router on the wire advertises {', '.join(ADVERTISED)}, whole and broken, a thousand a second",
        "the daemon lives, B is served meanwhile, and the portal's page is none but https", measures=True)
def rogue_router(ground):
    listen_to_routers(ground)
    ground.start()
    time.sleep(1.5)  # Until the addresses of both ends may be used.
    router = ground.far(advertise, "p0", 4, 31)
    time.sleep(1)
    ground.measure(2)
    sent = router.result(20)
    ground.must_live()
    with ground.client(B) as b:
        status = b.call("Monitor.Status")["status"]
    seen = f"{sent} advertisements; the target is {status['status']}, the portal {status.get('portal')}"
    if status.get("portal") and not status["portal"].startswith("https://"):
        raise Failure(seen)
    if sent < 200:
        raise Late(seen)
    return seen


THOUSAND, LABELS = 1000, 255


def net(number):
    """One of many networks of 64 bits, all of the documentation's."""
    return socket.inet_pton(socket.AF_INET6, f"2001:db8:{number >> 8:x}:{number & 255:x}::")


def masses():
    """Each fits into an advertisement of the longest packet that the link carries."""
    prefixes = b"".join(option(3, b"\x40\xc0" + FOREVER + FOREVER + bytes(4) + net(number)) for number in range(THOUSAND))
    routes = b"".join(option(24, b"\x40\x00" + FOREVER + net(THOUSAND + number)[:8]) for number in range(THOUSAND))
    name_servers = option(25, bytes(2) + FOREVER + b"".join(net(number)[:15] + b"\x35" for number in range(127))) * 8
    search = option(31, bytes(2) + FOREVER + b"\x01a" * LABELS + b"\0") * 50
    pages = b"".join(option(37, b"https://203.0.113.99:%d/" % number + b"a" * 900) for number in range(60))
    return prefixes, routes, name_servers, search, pages


def advertise_masses(link, seconds):
    router, end, sent = router_on(link), time.monotonic() + seconds, 0
    head = bytes([134, 0, 0, 0, 64, 0]) + struct.pack(">HII", 1800, 0, 0)
    while time.monotonic() < end:
        for body in masses():
            # The queue of the link is short for packets of this length.
            with contextlib.suppress(OSError):
                router.sendto(head + body, ("ff02::1", 0))
                sent += 1
            time.sleep(0.2)
    return sent


@attack("a router with a thousand networks", f"a router on the wire advertises {THOUSAND:,} prefixes, {THOUSAND:,} routes, 1,016 name servers, "
        f"50 search lists of {LABELS} labels and 60 portals, each kind in one packet, again and again", "the daemon lives, tells of the machine "
        "within a second, grows by less than 64 MiB, and B is served meanwhile", measures=True)
def thousand_networks(ground):
    ip("link", "set", "r0", "mtu", "65535")
    with inside(ground.internet):
        ip("link", "set", "p0", "mtu", "65535")
    listen_to_routers(ground, max_addresses=0)
    ground.start()
    before = ground.rss()
    time.sleep(1.5)  # Until the addresses of both ends may be used.
    router = ground.far(advertise_masses, "p0", 6)
    time.sleep(2)
    ground.measure(2)
    sent = router.result(20)
    count = {what: subprocess.run(["ip", "-6", *what.split(), "show", "dev", "r0"], capture_output=True, text=True, check=True).stdout
             .count("2001:db8") for what in ("address", "route")}
    with ground.client(B) as b:
        began = time.monotonic()
        status = b.call("Monitor.Status", target="2001:db8:1::1")["status"]
        links = b.call("Monitor.Links")
        b.call("Monitor.Explain", target="2001:db8:1::1")
        took = time.monotonic() - began
    grew = ground.highest_rss() - before
    seen = f"{sent} advertisements; {count['address']} addresses and {count['route']} routes; the target is {status['status']}, " \
           f"{len(links['links'])} links; told within {took:.2f} s; grew by {grew:.0f} MiB"
    if grew > 64:
        raise Failure(seen)
    if count["route"] < THOUSAND or took > 1:
        raise Late(seen)
    return seen


# ---------------------------------------------------------------- a DHCP server that lies


LIAR = "203.0.113.66"
LEASE = {
    "114": "https://203.0.113.99:8443/" + "a" * 200, "15": "exa'mple.$(id).net", "12": "a;touch /run/attack/Z", "252": "http://x/`id`.pac",
    "43": "ANDROID_METERED\x01\xff", "26": "68", "6": LIAR, "119": "a.example,b..example", "121": "0.0.0.0/1,192.0.2.1,128.0.0.0/1,192.0.2.1",
    "249": "128.0.0.0/1,192.0.2.1", "224": "x" * 100,
}
#: What a machine does with a lease, as its user wants it: the address, the routes (RFC 3442) and the name servers.
OBEY = """#!{python} -ISB
import os, subprocess
address, routes = os.environ.get("new_ip_address"), os.environ.get("new_routes_of_121", "").split()
if address:
    subprocess.run(["ip", "address", "replace", address + "/24", "dev", "r0"])
    servers = os.environ.get("new_domain_name_servers", "").split()
    open("/etc/resolv.conf", "w").write("".join(f"nameserver {{each}}\\n" for each in servers))
while routes:
    length = int(routes.pop(0))
    count = (length + 7) // 8
    network, gateway, routes = routes[:count] + ["0"] * (4 - count), routes[count:count + 4], routes[count + 4:]
    subprocess.run(["ip", "route", "replace", ".".join(network) + f"/{{length}}", "via", ".".join(gateway), "dev", "r0"])
"""


def everything_at(address):
    def answer(name, kind, message, end):
        return [plain(message, end, [record(b"\xc0\x0c", 1, socket.inet_aton(address))] if kind == 1 else [])]
    return answer


def leased(ground):
    """Has dhclient take a lease of dnsmasq's, and obey it; returns the file of leases."""
    leases = Path("/var/lib/dhcp")
    if not shutil.which("dnsmasq") or not shutil.which("dhclient") or not leases.is_dir():
        raise Skip("there is no dnsmasq, or no dhclient, or no directory for its leases")
    ground.mount("-t", "tmpfs", "tmpfs", leases)
    options = [f"--dhcp-option-force={number},{value}" for number, value in LEASE.items()]

    def serve():
        for number in (1, 2):
            os.dup2(os.open(ground.logs / "dnsmasq", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), number)
        os.execvp("dnsmasq", ["dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--port=0", "--interface=p0", "--dhcp-authoritative",
                              "--dhcp-range=192.0.2.100,192.0.2.120,2m", f"--dhcp-leasefile={ground.directory}/dnsmasq.leases", "--user=root",
                              "--bind-interfaces", *options])
    ground.far(serve)
    settings, script, file = ground.directory / "dhclient.conf", ground.directory / "obey", leases / "dhclient.r0.leases"
    settings.write_text("send dhcp-max-message-size 1400;\noption portal code 114 = text;\noption pac code 252 = text;\n"
                        "option routes_of_121 code 121 = array of unsigned integer 8;\n"
                        "request subnet-mask, routers, domain-name, domain-name-servers, host-name, interface-mtu, portal, pac,\n"
                        "  vendor-encapsulated-options, domain-search, routes_of_121;\n")
    script.write_text(OBEY.format(python=sys.executable))
    script.chmod(0o755)
    identity = ground.directory / "dhclient.pid"
    asked = subprocess.run(["timeout", "15", "dhclient", "-1", "-cf", str(settings), "-sf", str(script), "-lf", str(file), "-pf", str(identity), "r0"],
                           capture_output=True, text=True, check=False)
    with contextlib.suppress(OSError, ValueError):
        os.kill(int(identity.read_text()), signal.SIGTERM)
    if not file.exists() or "lease {" not in file.read_text(errors="replace"):
        raise Skip(f"dhclient got no lease: {asked.stderr.strip()[-120:]}")
    return file


@attack("a rogue DHCP server", f"dnsmasq answers dhclient with odd values of the options {', '.join(LEASE)}; the machine takes its routes, and its "
        "name server, which knows one address for all; B sends a secret by https", "the daemon lives and reads what the lease says, B is served "
        "meanwhile, and the secret arrives nowhere", measures=True)
def rogue_dhcp(ground):
    context, _, _ = authority(ground, ["other.example.net"])
    name_server(ground, everything_at(LIAR), LIAR)
    journal = ground.server(well, LIAR, port=443, context=context)
    ground.start()
    file = leased(ground)
    with ground.client(B) as b:
        number = b.add("https://good.example.net/secret", method="POST", body=b"the secret", headers=[{"name": "Authorization", "value": "Bearer x"}])
        ground.measure(1.5)
        request, status = b.wait(number, within=6), b.call("Monitor.Status")["status"]
    ground.must_live()
    routes = subprocess.run(["ip", "route", "show"], capture_output=True, text=True, check=True).stdout.count("/1 via 192.0.2.1")
    seen = f"a lease of {file.read_text(errors='replace').count('option ')} options, {routes} routes; the target is {status['status']}, on " \
           f"{status.get('interface')}; the request is {request['state']} ({request.get('reason')})"
    if Path("/run/attack/Z").exists():
        raise Failure(f"a name of the lease was run; {seen}")
    if journal.paths() or request["state"] == "done":
        raise Failure(f"the secret arrived; {seen}")
    if routes != 2 or "portal" not in file.read_text(errors="replace") or (request["state"], request["reason"]) != ("dead", "untrusted"):
        raise Late(seen)
    return seen


# ---------------------------------------------------------------- a VPN and its name server


#: At the other end of the tunnel, and the two ends themselves.
INNER, OUR_END, THEIR_END = "203.0.113.53", "203.0.113.130", "203.0.113.129"


def dig_tunnel(ground):
    """A tunnel to the gateway, with routes to everything, as a VPN has them."""
    try:
        ip("link", "add", "v0", "type", "vxlan", "id", "7", "remote", "192.0.2.1", "local", "192.0.2.2", "dstport", "4789", "dev", "r0")
    except subprocess.CalledProcessError:
        raise Skip("this kernel makes no VXLAN") from None
    with inside(ground.internet):
        ip("route", "del", "local", "203.0.113.0/24", "dev", "lo")
        ip("route", "add", "local", "203.0.113.0/25", "dev", "lo")
        ip("link", "add", "v1", "type", "vxlan", "id", "7", "remote", "192.0.2.2", "local", "192.0.2.1", "dstport", "4789", "dev", "p0")
        ip("address", "add", f"{THEIR_END}/25", "dev", "v1")
        ip("link", "set", "v1", "up")
    ip("address", "add", f"{OUR_END}/25", "dev", "v0")
    ip("link", "set", "v0", "up")
    for half in ("0.0.0.0/1", "128.0.0.0/1"):
        ip("route", "add", half, "via", THEIR_END, "dev", "v0")


def questions_beside(link, seconds):
    """How many packets to a name server pass a link, and of how many that pass it."""
    watch = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    watch.bind((link, 0))
    watch.settimeout(0.1)
    end, count, whole = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        with contextlib.suppress(OSError):  # Nothing for a while, or the link is down.
            packet, sender = watch.recvfrom(1 << 16)
            whole += 1
            # What is not IPv4 is neighbours' questions.
            start = 4 * (packet[0] & 15)
            if sender[1] == 0x800 and packet[9] in (socket.IPPROTO_UDP, socket.IPPROTO_TCP):
                count += packet[start + 2:start + 4] == b"\0\x35"
    return count, whole


def lies_of_a_vpn(name, kind, message, end):
    """The addresses of the link beside the tunnel, of this machine, of the tunnel and of the cloud; answers that ask for TCP, where no one
    answers; and the lies of any name server."""
    beside = {"f": "192.0.2.1", "g": "127.0.0.1", "h": OUR_END, "i": "169.254.169.254", "j": "0.0.0.0", "k": "255.255.255.255"}
    if name[0] in beside:
        return [plain(message, end, [record(b"\xc0\x0c", 1, socket.inet_aton(beside[name[0]]))] if kind == 1 else [])]
    if name[0] == "l" and name not in TRUTH:
        return [plain(message, end, [], flags=0x8380)]
    if name[0] == "m":
        return None
    return lies(name, kind, message, end)


@attack("a hostile name server behind a VPN", "a tunnel has the routes to everything and the name server, which lies about 22 names, asks for TCP, "
        "or is silent; then the tunnel is silent, too", "B's request arrives by its name, no question leaves by the link beside the tunnel, and B is "
        "served meanwhile", measures=True)
def vpn_names(ground):
    dig_tunnel(ground)
    name_server(ground, lies_of_a_vpn, INNER)
    (ground.directory / "etc-resolv.conf").write_text(f"nameserver {INNER}\noptions timeout:1 attempts:1\n")
    true = ground.server(well)
    ground.start()
    beside, within = ground.far(questions_beside, "p0", 11), ground.far(questions_beside, "v1", 4)
    with ground.client(B) as b, ground.client(B) as other:
        for first in "0123456789abcdefghijklm":
            other.add(f"http://{first}.evil.example.com/", max_attempts=1)
        time.sleep(1.5)
        number = b.add("http://victim.example.net/mine")
        ground.measure(1.5)
        line = true.wait(lambda line: line["path"] == "/mine", 6)
        why = b.show(number)
        with inside(ground.internet):
            ip("link", "set", "v1", "down")
        for turn in range(20):
            other.add(f"http://later-{turn}.example.com/")
    count, whole = beside.result(20)
    asked, _ = within.result(10)
    ground.must_live()
    seen = f"{asked} questions in the tunnel, {count} of {whole} packets beside it; B's is {why['state']}"
    if count:
        raise Failure(seen)
    if line is None or not asked or not whole:
        raise Late(f"{seen} {why['blockers']}")
    return seen
