"""Situations in which everything works up to the gateway: what lies behind it falls silent, loses packets, or is another table's."""

import time

from ground import METRICS, TALKERS, VALIDATION
from programs import now, run
from table import situation

#: A second without an answer to several transmissions, then a test of 1.5 s.
SILENCE = 4
FOUND, TESTS = "reach_silence_found_total", "reach_silence_tests_total"


def fall_silent(ground, network):
    """The Internet behind this network falls silent under three programs, and returns."""
    network.configure("4")
    ground.start(VALIDATION + METRICS)
    begin = now()
    ground.expect("before", 10, status="reachable", interface=network.name, connectivity="full")
    with network.talk():
        # Past the time for which a check that was just made proves the path.
        time.sleep(6)
        ground.change("everything beyond the gateway is dark, while three programs send", lambda: network.set_dark(True))
        ground.expect("dark", SILENCE, status="reachable", interface=network.name, connectivity="limited")
        waiting = ground.add("/item/waiting", "--when", "validated")
        time.sleep(20)
        ground.check(not ground.ledger.rows("/item/"), "a request that needs a proven path waits")
        ground.change("it is back", lambda: network.set_dark(False))
        ground.expect("back", SILENCE, status="reachable", interface=network.name, connectivity="full")
        ground.check(not ground.await_done([waiting], 10), "the request is sent", ground.elapsed, 10)
        ground.check_delivery("/item/", {"/item/waiting": waiting})
    ground.check(not ground.outages(begin), "the kernel's verdict was reachable all along")
    ground.check(ground.metric(FOUND) == 1, f"silence was found {ground.metric(FOUND)} times")


@situation("dark-wifi", "the Internet behind Wi-Fi falls silent while programs send", lasts=60)
def dark_wifi(ground):
    wifi = ground.wifi()
    wifi.join()
    fall_silent(ground, wifi)


@situation("dark-modem", "the Internet behind a modem falls silent while programs send", lasts=60)
def dark_modem(ground):
    fall_silent(ground, ground.modem())


@situation("dark-cable", "the Internet behind the cable falls silent while programs send, and Wi-Fi is there", lasts=60)
def dark_cable(ground):
    cable, wifi = ground.cable(), ground.wifi()
    ground.begin(cable, wifi, families="4", configuration=VALIDATION + METRICS)
    with cable.talk():
        time.sleep(6)
        ground.change("everything behind the cable's gateway is dark", lambda: cable.set_dark(True))
        ground.expect("dark", SILENCE, interface="eth0", connectivity="limited")
        waiting = ground.add("/item/validated", "--when", "validated")
        ground.check(not ground.await_done([waiting], 40), "a request that needs a proven path is sent", ground.elapsed, 60)
        ground.check_delivery("/item/", {"/item/validated": waiting}, {"/item/validated": {"ap"}})


@situation("dead-host", "one of three hosts falls silent", lasts=120)
def dead_host(ground):
    wifi = ground.wifi()
    ground.begin(wifi, families="4", configuration=VALIDATION + METRICS)
    with wifi.talk():
        time.sleep(6)
        ground.change("one host is dead", lambda: wifi.set_dark(True, TALKERS[:1]))
        ground.expect_quiet("two others answer", 60)
        ground.check(ground.metric(FOUND) == 0, f"silence was found {ground.metric(FOUND)} times")


@situation("noise", "half of all packets are lost each way for ten minutes, while programs send", lasts=660, lasts_slow=120)
def noise(ground):
    length = 600 if ground.is_fast else 60
    wifi = ground.wifi()
    ground.begin(wifi, families="4", configuration=VALIDATION + METRICS)
    with wifi.talk():
        time.sleep(6)
        since = ground.change(f"half of all packets are lost, for {length} s", lambda: wifi.lose_packets_both_ways(50))
        time.sleep(length)
        ground.check(ground.metric(FOUND) == 0, f"silence was found {ground.metric(FOUND)} times, by {ground.metric(TESTS)} tests")
        words = [event["status"]["connectivity"] for event in ground.events("change", since)
                 if "connectivity" in event["changed"]]
        ground.note(f"the connectivity changed {len(words)} times: {', '.join(words) or 'never'}")
        ground.note(f"{len(ground.outages(since))} outages, of a gateway that does not answer ARP")
        ground.change("no packet is lost", lambda: wifi.lose_packets_both_ways(0))
        ground.expect("afterwards", 60, status="reachable", interface="wlan0", connectivity="full")


@situation("vrf", "a modem that is a port of a VRF, and a cable that comes and goes", lasts=30)
def vrf(ground):
    cable, modem = ground.cable(), ground.modem()
    cable.await_carrier()
    run("ip", "link", "add", "blue", "type", "vrf", "table", "1010")
    run("ip", "link", "set", "blue", "up")
    run("ip", "link", "set", "wwan0", "master", "blue")
    run("ip", "address", "replace", f"{modem.near_address}/{modem.length}", "dev", "wwan0")
    run("ip", "route", "replace", "default", "via", modem.gateway, "dev", "wwan0", "table", "1010")
    cable.configure("4")
    ground.start()
    ground.expect("before", 1, status="reachable", interface="eth0")
    waiting = ground.add("/item/wwan", "--when", "wwan")
    time.sleep(5)
    ground.check(not ground.ledger.rows("/item/"), "a request for a modem does not leave by the VRF")
    since = ground.change("the modem leaves the VRF", lambda: (run("ip", "link", "set", "wwan0", "nomaster"), modem.configure("4")))
    ground.check(not ground.await_done([waiting], 10), "the request is sent", ground.elapsed, 10)
    ground.check_delivery("/item/", {"/item/wwan": waiting}, {"/item/wwan": {"cell"}})
    ground.expect_outages(since, 0)


# `ip vrf exec` needs CONFIG_CGROUP_BPF.
@situation("vrf-exec", "programs that run in a VRF, and others that do not", lasts=15, needs="debian")
def vrf_exec(ground):
    cable = ground.cable()
    cable.await_carrier()
    run("ip", "link", "add", "red", "type", "vrf", "table", "1011")
    run("ip", "link", "set", "red", "up")
    run("ip", "link", "set", "eth0", "master", "red")
    run("ip", "address", "replace", f"{cable.near_address}/{cable.length}", "dev", "eth0")
    run("ip", "route", "replace", "default", "via", cable.gateway, "dev", "eth0", "table", "1011")
    inside, outside = ground.one_shot(vrf="red"), ground.one_shot()
    ground.check((inside["status"], inside["interface"]) == ("reachable", "eth0"), "a program in the VRF has its path")
    ground.check(outside["status"] == "not-reachable", "one outside has none")
    named = ground.one_shot("--vrf", "red")
    ground.check((named["status"], named["interface"]) == ("reachable", "eth0"), "one outside that names the VRF has it")
    run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(ground.programs / "reach"), "status", "--no-daemon",
        "--vrf", "red")
    run("ip", "route", "delete", "default", "table", "1011")
    ground.check(ground.one_shot(vrf="red")["status"] == "not-reachable", "none, once the VRF has no route")
