"""Scenes of the queue: requests that wait for an unmetered network, a link that is lost in an upload, a killed daemon."""

import contextlib
import hashlib
import json
import threading
import time
from pathlib import Path

from answers import serve
from namespaces import count_packets, inside, own_sysfs, packets
from programs import now, output_of, run
from stage import CLASSES, Reach, cable_and_modem

SERVER = "203.0.113.10"
# A server of an intranet, behind the cable's gateway, and the gateway itself, which is on the link.
INTRANET, NEIGHBOUR = "203.0.113.200", "192.0.2.1"
GATEWAYS = {"lan0": ("192.0.2.1", 100), "mob0": ("198.51.100.1", 700)}
# A path must last for a second before it counts, and starts after an outage are spread over at least 0.25 s (QueuePolicy).
START_BOUND = 1.3
# An attempt whose path is lost waits this long for the path to return (QueuePolicy.linger).
LINGER = 2


class Journal:
    """A web server that records the requests, and stops reading in the middle of one upload."""

    def __init__(self, namespace):
        self.lock = threading.Lock()
        self.requests = []
        self.stalled = threading.Event()
        self.delay = 0
        with inside(namespace):
            self.server = serve("", 80, self.handle)

    def handle(self, handler):
        if handler.path == "/upload" and not self.stalled.is_set():
            handler.rfile.read(int(handler.headers["Content-Length"]) // 2)
            self.stalled.set()
            # Without reads the window fills up, so the sender stops until its link is cut.
            handler.connection.settimeout(60)
            threading.Event().wait(60)
            return
        body = handler.body()
        if body is None:
            return
        time.sleep(self.delay)
        with self.lock:
            self.requests.append({"at": now(), "path": handler.path, "key": handler.headers.get("Idempotency-Key"),
                                  "hash": hashlib.sha256(body).hexdigest(), "from": handler.client_address[0]})
        handler.send(200)

    def seen(self, path=""):
        with self.lock:
            return [request for request in self.requests if request["path"].startswith(path)]


class Links:
    """A machine with a cable and a modem, and a namespace at the other end of both."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.internet, self.machine = cable_and_modem([f"{SERVER}/32", f"{INTRANET}/32"])
        run("ip", "link", "set", "lan0", "down")
        self.stack.enter_context(own_sysfs())
        count_packets(**{name: f'oifname "{name}" meta nfproto ipv4' for name in GATEWAYS})
        self.route("mob0")
        self.journal = Journal(self.internet)
        return self

    def __exit__(self, *_):
        self.journal.server.shutdown()
        self.stack.close()

    def route(self, name):
        gateway, metric = GATEWAYS[name]
        run("ip", "route", "add", "default", "via", gateway, "dev", name, "metric", metric)

    def bring_up(self, name):
        """Brings a link up, unless it is: scenes may be played alone."""
        if name not in output_of("ip", "route", "show", "default"):
            run("ip", "link", "set", name, "up")
            self.route(name)

    def bring_intranet(self):
        """Brings the cable up with routes to the intranet alone."""
        run("ip", "link", "set", "lan0", "down")
        run("ip", "link", "set", "lan0", "up")
        run("ip", "route", "add", f"{INTRANET}/32", "via", NEIGHBOUR, "dev", "lan0")

    def take_down(self, name):
        run("ip", "link", "set", name, "down")


class Play:
    def __init__(self, report, links, reach, options):
        self.report, self.links, self.reach, self.options = report, links, reach, options
        self.began = now()

    def change(self, text, action=lambda: None):
        self.began = now()
        action()
        self.report.say(f"0.00 s  {text}")

    def explain(self, identity, *words):
        """Prints the output of `reach queue explain`, and checks that it contains all these words."""
        text = self.reach.call("queue", "explain", identity)
        for line in text.rstrip().splitlines():
            self.report.say("    " + line)
        self.report.check(all(word in text for word in words), now() - self.began, "reach explain", " ".join(words))

    def add(self, *arguments):
        return int(self.reach.call("queue", "add", *arguments).split()[0])

    def event(self, word, identity=None, within=20):
        return self.reach.events.wait(
            lambda event: event["type"] == "queue" and event["event"] == word
            and (identity is None or event.get("id") == identity), self.began, within)

    def expect(self, word, identity, bound, since=None):
        event = self.event(word, identity, bound + 20)
        seconds = event["at"] - (self.began if since is None else since) if event else None
        self.report.check(event, seconds, "reach watch", f"request {identity} {word}", bound)
        return event

    def return_of(self, name):
        """When the daemon reported that the Internet is reachable through this link."""
        event = self.reach.events.wait(
            lambda event: event["type"] == "change" and event["status"]["interface"] == name, self.began, 10)
        return event["at"] if event else self.began

    # ------------------------------------------------------------ the scenes

    def unmetered(self):
        journal = self.links.journal
        self.change("only the modem is up; five requests are queued for an unmetered network")
        before = packets("mob0")
        ids = [self.add("--when", "unmetered", "-d", f"reading {number}", f"http://{SERVER}/reading/{number}") for number in range(5)]
        time.sleep(1)
        self.explain(ids[0], "waiting", "metered")
        sent = packets("mob0") - before
        self.report.check(sent == 0 and not journal.seen("/reading"), now() - self.began, "nft counter", f"{sent} packets left by the modem")
        self.change("the cable is back", lambda: self.links.bring_up("lan0"))
        back = self.return_of("lan0")
        for identity in ids[:1]:
            event = self.expect("started", identity, START_BOUND, back)
            self.report.check(event and event.get("interface") == "lan0", None, "reach watch", "it goes by lan0")
        for identity in ids:
            self.event("done", identity)
        last = self.event("started", ids[-1])
        self.report.check(last, last and last["at"] - back, "reach watch", "the last of them started", START_BOUND + 0.5)
        self.explain(ids[-1], "done")
        seen = journal.seen("/reading")
        self.report.check(len(seen) == 5 and {request["from"] for request in seen} == {"192.0.2.2"}, None, "server",
                          f"{len(seen)} requests, all from the cable's address")
        sent = packets("mob0") - before
        self.report.check(sent == 0, None, "nft counter", f"{sent} packets left by the modem")

    def cut_upload(self):
        size = 24_000_000
        file = self.links.directory / "upload"
        file.write_bytes(bytes(range(256)) * (size // 256))
        wanted = hashlib.sha256(file.read_bytes()).hexdigest()
        self.links.bring_up("lan0")
        self.change(f"an upload of {size // 1_000_000} MB, of which the server reads half")
        identity = self.add("--when", "unmetered", "-X", "POST", "-d", f"@{file}", f"http://{SERVER}/upload")
        self.links.journal.stalled.wait(30)
        time.sleep(0.5)
        self.explain(identity, "running", "by lan0")
        self.change("the cable is pulled", lambda: self.links.take_down("lan0"))
        self.expect("interrupted", identity, LINGER + 1.2)
        self.expect("waiting", identity, LINGER + 1.2)
        self.explain(identity, "waiting", "metered")
        before = packets("mob0")
        self.change("the cable is back", lambda: self.links.bring_up("lan0"))
        back = self.return_of("lan0")
        self.expect("started", identity, START_BOUND + 0.5, back)
        self.expect("done", identity, 10)
        arrived = self.links.journal.seen("/upload")
        self.report.check([request["hash"] for request in arrived] == [wanted], None, "server", "the whole file, once")
        item = json.loads(self.reach.call("queue", "show", "--json", identity))
        self.report.check(item["attempts"] == 0, None, "reach queue", f"{item['tries']} tries, {item['attempts']} of them failures")
        self.report.check(packets("mob0") == before, None, "nft counter", "nothing left by the modem")

    def sent_by(self, link, path, *arguments):
        """Queues a request, and checks that it is done at once, from this link's address."""
        identity = self.add(*arguments)
        self.expect("done", identity, START_BOUND)
        address = {"lan0": "192.0.2.2", "mob0": "198.51.100.2"}[link]
        sources = [request["from"] for request in self.links.journal.seen(path)]
        self.report.check(sources == [address], None, "server", f"{path} came once, from {link}'s address")

    def intranet(self):
        self.links.take_down("mob0")
        self.change("the cable leads to an intranet, without a default route; there is no modem", self.links.bring_intranet)
        self.report.check(self.reach.status()["status"] == "not-reachable", None, "reach status", "the Internet is not reachable")
        for target in (NEIGHBOUR, INTRANET):
            status = json.loads(self.reach.call("status", "--json", target))
            self.report.check(status["status"] == "reachable" and status["interface"] == "lan0", None, "reach status", f"{target} is reachable by lan0")
        world = self.add(f"http://{SERVER}/world")
        for when in ("any", "unmetered"):
            for host in (NEIGHBOUR, INTRANET):
                path = f"/{when}/{host}"
                self.sent_by("lan0", path, "--when", when, f"http://{host}{path}")
        self.explain(world, "waiting", "There is no network path")
        self.report.check(not self.links.journal.seen("/world"), now() - self.began, "server", "nothing for the Internet arrived")

        before = packets("mob0")
        self.change("a modem brings the Internet, and the cable stays", lambda: self.links.bring_up("mob0"))
        back = self.return_of("mob0")
        self.expect("done", world, START_BOUND + 0.5, back)
        self.report.check([request["from"] for request in self.links.journal.seen("/world")] == ["198.51.100.2"], None,
                          "server", "/world came once, from mob0's address")
        sent = packets("mob0")
        self.report.note(None, "nft counter", f"{sent - before} packets left by the modem for it")
        for host in (NEIGHBOUR, INTRANET):
            self.sent_by("lan0", f"/modem/{host}", f"http://{host}/modem/{host}")
        sent = packets("mob0") - sent
        self.report.check(sent == 0, None, "nft counter", f"{sent} packets left by the modem for hosts behind the cable")
        waits = self.add("--when", "unmetered", f"http://{SERVER}/later")
        self.explain(waits, "waiting", "Only metered connections are available.")
        self.reach.call("queue", "cancel", waits)

    def killed(self):
        count = 60 if self.options.quick else 200
        journal = self.links.journal
        self.links.bring_up("lan0")
        journal.delay = 0.02
        self.change(f"{count} requests, and the daemon is killed when a third has arrived")
        self.reach.call("queue", "hold", "--all")
        ids = [self.add("-d", f"line {number}", f"http://{SERVER}/line/{number}") for number in range(count)]
        self.began = now()
        self.reach.call("queue", "release", "--all")
        limit = now() + 60
        while len(journal.seen("/line")) < count // 3 and now() < limit:
            time.sleep(0.005)
        self.reach.kill()
        arrived = len(journal.seen("/line"))
        self.report.note(now() - self.began, "server", f"{arrived} had arrived when the daemon was killed")
        time.sleep(0.5)
        self.began = now()
        self.reach.start_daemon()
        states = {}
        while now() < limit + 60:
            items = map(json.loads, self.reach.call("queue", "list", "--json").splitlines())
            states = {item["id"]: item["state"] for item in items if item.get("id") in ids}
            if all(states.get(identity) == "done" for identity in ids):
                break
            time.sleep(0.1)
        lost = [identity for identity in ids if states.get(identity) != "done"]
        self.report.check(not lost, now() - self.began, "reach queue", f"{count - len(lost)} of {count} are done", 60)
        seen = journal.seen("/line")
        keys = {request["key"] for request in seen}
        paths = {request["path"] for request in seen}
        self.report.check(len(paths) == count and len(keys) == count, None, "server", f"{len(paths)} different ones arrived")
        self.report.check(len(seen) - count <= 4, None, "server", f"{len(seen) - count} came twice, with the same key")
        journal.delay = 0


SCENES = {
    "unmetered": ("requests for an unmetered network, and a modem", Play.unmetered),
    "cut": ("an upload whose link is lost in the middle", Play.cut_upload),
    "intranet": ("an intranet without a default route, then a modem as well", Play.intranet),
    "killed": ("a daemon that is killed while it sends", Play.killed),
}


def play(names, report, options, directory):
    with Links(directory) as links, Reach(options, directory, CLASSES) as reach:
        player = Play(report, links, reach, options)
        for name in names:
            report.begin(name, SCENES[name][0])
            SCENES[name][1](player)
