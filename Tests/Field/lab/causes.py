"""Root causes on real hardware drivers: what broke below the route, said by the stream and by one-shot commands."""

import subprocess
import time
from pathlib import Path

from ground import read
from programs import run, wait_for
from table import situation

#: A DHCP client's script: what busybox's example does, without the name servers.
LEASE = """#!/bin/sh
case $1 in
    bound | renew)
        ip address replace "$ip/$mask" dev "$interface"
        ip route replace default via "$router" dev "$interface" metric 600 ;;
    deconfig)
        ip address flush dev "$interface" scope global
        ip link set "$interface" up ;;
esac
"""


@situation("dhcp", "a Wi-Fi network whose DHCP server does not answer, and then does")
def dhcp(ground):
    wifi = ground.wifi()
    wifi.join()
    script = Path("/run/lease")
    script.write_text(LEASE)
    script.chmod(0o755)
    ground.start()
    subprocess.Popen(["busybox", "udhcpc", "-f", "-i", "wlan0", "-s", str(script), "-t", "3", "-T", "1", "-A", "5"],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ground.change("a DHCP client asks")
    ground.expect("no answer", 2, status="not-reachable", root_cause="no-address", root_interface="wlan0")
    ground.expect_root_cause("no-address", "wlan0", "no answer")
    ground.change("it gives itself an address", lambda: run(
        "ip", "address", "add", "169.254.7.9/16", "dev", "wlan0", "scope", "link"))
    ground.expect("self-assigned", 1, status="not-reachable", root_cause="self-assigned-address", root_interface="wlan0")
    ground.expect_root_cause("self-assigned-address", "wlan0", "self-assigned")
    ground.change("the server answers", lambda: wifi.serve_leases("198.51.100.10,198.51.100.20"))
    ground.expect("a lease", 15, status="reachable", interface="wlan0")
    ground.check(len(ground.events("change")) <= 6, f"{len(ground.events('change'))} changes in all")


@situation("radio", "the radio is switched off by rfkill, and on again")
def radio(ground):
    wifi = ground.wifi()
    ground.begin(wifi)
    since = ground.change("flight mode", lambda: wifi.radio().write_text("1"))
    ground.expect("lost", 1, status="not-reachable", root_cause="radio-blocked", root_interface="wlan0")
    ground.change("a manager removes address and route", wifi.withdraw)
    time.sleep(2)
    ground.expect_root_cause("radio-blocked", "wlan0", "still")

    def switch_on():
        wifi.radio().write_text("0")
        # wpa_supplicant or a network manager brings the link up again.
        run("ip", "link", "set", "wlan0", "up")
    ground.change("the radio is on again", switch_on)
    wifi.await_carrier()
    ground.expect("joined", 5, status="not-reachable", root_cause="no-address", root_interface="wlan0")
    wifi.configure()
    ground.expect("back", 20, status="reachable", interface="wlan0")
    ground.expect_outages(since, 1)


@situation("cable", "a USB network adapter: the cable, the adapter, and the link set down")
def cable(ground):
    cable = ground.cable()
    ground.begin(cable)
    since = ground.change("the cable is pulled", lambda: cable.set_cable(False))
    ground.expect("lost", 2, status="not-reachable", root_cause="no-carrier", root_interface="eth0")
    ground.change("a manager removes address and route", cable.withdraw)
    time.sleep(1)
    ground.expect_root_cause("no-carrier", "eth0", "still")
    ground.change("the cable is back", lambda: cable.set_cable(True))
    cable.await_carrier()
    cable.configure()
    ground.expect("back", 3, status="reachable", interface="eth0")
    ground.change("the link is set down", lambda: run("ip", "link", "set", "eth0", "down"))
    ground.expect("lost", 1, status="not-reachable", root_cause="link-down", root_interface="eth0")
    ground.expect_root_cause("link-down", "eth0", "down")
    ground.change("it is set up", cable.start)
    cable.configure()
    ground.expect("back", 3, status="reachable", interface="eth0")
    ground.change("the adapter is pulled out", cable.unplug)
    ground.expect("lost", 1, status="not-reachable", root_cause="interface-gone", root_interface="eth0")
    ground.expect_outages(since, 3)


@situation("ipv6-off", "a network with IPv6 alone, and IPv6 is disabled by sysctl")
def ipv6_off(ground):
    cable = ground.cable()
    ground.begin(cable, families="6")
    setting = Path("/proc/sys/net/ipv6/conf/eth0/disable_ipv6")
    since = ground.change("IPv6 is disabled", lambda: setting.write_text("1"))
    ground.expect("lost", 1, status="not-reachable", root_cause="ipv6-disabled", root_interface="eth0")
    time.sleep(1)
    ground.check(ground.status()["root_cause"] == "ipv6-disabled", f"the stream: {ground.status()['root_cause']}")
    status = ground.one_shot("2001:db8::1")
    ground.check(status["root_cause"] == "ipv6-disabled", f"one-shot, of an IPv6 address: {status['root_cause']}")

    def enable():
        setting.write_text("0")
        cable.configure("6")
    ground.change("it is enabled", enable)
    ground.expect("back", 2, status="reachable", interface="eth0")
    ground.expect_outages(since, 1)


@situation("nothing", "a machine whose only adapter comes and goes before it was ever connected")
def nothing(ground):
    ground.start()
    ground.expect("no hardware", 1, status="not-reachable", root_cause="no-links", root_interface=None)
    cable = ground.cable()
    wait_for(lambda: read("/sys/class/net/eth0/carrier") == "1", "the cable is in")
    ground.change("an adapter, and its cable is in")
    ground.expect("no address", 2, status="not-reachable", root_cause="no-address", root_interface="eth0")
    ground.change("the cable is pulled", lambda: cable.set_cable(False))
    ground.expect("no carrier", 2, status="not-reachable", root_cause="no-carrier", root_interface="eth0")
    ground.change("the adapter is pulled out", cable.unplug)
    ground.expect("no hardware", 1, status="not-reachable", root_cause="no-links", root_interface=None)
