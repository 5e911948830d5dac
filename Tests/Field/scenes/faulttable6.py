"""The scenes of `faults` about IPv6: what people report of routers' advertisements, prefixes, translators and filters."""

import socket
import struct
import time

from faulttable import Scene, drop, lan_host, own, reject
from faulttablemtu import long_page
from smallinternet import CHECK64, DNS6, NOTHING6, SECOND6, WWW, WWW6, WWW64

BOTH, SIX, OLD = "http://both.example.org/", "http://six.example.org/", "http://www.example.org/"
MIXED = ("http://check.example.org/204", "http://check6.example.org/204")
ONLY6 = ("http://check6.example.org/204", "http://second6.example.org/204")
ROUTER, ROGUE = "2001:db8:1::1", "fe80::bad"


def only6(then=lambda net: None):
    """A machine without IPv4."""
    def breaks(net):
        net.ip("machine", "address del 192.0.2.20/24 dev lan0")
        net.file("resolv.conf", f"nameserver {DNS6}\n")
        then(net)
    return breaks


def names6(net, change):
    net.names[DNS6].change = change


def translating(then=lambda net: None):
    """A name server that makes IPv6 addresses of the IPv4 ones (DNS64), for a machine without IPv4."""
    table = {"www.example.org": WWW64, "check.example.org": CHECK64}

    def change(server, query, name, kind):
        return server.reply(query, 0, [table[name]]) if kind == 28 and name in table else server.reply(query)

    def breaks(net):
        names6(net, change)
        then(net)
    return only6(breaks)


def advertise(net, node, link, lifetime=1800, prefix=None, preferred=3600, preference=1):
    """Sends one router advertisement (RFC 4861 section 4.2), without a name server, which the machine accepts."""
    net.sysctl("machine", "net.ipv6.conf.lan0.accept_ra=1")
    message = struct.pack("!BBHBBHII", 134, 0, 0, 64, {1: 0, 2: 8}[preference], lifetime, 0, 0)
    if prefix:
        message += struct.pack("!BBBBIII", 3, 4, 64, 0xc0, 7200, preferred, 0) + socket.inet_pton(socket.AF_INET6, prefix)
    with net.inside(node):
        sender = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        index = socket.if_nametoindex(link)
    sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
    for _ in range(3):
        sender.sendto(message, ("ff02::1", 0, 0, index))
        time.sleep(0.2)


def rogue(net):
    """A machine of the LAN announces itself as a router, preferred, and then it is switched off."""
    lan_host(net, "rogue", "192.0.2.66/24")
    net.ip("rogue", f"address add {ROGUE}/64 dev lan0 nodad", "link set lan0 addrgenmode none")
    net.sysctl("rogue", "net.ipv6.conf.all.forwarding=1")
    net.ip("machine", f"route del default via {ROUTER}", f"route add default via {ROUTER} metric 2048")
    advertise(net, "rogue", "lan0", preference=2)
    net.ip("rogue", "link set lan0 down")


def rogue_alive(net):
    """The same, but it stays on and passes nothing on."""
    lan_host(net, "rogue", "192.0.2.66/24")
    net.ip("machine", f"route del default via {ROUTER}", f"route add default via {ROUTER} metric 2048")
    net.sysctl("rogue", "net.ipv6.conf.all.forwarding=1")
    net.chain("rogue", "forward", "drop")
    advertise(net, "rogue", "lan0", preference=2)


def rogue_alone(net):
    """The same, and the router of the home has no IPv6."""
    rogue_alive(net)
    net.ip("machine", f"route del default via {ROUTER}")


def no_name_server(net):
    net.file("resolv.conf", "")


def local_addresses(net):
    """Only unique local addresses (RFC 4193), for which no provider has a route back."""
    net.ip("machine", "address del 2001:db8:1::20/64 dev lan0", "address add fd00:db8:1::20/64 dev lan0 nodad",
           f"route del default via {ROUTER}", "route add default via fd00:db8:1::1 dev lan0")
    net.ip("home", "address add fd00:db8:1::1/64 dev lan0 nodad")
    net.ip("first", "route add blackhole fd00::/8")


def deprecated(net):
    """The provider has given the home another prefix; the router announces the old one no longer."""
    net.ip("machine", "address change 2001:db8:1::20/64 dev lan0 preferred_lft 0 valid_lft 7200")
    net.ip("first", "route del 2001:db8:1::/64")
    net.chain("first", "forward", "iif down0 ip6 saddr 2001:db8:1::/64 drop")


def renumbered(net, how="drop"):
    """The provider has given the home another prefix, and nobody has deprecated the old one, which the machine prefers."""
    net.ip("home", "address add 2001:db8:2::1/64 dev lan0 nodad")
    net.ip("first", "route del 2001:db8:1::/64", "route add 2001:db8:2::/64 via 2001:db8:f1::1")
    net.ip("machine", "address add 2001:db8:2::20/64 dev lan0 nodad", f"route replace default via {ROUTER} src 2001:db8:1::20")
    net.chain("first", "forward", f"iif down0 ip6 saddr 2001:db8:1::/64 {how}")


def twin6(address):
    """A second machine with an address that another one has, which it got without detection of duplicates."""
    def breaks(net):
        lan_host(net, "twin", "192.0.2.67/24", mac="02:00:00:00:00:66")
        net.ip("twin", f"address add {address}/64 dev lan0 nodad")
        node = "machine" if address == ROUTER else "home"
        net.ip(node, f"neigh replace {address} lladdr 02:00:00:00:00:66 dev lan0 nud {'reachable' if node == 'machine' else 'permanent'}")
    return breaks


def duplicate(net):
    """Another machine has the address already, so that the kernel does not use it."""
    lan_host(net, "twin", "192.0.2.67/24")
    net.ip("twin", "address add 2001:db8:1::20/64 dev lan0 nodad")
    net.ip("machine", "address del 2001:db8:1::20/64 dev lan0")
    net.sysctl("machine", "net.ipv6.conf.all.accept_dad=1", "net.ipv6.conf.lan0.accept_dad=1", "net.ipv6.conf.lan0.dad_transmits=1")
    net.ip("machine", "address add 2001:db8:1::20/64 dev lan0")
    time.sleep(2.5)


def no_default(net):
    """Forwarding was switched on, so that the kernel accepts no more advertisements."""
    net.ip("machine", f"route del default via {ROUTER}")


def black_hole(net):
    """A link of 1280 bytes, and a filter that drops what says so."""
    net.ip("first", "link set up0 mtu 1280")
    net.ip("last", "link set down0 mtu 1280")
    net.web(WWW6, 8080, answer=lambda page: long_page(page))
    for node, hook in (("first", "output"), ("last", "output")):
        net.chain(node, hook, "icmpv6 type packet-too-big drop", "icmp type destination-unreachable drop")


def answers6(*addresses):
    return lambda net: net.names[DNS6].table.update({"six.example.org": list(addresses)})


def answers4(*addresses):
    def breaks(net):
        for server in net.names.values():
            server.table["both.example.org"] = list(addresses)
    return breaks


def scene(name, parties, breaks, target=SIX, endpoints=ONLY6, **options):
    return Scene(name, parties, breaks, target, endpoints=endpoints, options={"ipv6": True}, **options)


V6 = "meta nfproto ipv6"
SCENES6 = [
    scene("IPv6 alone, healthy", "", only6(), outcomes="ok"),
    scene("IPv6 alone, healthy, through a translator", "", translating(), OLD, outcomes="ok"),
    scene("IPv6 alone, and the server has only IPv4", "local-network this-machine provider server", only6(), OLD, says="IPv4"),
    scene("IPv6: the router announces no name server", "this-machine local-network", only6(no_name_server), says="no name server"),
    # Programs wait three seconds: then the kernel leaves the router that is off for the other one.
    scene("IPv6: a rogue router that is off", "local-network", only6(rogue), outcomes="degraded", layers="gateway"),
    scene("IPv6: a rogue router that is off, next to IPv4", "local-network", rogue, BOTH, MIXED, outcomes="degraded"),
    scene("IPv6: a rogue router that passes nothing on", "local-network", only6(rogue_alive), says="passes nothing on"),
    scene("IPv6: a rogue router that passes nothing on, next to IPv4", "local-network", rogue_alive, BOTH, MIXED, outcomes="degraded",
          layers="gateway", says="passes nothing on"),
    scene("IPv6: a rogue router is the only one, next to IPv4", "local-network", rogue_alone, BOTH, MIXED, outcomes="degraded", layers="gateway",
          says="is not the machine"),
    scene("IPv6 is dark, and IPv4 works", "provider", drop("first", V6), BOTH, MIXED, outcomes="degraded"),
    scene("IPv6 is dark, and only IPv6 was asked for", "provider", drop("first", V6), SIX, MIXED),
    scene("IPv4 is dark, and IPv6 works", "provider", lambda net: (net.file("resolv.conf", f"nameserver {DNS6}\n"), drop("first", "meta nfproto ipv4")(net)),
          BOTH, MIXED, outcomes="degraded"),
    scene("IPv6: what says that a packet is too big is dropped", "provider local-network server", only6(black_hole), "http://six.example.org:8080/",
          outcomes="failed degraded"),
    scene("IPv6: only unique local addresses", "local-network provider", only6(local_addresses), says="unique local"),
    scene("IPv6: only unique local addresses, next to IPv4", "local-network provider", local_addresses, BOTH, MIXED, outcomes="ok degraded"),
    scene("IPv6: the translator is dead", "provider local-network", translating(drop("first", "ip6 daddr 64:ff9b::/96")), OLD, says="translat"),
    scene("IPv6: the translator is dead, and so are the endpoints behind it", "provider local-network", translating(drop("first", "ip6 daddr 64:ff9b::/96")),
          OLD, ("http://check.example.org/204",), says="translat"),
    scene("IPv6: the translator has no route", "provider local-network", translating(lambda net: net.ip("last", "route del 64:ff9b::/96", "route add unreachable 64:ff9b::/96")),
          OLD),
    scene("IPv6: the server behind the translator is silent", "server", translating(drop("last", f"ip6 daddr {WWW64}")), OLD,
          ("http://check.example.org/204", "http://check6.example.org/204")),
    scene("IPv6: a deprecated prefix", "local-network", only6(deprecated), says="announces no longer"),
    scene("IPv6: the old prefix is not deprecated", "local-network", only6(renumbered), layers="address", says="withdrawn"),
    scene("IPv6: the old prefix is not deprecated, next to IPv4", "local-network", renumbered, BOTH, MIXED, outcomes="degraded", layers="address",
          says="withdrawn"),
    scene("IPv6: the old prefix is refused", "local-network", only6(lambda net: renumbered(net, "reject with icmpx admin-prohibited")),
          layers="address", says="withdrawn"),
    scene("IPv6: no TCP passes", "local-network provider", only6(drop("first", f"{V6} meta l4proto tcp"))),
    scene("IPv6: the router drops TCP", "local-network provider", only6(drop("home", f"{V6} meta l4proto tcp")), f"tcp://[{WWW6}]:80",
          (f"http://[{SECOND6}]/204",)),
    scene("IPv6: AAAA points to nothing, and A works", "server", answers4(WWW, NOTHING6), BOTH, MIXED, outcomes="degraded"),
    scene("IPv6: AAAA points to nothing", "server", only6(answers6(NOTHING6))),
    scene("IPv6: AAAA is the unspecified address", "name-server server", only6(answers6("::"))),
    scene("IPv6: another machine has the address", "local-network", only6(duplicate), layers="address"),
    scene("IPv6: two machines with the router's address", "local-network", only6(twin6(ROUTER)), outcomes="failed degraded", layers="address"),
    scene("IPv6: two machines with this machine's address", "local-network this-machine", only6(twin6("2001:db8:1::20"))),
    scene("IPv6: the default route is gone", "this-machine", only6(no_default), layers="route"),
    scene("IPv6: own firewall drops what comes in, neighbours' answers too", "this-machine", only6(own("input", "iif lo accept", policy="policy drop;"))),
    scene("IPv6: own firewall drops what comes in, but not ICMPv6", "this-machine",
          only6(own("input", "iif lo accept", "meta l4proto ipv6-icmp accept", policy="policy drop;"))),
    scene("IPv6: own firewall rejects IPv6", "this-machine", own("output", f"oif lan0 {V6} meta l4proto tcp reject with tcp reset"), SIX, MIXED),
    scene("IPv6: the router forbids it", "local-network provider", only6(reject("home", f"ip6 daddr {WWW6}", "with icmpx admin-prohibited"))),
    scene("IPv6: no route at the provider", "provider", only6(lambda net: net.ip("first", "route del default via 2001:db8:f2::2")), layers="internet"),
]
