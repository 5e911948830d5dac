"""Situations of Wi-Fi: stations, access points and WPA2 over simulated radios."""

import time
from pathlib import Path

from ground import has_carrier
from programs import now, wait_for
from table import situation

#: Without beacons for so long the kernel gives an access point up (mac80211: seven beacons, then probes).
SILENCE = 12


@situation("join", "a machine without an address joins a Wi-Fi network", lasts=30)
def join(ground):
    wifi = ground.wifi()
    ground.start()
    ground.expect("before", 1, status="not-reachable", root_cause="link-down", root_interface="wlan0")
    ground.change("wpa_supplicant starts", lambda: wifi.join())
    ground.expect("joined", 3, status="not-reachable", root_cause="no-address", root_interface="wlan0")
    ground.change("address and route", wifi.configure)
    event = ground.expect("reachable", 0.5, status="reachable", interface="wlan0")
    if event:
        ground.check(event["status"]["afnetworking"] == 2 and event["status"]["class"] == "wifi", "class wifi, 2 for AFNetworking")
        ground.check(not event["status"]["metered"], "not metered")
    ground.expect_quiet("a network that works", 20)


@situation("roaming", "the station roams between two access points with one name")
def roaming(ground):
    wifi = ground.wifi(access_points=2)
    ground.begin(wifi)
    begin = now()
    for _ in range(3):
        here = wifi.state()["bssid"]
        there = next(point.address for point in wifi.points if point.address != here)
        wifi.find(there)
        since = ground.change("it roams")
        answer = wifi.ask("roam", there)
        wait_for(lambda there=there: (wifi.state().get("bssid"), wifi.state().get("wpa_state")) == (there, "COMPLETED"),
                 f"it is at the other access point ({answer})")
        ground.note("wpa_supplicant has joined the other one")
        ground.expect_outages(since, 0)
        roams = [event for event in ground.events("change", since) if event["cause"] == "roam"]
        ground.check(len(roams) == 1 and roams[0]["changed"] == ["path"], f"{len(roams)} changes of the path by roaming; 1 is right")
    ground.expect("afterwards", 1, status="reachable", interface="wlan0")
    ground.check(not ground.outages(begin), "the status was reachable all along")


@situation("goodbye", "the only access point says goodbye, and comes back")
def goodbye(ground):
    wifi = ground.wifi()
    ground.begin(wifi)
    since = ground.change("the access point stops", wifi.points[0].stop)
    ground.expect("lost", 1, status="not-reachable", root_cause="not-associated", root_interface="wlan0")
    ground.change("a manager removes address and route", wifi.withdraw)
    time.sleep(10)
    ground.check(ground.status()["root_cause"] == "not-associated", "the root cause stays: " + str(ground.status()["root_cause"]))
    ground.change("the access point is back", wifi.points[0].start)
    wifi.await_carrier()
    wifi.configure()
    ground.expect("back", 20, status="reachable", interface="wlan0")
    ground.expect_outages(since, 1)


@situation("silent", "the access point loses its power, and gets it back")
def silent(ground):
    wifi = ground.wifi()
    ground.begin(wifi)
    since = ground.change("the access point falls silent", wifi.points[0].fall_silent)
    ground.expect("lost", SILENCE, status="not-reachable", root_cause="not-associated", root_interface="wlan0")
    time.sleep(10)
    ground.change("it has power again", wifi.points[0].start)
    ground.expect("back", 20, status="reachable", interface="wlan0")
    ground.expect_outages(since, 1)


@situation("silent-roam", "one of two access points loses its power; the station finds the other")
def silent_roam(ground):
    wifi = ground.wifi(access_points=2)
    ground.begin(wifi)
    here = wifi.state()["bssid"]
    point = next(point for point in wifi.points if point.address == here)
    since = ground.change("its access point falls silent", point.fall_silent)
    wait_for(lambda: not has_carrier("wlan0"), "the kernel gives it up")
    ground.note("the kernel has given it up")
    wait_for(lambda: has_carrier("wlan0"), "the station is back")
    ground.change("the station has joined the other one")
    ground.expect("back", 1, status="reachable", interface="wlan0")
    ground.expect_outages(since, 1)


@situation("wrong-password", "the station has a wrong password, then the right one", lasts=90)
def wrong_password(ground):
    wifi = ground.wifi()
    ground.start()
    since = ground.change("wpa_supplicant starts with a wrong password", lambda: wifi.join("not-the-passphrase", wait=False))
    ground.expect("refused", 30, status="not-reachable", root_cause="authentication-failed", root_interface="wlan0")
    time.sleep(30)
    tries = len(ground.events("change", since))
    ground.check(tries <= 40, f"{tries} changes in {ground.elapsed:.0f} s")
    ground.check(ground.status()["root_cause"] == "authentication-failed", f"the root cause stays: {ground.status()['root_cause']}")

    def right_password():
        wifi.ask("terminate")
        wait_for(lambda: not Path("/run/wpa_supplicant/wlan0").exists(), "wpa_supplicant ends")
        wifi.join()
    ground.change("wpa_supplicant starts with the right password", right_password)
    ground.expect("let in", 20, status="not-reachable", root_cause="no-address", root_interface="wlan0")
    ground.change("address and route", wifi.configure)
    ground.expect("reachable", 1, status="reachable", interface="wlan0")


@situation("deaf", "the station stays joined, and no packet comes back", lasts=90)
def deaf(ground):
    wifi = ground.wifi()
    ground.begin(wifi, families="4")
    since = ground.change("the far end loses all packets", lambda: wifi.lose_packets(100))
    # Somebody has to send for the kernel to notice.
    ground.ping(wifi.gateway, 25)
    ground.expect("lost", 60, status="not-reachable", root_cause="gateway-unreachable", root_interface="wlan0")
    ground.change("packets come through again", lambda: wifi.lose_packets(0))
    ground.ping(wifi.gateway, 5)
    ground.expect("back", 10, status="reachable", interface="wlan0")
    ground.expect_outages(since, 1)

