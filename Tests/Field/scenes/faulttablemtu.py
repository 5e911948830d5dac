"""The scenes of `faults` about links that carry only small packets, where nothing says so: 21, chosen by `--only MTU`.

Such links are those of PPPoE, of tunnels and of NAT64; what reports a packet as too big is filtered on the way, and no
router lowers the segments' size. Hop 1 is the LAN, hop 2 the line to the provider, hop 3 is inside the provider's network.
"""

from faulttable import BY_ADDRESS, ENDPOINTS, Scene
from smallinternet import DNS, WWW

PORT = 8080
BY_NAME, LITERAL = f"http://www.example.org:{PORT}/", f"http://{WWW}:{PORT}/"
# Which end of which link is small, and who may be blamed: the line's ends are the home's and the provider's.
HOPS = {1: ((("home", "lan0"),), "local-network"),
        2: ((("home", "wan0"), ("first", "down0")), "provider local-network"),
        3: ((("first", "up0"), ("last", "down0")), "provider")}
# Which of the servers answer echo requests. A host that answers none is no measure of loss.
QUIET = {"the name server answers pings": f"ip daddr {WWW} icmp type echo-request drop",
         "no server answers pings": "icmp type echo-request drop"}
DEAF = f"ip daddr {DNS} meta l4proto {{ tcp, udp }} th dport 53 drop"


def long_page(page):
    """Its headers alone fill many segments."""
    page.send_response(200)
    page.send_header("Content-Length", "60000")
    page.send_header("X-Long", "x" * 20000)
    page.end_headers()
    page.wfile.write(b"x" * 60000)


def small(hop, size, *rules):
    """Makes the link of a hop as small as that; no router says that a packet is too big, and servers follow the rules."""
    def breaks(net):
        for node, link in HOPS[hop][0]:
            net.ip(node, f"link set {link} mtu {size}")
        for node in ("home", "first", "last"):
            net.chain(node, "output", "icmp type destination-unreachable icmp code frag-needed drop", "icmpv6 type packet-too-big drop")
        net.chain("servers", "input", *rules)
        net.web(WWW, PORT, answer=long_page)
    return breaks


def scene(hop, size, said, target, endpoints, *rules):
    return Scene(f"MTU of {size} at hop {hop}, {said}", HOPS[hop][1], small(hop, size, *rules), target, endpoints=endpoints,
                 says="large packets")


SCENES_MTU = [scene(hop, size, said, BY_NAME, ENDPOINTS, rule) for hop in HOPS for size in (576, 1280, 1400) for said, rule in QUIET.items()]
# 1492 is PPPoE's. Names play no part: nothing shows the line's quality but the target, which answers no ping.
SCENES_MTU += [scene(hop, 1492, "no name server answers", LITERAL, BY_ADDRESS, DEAF, QUIET["no server answers pings"]) for hop in HOPS]
