"""The scenes of `faults`: each breaks a small Internet in one way, and says what a good administrator says of it."""

import os
from dataclasses import dataclass, field
from typing import Callable

from smallinternet import CHECK, DNS, DNS2, NOTHING, SECOND, WWW, sh

HTTP, HTTPS, TCP = "http://www.example.org/", "https://www.example.org/", f"tcp://{WWW}:80"
ENDPOINTS = ("http://check.example.org/204", "http://second.example.org/204")
BY_ADDRESS = (f"http://{CHECK}/204", f"http://{SECOND}/204")
SECURE = ("https://check.example.org/204",)


@dataclass
class Scene:
    """`parties` are those that may be blamed, by a word or as one of `between`; "" for none."""
    name: str
    parties: str
    breaks: Callable
    target: str = HTTP
    outcomes: str = "failed"
    layers: str = ""
    endpoints: tuple = ENDPOINTS
    options: dict = field(default_factory=dict)
    says: str = ""


def lan_host(net, name, address="192.0.2.7/24", **options):
    sh(f"ip netns add {name} && ip -n {name} link set lo up")
    net.sysctl(name, "net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0")
    net.plug(name, "lan0", address, **options)


def twin(net, address):
    """A second machine with an address that another one has; it passes nothing on."""
    lan_host(net, "twin", f"{address}/24", mac="02:00:00:00:00:66")


def twin_of_gateway(net):
    twin(net, "192.0.2.1")
    # The twin's answer came first.
    net.ip("machine", "neigh replace 192.0.2.1 lladdr 02:00:00:00:00:66 dev lan0 nud reachable")


def twin_of_machine(net):
    twin(net, "192.0.2.20")
    net.ip("home", "neigh replace 192.0.2.20 lladdr 02:00:00:00:00:66 dev lan0 nud permanent")


def printer(net):
    lan_host(net, "printer", "192.0.2.9/24")
    net.ip("machine", "route replace default via 192.0.2.9")
    net.file("resolv.conf", "nameserver 192.0.2.1\n")
    net.name_server("192.0.2.1", "home")


def wide_prefix(net):
    net.ip("machine", "address flush dev lan0", "address add 192.0.2.20/4 dev lan0", "route add default via 192.0.2.1")


def tls_intercepted(net):
    """Somebody on the way answers every TLS connection with a certificate of an own authority."""
    net.web("203.0.113.2", 8443, net.authority.foreign, node="home")
    net.nft("home", "chain p { type nat hook prerouting priority -100; iif lan0 tcp dport 443 dnat ip to 203.0.113.2:8443; }")


def names(net, change, server=DNS):
    net.names[server].change = change


def wrong_id(server, query, name, kind):
    answer = server.reply(query)
    return bytes([answer[0] ^ 0x55, answer[1] ^ 0x55]) + answer[2:]


def garbage(server, query, name, kind):
    answer = server.reply(query)
    return answer[:12] + b"\xff" * 9


def only_aaaa(server, query, name, kind):
    return server.reply(query, 0, []) if kind == 28 else None


def no_aaaa(server, query, name, kind):
    return None if kind == 28 else server.reply(query)


def says(*addresses):
    return lambda server, query, name, kind: server.reply(query, 0, list(addresses)) if name.endswith("example.org") else server.reply(query)


def lying_about(name_of, *addresses):
    return lambda server, query, name, kind: server.reply(query, 0, list(addresses)) if name == name_of else server.reply(query)


def code(number):
    return lambda server, query, name, kind: server.reply(query, number, [])


def loop(net):
    net.ip("last", "route replace 198.51.100.0/24 via 203.0.113.5", "route del 198.51.100.0/26")
    net.ip("first", "route replace 198.51.100.0/24 via 203.0.113.6")


def drop(node, *rules, hook="forward"):
    return lambda net: net.chain(node, hook, *(f"{rule} drop" for rule in rules))


def reject(node, rule, how="", hook="forward"):
    return lambda net: net.chain(node, hook, f"{rule} reject {how}".strip())


def own(hook, *rules, policy=""):
    return lambda net: net.nft("machine", f"chain c {{ type filter hook {hook} priority 0; {policy} " + "; ".join(rules) + "; }")


def lossy(stretch, share, direction="back"):
    """Loses packets in one direction: of those that come back, or of those that go there."""
    node, link = {"lan": ("machine", "lan0"), "line": ("home", "wan0"), "beyond": ("last", "up0")}[stretch]
    if direction == "there":
        node, link = {"lan": ("home", "lan0"), "line": ("first", "down0"), "beyond": ("servers", "net0")}[stretch]
    return lambda net: net.lose(node, link, share)


def slow(seconds):
    """A round trip of so many seconds, beyond the first router."""
    def breaks(net):
        net.delay(seconds / 2, routes=[("first", "default via 203.0.113.6"), ("last", "default via 203.0.113.5")])
    return breaks


def slow_lan(seconds):
    def breaks(net):
        net.ip("home", "link del lan0")
        net.delay(seconds / 2, "machine", "lan0", "192.0.2.20/24", "home", "lan0", "192.0.2.1/24", [("machine", "default via 192.0.2.1")])
    return breaks


def delayed(server, seconds):
    def breaks(net):
        net.names[server].delay = seconds
    return breaks


def poisoned(net):
    names(net, lying_about("www.example.org", NOTHING))
    net.file("resolv.conf", f"nameserver {DNS}\nnameserver {DNS2}\n")


def foreign_authority(net):
    net.web(WWW, 8443, net.authority.foreign)


def raw(passes, then=lambda net: None):
    def breaks(net):
        net.raw_link(passes)
        then(net)
    return breaks


def unplugged(net):
    net.raw_link(True)
    os.close(net.ends[1])


def limited_echo(net):
    """A gateway that answers few echo requests, as many do, and loses nothing that passes."""
    net.chain("home", "input", "icmp type echo-request limit rate over 3/second burst 3 packets drop")


def dead_page(net):
    net.web(WWW, 8080, answer=lambda page: page.send(500))


def proxy_environment(text):
    def breaks(net):
        net.environment["http_proxy"] = text
    return breaks


def no_icmp_beyond(net):
    net.chain("home", "forward", "meta l4proto icmp drop")


def hosts_file(net):
    net.file("hosts", f"127.0.0.1 localhost\n{NOTHING} www.example.org\n")


SCENES = [
    # ---- what works
    Scene("healthy", "", lambda net: None, outcomes="ok"),
    Scene("healthy, for a TCP port", "", lambda net: None, TCP, "ok"),
    Scene("healthy, for https", "", lambda net: None, HTTPS, "ok", options={"tls": True}),
    Scene("healthy, without endpoints", "", lambda net: None, "internet", "ok", endpoints=()),
    Scene("healthy, for the Internet", "", lambda net: None, "internet", "ok"),
    Scene("healthy, no router sends or passes ICMP", "", no_icmp_beyond, outcomes="ok"),
    Scene("healthy, over a link without a gateway", "", raw(True), outcomes="ok"),
    Scene("healthy, in both families", "", lambda net: None, "http://both.example.org/", "ok", options={"ipv6": True}),
    Scene("the gateway answers few echo requests", "", limited_echo, outcomes="ok"),
    # ---- the provider
    Scene("the provider is dark behind its first router", "provider", drop("first", "oif up0"), layers="internet"),
    Scene("the same for an address", "provider", drop("first", "oif up0"), TCP, layers="internet", endpoints=BY_ADDRESS),
    Scene("the same for the Internet", "provider", drop("first", "oif up0"), "internet", layers="internet", endpoints=BY_ADDRESS),
    Scene("the provider is dark, and only one server was asked", "provider", drop("last", "oif up0"), TCP, endpoints=()),
    Scene("a routing loop", "provider", loop, TCP, layers="internet", endpoints=BY_ADDRESS),
    Scene("a routing loop, for a name", "provider", loop, layers="internet"),
    Scene("host unreachable from the second router, for everything", "provider",
          reject("first", "oif up0", "with icmpx host-unreachable"), TCP, layers="internet", endpoints=BY_ADDRESS),
    Scene("no route at the second router", "provider", lambda net: net.ip("first", "route del default"), TCP, layers="internet",
          endpoints=BY_ADDRESS),
    Scene("no route at the last router, for a name", "provider", lambda net: net.ip("last", "route del 198.51.100.0/26"), layers="internet"),
    Scene("dark behind the last router", "provider", lambda net: net.ip("servers", "link set net0 down"), layers="internet"),
    Scene("large packets vanish", "provider local-network", drop("home", "meta length > 700"), HTTPS, options={"tls": True}),
    # ---- links without a gateway
    Scene("raw link, nothing passes, for an address", "provider", raw(False), TCP, endpoints=BY_ADDRESS),
    Scene("raw link, nothing passes, for a name", "provider", raw(False)),
    Scene("raw link, nothing passes, for an address that no one has", "provider", raw(False), f"tcp://{NOTHING}:80", endpoints=BY_ADDRESS),
    Scene("raw link, nothing passes, for the Internet", "provider", raw(False), "internet", endpoints=BY_ADDRESS),
    Scene("raw link, nothing passes, without endpoints", "provider", raw(False), TCP, endpoints=()),
    Scene("raw link, the other end was pulled out", "provider local-network", unplugged, TCP, endpoints=BY_ADDRESS),
    Scene("raw link, the server is off", "server", raw(True), f"tcp://{NOTHING}:80", endpoints=BY_ADDRESS),
    Scene("raw link, port closed", "server", raw(True), f"tcp://{WWW}:81", endpoints=BY_ADDRESS),
    Scene("raw link, dark behind the first router", "provider", raw(True, drop("first", "oif up0")), TCP, endpoints=BY_ADDRESS),
    # ---- what fails for all alike
    Scene("no TCP passes", "local-network provider", drop("home", "meta l4proto tcp"), layers="internet"),
    Scene("no TCP passes at the provider", "local-network provider", drop("first", "meta l4proto tcp"), TCP, endpoints=BY_ADDRESS),
    Scene("the gateway resets all TCP", "local-network provider", reject("home", "meta l4proto tcp", "with tcp reset"), TCP, endpoints=BY_ADDRESS),
    Scene("port 443 is dropped for everybody", "local-network provider", drop("home", "tcp dport 443"), HTTPS, options={"tls": True}),
    Scene("port 22 is dropped for everybody", "local-network provider", drop("first", "tcp dport 22"), f"tcp://{WWW}:22", endpoints=BY_ADDRESS),
    Scene("all certificates are of one unknown authority", "local-network provider this-machine", tls_intercepted, HTTPS, endpoints=SECURE,
          options={"tls": True}),
    Scene("all certificates are of one unknown authority, endpoints by http", "local-network provider this-machine", tls_intercepted, HTTPS,
          options={"tls": True}),
    # ---- the server
    Scene("host unreachable from the last router", "server", lambda net: None, f"tcp://{NOTHING}:80", endpoints=BY_ADDRESS),
    Scene("host unreachable from the last router, by name", "server", lambda net: None, "http://off.example.org/"),
    Scene("the server is silent, the Internet answers", "server", drop("last", f"ip daddr {WWW}")),
    Scene("the server is silent, and there is no endpoint", "server provider", drop("last", f"ip daddr {WWW}"), TCP, endpoints=()),
    Scene("port closed", "server", lambda net: None, f"tcp://{WWW}:81"),
    Scene("port filtered by the server", "server", drop("servers", f"ip daddr {WWW} tcp dport 22", hook="input"), f"tcp://{WWW}:22"),
    Scene("the server's certificate alone is unknown", "server", foreign_authority, "https://www.example.org:8443/", endpoints=SECURE,
          options={"tls": True}),
    Scene("HTTP 500", "server", dead_page, "http://www.example.org:8080/"),
    Scene("no such name", "server", lambda net: None, "http://nothing.example.org/", layers="name"),
    # ---- this machine's own firewall
    Scene("own firewall: input drop", "this-machine", own("input", "iif lo accept", policy="policy drop;")),
    Scene("own firewall: input drop, ICMP accepted", "this-machine", own("input", "iif lo accept", "meta l4proto icmp accept", policy="policy drop;"), TCP,
          endpoints=BY_ADDRESS),
    Scene("own firewall: input drop, ICMP accepted, for a name", "this-machine",
          own("input", "iif lo accept", "meta l4proto icmp accept", policy="policy drop;")),
    Scene("own firewall: input drop of TCP", "this-machine", own("input", "iif lan0 meta l4proto tcp drop"), TCP, endpoints=BY_ADDRESS),
    Scene("own firewall: input drop of answers from the server", "this-machine", own("input", f"ip saddr {WWW} drop"), TCP, endpoints=BY_ADDRESS),
    Scene("own firewall: output reject by reset", "this-machine", own("output", "oif lan0 tcp dport 80 reject with tcp reset"), TCP, endpoints=BY_ADDRESS),
    Scene("own firewall: output reject by reset, for a name", "this-machine", own("output", "oif lan0 tcp dport 80 reject with tcp reset")),
    Scene("own firewall: output reject by port unreachable", "this-machine", own("output", "oif lan0 meta l4proto { tcp, udp } reject")),
    Scene("own firewall: output reject of names by port unreachable", "this-machine", own("output", "udp dport 53 reject", "tcp dport 53 reject")),
    Scene("own firewall: output drop of one port", "this-machine", own("output", "tcp dport 80 drop"), TCP, endpoints=BY_ADDRESS),
    Scene("own firewall: output drop of port 53", "this-machine", own("output", "meta l4proto { tcp, udp } th dport 53 drop")),
    Scene("own firewall: output drop of port 443", "this-machine", own("output", "tcp dport 443 drop"), HTTPS, options={"tls": True}),
    # ---- slow
    Scene("a round trip of 0.3 s", "", slow(0.3), outcomes="ok degraded"),
    Scene("a round trip of 0.7 s", "provider", slow(0.7), outcomes="ok degraded"),
    Scene("a round trip of 0.7 s, by TLS", "provider", slow(0.7), HTTPS, "ok degraded", options={"tls": True}),
    Scene("a round trip of 1.5 s", "provider", slow(1.5), outcomes="ok degraded"),
    Scene("a round trip of 1.5 s in the LAN", "local-network", slow_lan(1.5), TCP, "ok degraded", endpoints=BY_ADDRESS),
    Scene("a name server takes 1.5 s", "name-server", delayed(DNS, 1.5), outcomes="ok degraded"),
    # ---- name servers
    Scene("the name server answers with a wrong id", "name-server", lambda net: names(net, wrong_id)),
    Scene("the name server's answers are malformed", "name-server", lambda net: names(net, garbage)),
    Scene("A is not answered, and AAAA is empty", "name-server", lambda net: names(net, only_aaaa)),
    Scene("AAAA is never answered", "name-server", lambda net: names(net, no_aaaa), outcomes="failed degraded"),
    Scene("the name server answers 0.0.0.0", "name-server", lambda net: names(net, says("0.0.0.0"))),
    Scene("the name server answers 0.0.0.0 for the target alone", "name-server", lambda net: names(net, lying_about("www.example.org", "0.0.0.0"))),
    Scene("the name server answers 127.0.0.1 for the target", "name-server", lambda net: names(net, lying_about("www.example.org", "127.0.0.1"))),
    Scene("the first of two name servers answers with a dead address", "name-server", poisoned),
    Scene("the name server refuses (REFUSED)", "name-server", lambda net: names(net, code(5))),
    Scene("the name server fails (SERVFAIL)", "name-server server", lambda net: names(net, code(2))),
    Scene("the name server is silent", "name-server", drop("servers", f"ip daddr {DNS} meta l4proto {{ tcp, udp }} th dport 53", hook="input"),
          endpoints=BY_ADDRESS),
    Scene("/etc/hosts contradicts the name server", "this-machine", hosts_file),
    # ---- the local network
    Scene("two machines with the gateway's address", "local-network", twin_of_gateway),
    Scene("two machines with this machine's address", "local-network this-machine", twin_of_machine),
    Scene("the default route leads to a printer", "this-machine local-network", printer),
    Scene("the default route leads to a printer, for an address", "this-machine local-network", printer, TCP, endpoints=BY_ADDRESS),
    Scene("a prefix length of 4", "this-machine local-network", wide_prefix, TCP, endpoints=BY_ADDRESS),
    Scene("a prefix length of 4, for a name", "this-machine local-network", wide_prefix),
    Scene("the gateway is off", "local-network", lambda net: net.ip("home", "link set lan0 arp off"), layers="gateway"),
    Scene("the gateway forbids it", "local-network", reject("home", f"ip daddr {WWW}", "with icmpx admin-prohibited"), TCP),
    # ---- the proxy
    Scene("the proxy's name does not exist", "this-machine proxy", proxy_environment("http://proxy.example.org:3128")),
    Scene("the proxy is off", "proxy", proxy_environment(f"http://{WWW}:3128")),
]
# ---- loss: no party is accused wrongly, and it is named from 5 % on
STRETCHES = {"lan": "local-network this-machine", "line": "provider local-network", "beyond": "provider"}
for _stretch, _parties in STRETCHES.items():
    for _share in (1, 2, 5, 10, 20, 30):
        SCENES.append(Scene(f"{_share} % loss, {_stretch}", _parties, lossy(_stretch, _share), HTTPS if _share == 10 else HTTP,
                            "ok degraded" if _share < 5 else "degraded", options={"tls": _share == 10},
                            says="%" if _share >= 5 else ""))
# The same to the other side: an echo shows the sum of both directions, and no answer says in which one a packet was lost.
for _stretch, _parties in STRETCHES.items():
    for _share in (5, 20):
        SCENES.append(Scene(f"{_share} % loss, {_stretch}, on the way there", _parties, lossy(_stretch, _share, "there"), HTTP, "degraded", says="%"))
