"""Situations of time: sleep, a clock that is set, and hours."""

import time
from pathlib import Path

from ground import VALIDATION, has_carrier
from programs import now, wait_for
from table import situation

#: A link that is up and down for so many seconds in turn, as in a train.
UP, DOWN = 2.5, 0.7

#: Starts after an outage are spread over a tenth of it, and at most a minute (QueuePolicy); then the request has to be sent.
SPREAD = 63


def sleep_machine(seconds):
    """Suspends the machine; a real-time clock wakes it. Returns how long it slept."""
    before, ran = now(), time.monotonic()
    alarm = Path("/sys/class/rtc/rtc0/wakealarm")
    alarm.write_text("0")
    alarm.write_text(f"+{seconds}")
    # "freeze" would let the clocks run on.
    Path("/sys/power/state").write_text("mem")
    return (now() - before) - (time.monotonic() - ran)


@situation("suspend", "the machine sleeps for ten minutes on Wi-Fi, with requests in its queue", lasts=700, needs="uml")
def suspend(ground):
    length = 600
    wifi = ground.wifi()
    ground.begin(wifi)
    # They wait for another link, and one of them not for longer than the machine sleeps.
    patient = ground.add("/item/patient", "-d", "1", "--when", "wwan")
    hasty = ground.add("/item/hasty", "-d", "1", "--when", "wwan", "--expires", f"{length // 2}s")
    slept = []
    since = ground.change(f"the machine sleeps for {length} s", lambda: slept.append(sleep_machine(length)))
    wake = ground.reach.events.wait(lambda event: event["type"] == "wake", since, 5)
    ground.check(wake, f"a wake event, with {wake and wake['slept_ms'] / 1000} s; the kernel counts {slept[0]:.1f} s")
    if wake:
        ground.check(abs(wake["slept_ms"] / 1000 - slept[0]) < 1, "the length is right")
    ground.check(slept[0] > length * 0.8, f"the machine slept for {slept[0]:.1f} s")
    # It slept with the machine whose radios it uses.
    wifi.points[0].stop()
    wifi.points[0].start()
    wait_for(lambda: has_carrier("wlan0"), "the station has joined again")
    ground.change("the station has joined again")
    ground.expect("back", 1, status="reachable", interface="wlan0")
    ground.expect_outages(since, 1)
    dead = [event for event in ground.events("queue", since) if event["event"] == "dead"]
    ground.check([event["id"] for event in dead] == [hasty] and dead[0]["reason"] == "expired",
                 f"the request whose time is over has expired: {[(event['id'], event['reason']) for event in dead]}")
    modem = ground.modem()
    ground.change("a modem registers", modem.configure)
    left = ground.await_done([patient], SPREAD)
    ground.check(not left, "the other one is sent", ground.elapsed, SPREAD)
    ground.check_delivery("/item/", {"/item/patient": patient}, {"/item/patient": {"cell"}})


@situation("suspend-apart", "a manager disconnects before the machine sleeps, and connects afterwards", lasts=700, needs="uml")
def suspend_apart(ground):
    length = 600
    wifi = ground.wifi()
    ground.begin(wifi)
    since = now()

    def disconnect():
        wifi.ask("disconnect")
        wifi.withdraw()
    ground.change("the manager disconnects", disconnect)
    ground.expect("lost", 1, status="not-reachable", root_cause="not-associated", root_interface="wlan0")
    waiting = ground.add("/item/waiting", "-d", "1")
    time.sleep(1)
    asleep = ground.change(f"the machine sleeps for {length} s", lambda: sleep_machine(length))
    wake = ground.reach.events.wait(lambda event: event["type"] == "wake", asleep, 5)
    ground.check(wake, f"a wake event, with {wake and wake['slept_ms'] / 1000} s")
    wifi.points[0].stop()
    wifi.points[0].start()

    def connect():
        wifi.ask("reconnect")
        wifi.await_carrier()
        wifi.configure()
    ground.change("it connects again", connect)
    event = ground.expect("back", 20, status="reachable", interface="wlan0")
    ground.check(not ground.await_done([waiting], SPREAD), "the request is sent", event and now() - event["at"], SPREAD)
    ground.check_delivery("/item/", {"/item/waiting": waiting}, {"/item/waiting": {"ap"}})
    ground.expect_outages(since, 1)


@situation("clock", "the clock is set forward by a day, and back", lasts=20)
def clock(ground):
    wifi = ground.wifi()
    wifi.join()
    wifi.configure()
    ground.start()
    waiting = ground.add("/item/waiting", "-d", "1", "--when", "wwan", "--expires", "1h")
    ground.expect("before", 1, status="reachable", interface="wlan0")
    time.sleep(2)
    for text, change in (("forward", 86_400), ("back", -86_400)):
        since = ground.change(f"the clock is set {text} by a day", lambda change=change: time.clock_settime(
            time.CLOCK_REALTIME, time.time() + change))
        ground.expect_quiet("nothing has happened", 5)
        ground.check(not ground.events("wake", since), "no wake event")
    dead = [event for event in ground.events("queue") if event["event"] == "dead"]
    ground.check(not dead, "a request that may wait for an hour still waits")
    modem = ground.modem()
    ground.change("a modem registers", modem.configure)
    ground.check(not ground.await_done([waiting], 10), "it is sent", ground.elapsed, 10)
    ground.check_delivery("/item/", {"/item/waiting": waiting})


@situation("quiet-hour", "an hour on Wi-Fi with validation every 30 s, in which nothing happens", lasts=3600, lasts_slow=60)
def quiet_hour(ground):
    wifi = ground.wifi()
    ground.begin(wifi, families="4", configuration=VALIDATION, within=5)
    ground.change("an hour")
    memory = ground.memory_mib()
    ground.expect_quiet("quiet", 3600 if ground.is_fast else 60)
    checks = len(ground.ledger.rows("/204"))
    ground.note(f"{checks} checks, {ground.memory_mib() - memory:+.1f} MiB")
    ground.check(ground.memory_mib() - memory < 4, f"{ground.memory_mib():.1f} MiB of memory, {memory:.1f} before")


@situation("flapping-hour", f"an hour in which a cable has a carrier for {UP} of every {UP + DOWN} s, with requests all along",
           lasts=3700, lasts_slow=90)
def flapping_hour(ground):
    length = 3600 if ground.is_fast else 60
    cable = ground.cable()
    ground.begin(cable)
    begin = ground.change(f"it flaps for {length} s")
    ids, cycles, memory = {}, 0, None
    while now() < begin + length:
        cable.set_cable(False)
        time.sleep(DOWN)
        cable.set_cable(True)
        time.sleep(UP / 2)
        if cycles % 10 == 0:
            path = f"/item/{cycles}"
            ids[path] = ground.add(path, "-d", "1")
        time.sleep(UP / 2)
        cycles += 1
        # After the first minutes memory must not grow.
        if memory is None and now() > begin + length / 6:
            memory = ground.memory_mib()
    arrived = len(ground.ledger.rows("/item/"))
    ground.note(f"{cycles} times up and down, {len(ids)} requests")
    ground.check(arrived >= 0.9 * len(ids), f"{arrived} of {len(ids)} requests arrived before it ends")
    ground.change("it stays up")
    ground.check(not ground.await_done(list(ids.values()), 120), "all are done", ground.elapsed, 120)
    ground.check_delivery("/item/", ids)
    lost, changes = ground.outages(begin), ground.events("change", begin)
    statuses = [event for event in changes if "status" in event["changed"]]
    ground.check(len(lost) <= cycles, f"{len(lost)} outages are reported")
    ground.check(len(statuses) <= 2 * cycles + 2, f"{len(statuses)} changes of the status")
    # A gateway whose address is learnt again may name the network.
    ground.check(len(changes) - len(statuses) <= cycles, f"{len(changes) - len(statuses)} other changes")
    starts = len([event for event in ground.events("queue", begin) if event["event"] == "started"])
    ground.check(starts <= 2 * len(ids), f"{starts} attempts for {len(ids)} requests")
    ground.check(ground.memory_mib() - memory < 4, f"{ground.memory_mib():.1f} MiB of memory, {memory:.1f} before")
    ground.check(not ground.events("dropped"), "no event was dropped")
