"""Situations of USB modems: with and without a network, pulled out, and without an answer."""

import time

from ground import VALIDATION, EtherModem
from table import situation


@situation("modem", "a modem registers, loses its network, and registers again")
def modem(ground):
    modem = ground.modem()
    ground.start()
    ground.expect("not registered", 1, status="not-reachable", root_cause="modem-not-connected", root_interface="wwan0")
    ground.expect_root_cause("modem-not-connected", "wwan0", "not registered")
    ground.change("it registers: address and route", modem.configure)
    event = ground.expect("registered", 0.5, status="reachable", interface="wwan0")
    if event:
        ground.check((event["status"]["class"], event["status"]["afnetworking"]) == ("wwan", 1), "class wwan, 1 for AFNetworking")
        ground.check(event["status"]["metered"], "metered")
    # Its link reports a carrier all along.
    since = ground.change("it loses its network: ModemManager removes address and route", modem.withdraw)
    ground.expect("lost", 0.5, status="not-reachable", root_cause="modem-not-connected", root_interface="wwan0")
    ground.expect_root_cause("modem-not-connected", "wwan0", "without a network")
    ground.change("it registers again", modem.configure)
    ground.expect("back", 0.5, status="reachable", interface="wwan0")
    ground.expect_outages(since, 1)


@situation("modem-carrier", "a modem whose link has a carrier only while it is registered")
def modem_carrier(ground):
    modem = ground.modem(EtherModem)
    ground.begin(modem)
    since = ground.change("no network", lambda: modem.set_cable(False))
    ground.expect("lost", 2, status="not-reachable", root_cause="modem-not-connected", root_interface="wwan0")
    time.sleep(5)
    ground.change("a network", lambda: modem.set_cable(True))
    ground.expect("back", 2, status="reachable", interface="wwan0")
    ground.expect_outages(since, 1)


@situation("modem-pulled", "a modem is pulled out and plugged in again")
def modem_pulled(ground):
    modem = ground.modem()
    event = ground.begin(modem)
    index = event["status"]["ipv4"]["ifindex"] if event else 0
    since = ground.change("it is pulled out", modem.unplug)
    ground.expect("gone", 1, status="not-reachable", root_cause="interface-gone", root_interface="wwan0")
    time.sleep(5)
    ground.change("it is plugged in", modem.plug_in)
    ground.expect("not registered yet", 2, status="not-reachable", root_cause="modem-not-connected",
                  root_interface="wwan0")

    def register():
        modem.start()
        modem.configure()
    ground.change("it registers", register)
    event = ground.expect("back", 3, status="reachable", interface="wwan0")
    if event:
        ground.check(event["status"]["ipv4"]["ifindex"] != index, "its interface has another index")
    ground.expect_outages(since, 1)


@situation("modem-silent", "a modem keeps its link and address, and nothing comes back", lasts=120)
def modem_silent(ground):
    modem = ground.modem()
    ground.begin(modem, families="4", configuration=VALIDATION)
    since = ground.change("the network discards all packets", lambda: modem.lose_packets(100))
    # The next check is due after at most 31.5 s, and a loss is three attempts of 2 s with waits of 1 and 2 s between.
    ground.expect_no_longer("no answer", 42, connectivity="full")
    # The kernel trusts a gateway for 15 to 45 s after its last answer, a time that it draws; then the next packet makes
    # it wait for 5 s and ask three times (Documentation/networking/ip-sysctl.rst: base_reachable_time, delay_first_probe_time).
    ground.expect("lost", 56, status="not-reachable", root_cause="gateway-unreachable", root_interface="wwan0")
    time.sleep(10)
    ground.change("packets come through again", lambda: modem.lose_packets(0))
    ground.expect("back", 40, status="reachable", interface="wwan0", connectivity="full")
    ground.expect_outages(since, 1)
