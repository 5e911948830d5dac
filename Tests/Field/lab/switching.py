"""Situations with several links and a queue: each request arrives once, by the right link, and none is lost."""

import threading
import time

from programs import now
from table import situation

#: Attempts notice a loss of their path, and starts after it wait for the new path to settle.
SETTLED = 3


class Requests:
    """Adds requests in turn, each with a condition, until it is stopped; remembers which networks are right for each."""

    #: Conditions, and the networks that satisfy them.
    CONDITIONS = (((), {"lan", "ap", "cell"}), (("--when", "unmetered"), {"lan", "ap"}), (("--when", "wifi"), {"ap"}),
                  (("--when", "wwan"), {"cell"}))

    def __init__(self, ground, conditions=CONDITIONS, pause=0.4):
        self.ground, self.conditions, self.pause = ground, conditions, pause
        self.ids, self.networks, self.added = {}, {}, {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._add, daemon=True)
        self._thread.start()

    def _add(self):
        number = 0
        while not self._ended.is_set():
            when, networks = self.conditions[number % len(self.conditions)]
            path = f"/item/{number}"
            self.networks[path] = networks
            self.added[path] = now()
            self.ids[path] = self.ground.add(path, "-d", f"item {number}", *when)
            number += 1
            self._ended.wait(self.pause)

    def stop(self):
        self._ended.set()
        self._thread.join()

    def check(self, within=60):
        """Checks that each has arrived once, by a network of its condition."""
        left = self.ground.await_done(list(self.ids.values()), within)
        self.ground.check(not left, f"{len(self.ids) - len(left)} of {len(self.ids)} requests are done", self.ground.elapsed, within)
        failed = [event for event in self.ground.events("queue") if event["event"] == "dead"]
        self.ground.check(not failed, f"{len(failed)} have failed for good")
        self.ground.check_delivery("/item/", self.ids, self.networks)

    def check_unconditional(self, since, until, network):
        """Checks that the requests without a condition that were added in this time left by this network."""
        paths = {path for path, at in self.added.items() if since <= at <= until and len(self.networks[path]) == 3}
        rows = [row for row in self.ground.ledger.rows("/item/") if row.path in paths]
        wrong = [row.path for row in rows if row.network != network]
        self.ground.check(rows and not wrong, f"{len(rows) - len(wrong)} of {len(rows)} without a condition by {network}" + (
            f"; not {wrong[:5]}" if wrong else ""))


def three_links(ground):
    cable, wifi, modem = ground.cable(), ground.wifi(), ground.modem()
    wifi.join()
    cable.await_carrier()
    return cable, wifi, modem


@situation("switch", "cable, Wi-Fi, cellular and back, with a manager that sets routes, and requests all along", lasts=60)
def switch(ground):
    cable, wifi, modem = three_links(ground)
    for network in (cable, wifi, modem):
        network.configure()
    ground.start()
    ground.expect("before", 1, status="reachable", interface="eth0")
    begin = now()
    requests = Requests(ground)
    spans = []

    def stay(network):
        began = now() + SETTLED
        time.sleep(SETTLED + 9)
        # What is added shortly before the next change may leave after it.
        spans.append((began, now() - 1, network))
        ground.note(f"{len(requests.ids)} requests so far")
    stay("lan")
    ground.change("the cable is pulled; the manager removes address and route", lambda: cable.set_cable(False))
    ground.expect("no carrier", 2, root_cause="no-carrier", root_interface="eth0")
    cable.withdraw()
    ground.expect("Wi-Fi", 4, status="reachable", interface="wlan0")
    stay("ap")
    ground.change("the access point stops; the manager removes address and route", wifi.points[0].stop)
    ground.expect("not associated", 2, root_cause="not-associated", root_interface="wlan0")
    wifi.withdraw()
    event = ground.expect("cellular", 4, status="reachable", interface="wwan0")
    ground.check(event and event["status"]["metered"], "metered")
    stay("cell")
    downward = ground.outages(begin)
    ground.check(len(downward) == 2, f"{len(downward)} outages on the way down, until the manager has acted; 2 is right")

    def rejoin():
        wifi.points[0].start()
        wifi.await_carrier()
        wifi.configure()
    upward = ground.change("the access point is back", rejoin)
    ground.expect("Wi-Fi", 10, status="reachable", interface="wlan0")
    stay("ap")

    def replug():
        cable.set_cable(True)
        cable.await_carrier()
        cable.configure()
    ground.change("the cable is back", replug)
    ground.expect("cable", 5, status="reachable", interface="eth0")
    stay("lan")
    ground.check(not ground.outages(upward), f"{len(ground.outages(upward))} outages on the way up")
    requests.stop()
    ground.change("no more requests")
    requests.check()
    for began, ended, network in spans:
        requests.check_unconditional(began, ended, network)


@situation("switch-alone", "cable, Wi-Fi and back without a manager: the kernel keeps the dead route", lasts=60)
def switch_alone(ground):
    cable, wifi = ground.cable(), ground.wifi()
    ground.begin(cable, wifi, families="4")
    begin = now()
    requests = Requests(ground, [((), {"lan", "ap"}), (("--when", "wifi"), {"ap"})])
    time.sleep(5)
    ground.change("the cable is pulled", lambda: cable.set_cable(False))
    ground.expect("the kernel still sends by eth0", 2, status="not-reachable", root_cause="no-carrier", root_interface="eth0")
    time.sleep(8)
    ground.change("the cable is back", lambda: cable.set_cable(True))
    ground.expect("cable", 3, status="reachable", interface="eth0")
    time.sleep(5)
    requests.stop()
    ground.change("no more requests")
    requests.check()
    ground.expect_outages(begin, 1)


@situation("switch-pulled", "the adapter and then the modem are pulled out and plugged in again, with requests all along", lasts=60)
def switch_pulled(ground):
    cable, modem = ground.cable(), ground.modem()
    ground.begin(cable, modem)
    begin = now()
    requests = Requests(ground, [((), {"lan", "cell"}), (("--when", "unmetered"), {"lan"}), (("--when", "wwan"), {"cell"})])
    time.sleep(5)
    ground.change("the adapter is pulled out", cable.unplug)
    ground.expect("cellular", 1, status="reachable", interface="wwan0")
    time.sleep(8)
    lost = ground.change("the modem is pulled out, too", modem.unplug)
    ground.expect("nothing is left", 1, status="not-reachable", root_cause="interface-gone")
    time.sleep(8)
    arrived = [row for row in ground.ledger.rows("/item/") if row.at > lost + 1]
    ground.check(not arrived, f"{len(arrived)} requests arrived meanwhile")

    def plug_in():
        cable.plug_in()
        cable.start()
        cable.await_carrier()
        cable.configure()
    ground.change("the adapter is plugged in again", plug_in)
    ground.expect("cable", 3, status="reachable", interface="eth0")
    time.sleep(5)

    def plug_in_modem():
        modem.plug_in()
        modem.start()
        modem.configure()
    ground.change("the modem is plugged in again", plug_in_modem)
    time.sleep(5)
    requests.stop()
    ground.change("no more requests")
    requests.check()
    ground.expect_outages(begin, 1)
