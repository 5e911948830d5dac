extension MonitorInterface {
    /// What is in io.reach.Monitor.varlink beside this file: a string, since a program that is linked statically has no
    /// place to find a resource in. A test compares the two.
    package static let definition = """
        # Tells whether targets can be reached from this machine, through what, and since when.
        #
        # A target is written as on reach's command line: "internet", a host name, an address, a prefix, "interface:NAME" or a
        # URL; the Internet where none is given. The objects are those that `reach status --json` and `reach watch --json` print;
        # reach-events(7) explains every key. Later versions may add keys and words: ignore those that you do not know.
        interface io.reach.Monitor

        # The state of a target.
        #   status        "reachable", "not-reachable" or "unknown"
        #   class         "wired", "wifi", "wwan", "bluetooth", "tunnel", "virtual", "loopback", "other"; null if not reachable
        #   reason        a word that tells why it is not reachable or not known; null if it is reachable
        #   afnetworking  -1 unknown, 0 not reachable, 1 reachable through WWAN, 2 reachable through anything else
        #   connectivity  what probes have proved: "unknown", "none", "portal", "limited", "full"
        #   portal        the page on which a portal wants a login; null if there is none, or its address is not known
        #   validated     probes run to find out about connectivity and portal
        #   since         when the status became what it is
        #   epoch         goes up whenever path, source or gateway of the Internet change
        #   stale         the kernel cannot be observed at the moment: this is what was last known
        #   held          the status differs now, and a hold-down waits to see whether that lasts
        #   flaps         how many times the target went away and came back
        # Times are in UTC as RFC 3339 has them; boottime_ns is CLOCK_BOOTTIME in nanoseconds.
        type TargetStatus (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          source: string,
          target: string,
          status: string,
          class: ?string,
          interface: ?string,
          reason: ?string,
          afnetworking: int,
          metered: bool,
          connectivity: string,
          portal: ?string,
          validated: bool,
          since: string,
          epoch: int,
          stale: bool,
          held: bool,
          flaps: int,
          ipv4: Path,
          ipv6: Path
        )

        # How the kernel would send to a target in one family, or why it would not. What follows the status is there only if the
        # kernel named an interface; the reason is always there.
        #   lower      names of the links below a stacked or tunnel link, nearest first
        #   gateway    null if the target is on the link itself
        #   neighbour  what the kernel knows of the gateway, or of the target on the link: "reachable", "stale", "failed", ...
        #   connectivity  what probes have proved of this path
        type Path (
          status: string,
          interface: ?string,
          ifindex: ?int,
          class: ?string,
          lower: ?[]string,
          gateway: ?string,
          source: ?string,
          table: ?int,
          metric: ?int,
          neighbour: ?string,
          metered: ?bool,
          connectivity: ?string,
          reason: ?string
        )

        # What held before a change.
        type Summary (
          status: string,
          class: ?string,
          interface: ?string,
          reason: ?string
        )

        # Something that happened. seq goes up by one with every event of a connection.
        #   "snapshot"  the state now: the first event (initial is true then), the one after "dropped", and one that says that what
        #               was told as stale holds
        #   "change"    a difference: changed lists "status", "path", "class", "connectivity", "metered"
        #   "resync"    notices of the kernel were lost and everything was read anew; differences follow
        #   "wake"      the machine slept for slept_ms; differences follow
        #   "probe"     a configured probe: event is "up", "down", "paused", "resumed" or "result"; with the Internet's events
        #   "queue"     something happened to a request of the caller's, or for root to any, or to the queue as a whole: only to those
        #               who asked for it. The other keys are those of the type Event of io.reach.Queue; status is a number then, the
        #               HTTP status
        #   "dropped"   count events were not sent, since they were not read fast enough; a snapshot follows
        type Event (
          v: int,
          type: string,
          seq: int,
          time: string,
          boottime_ns: int,
          initial: ?bool,
          cause: ?string,
          changed: ?[]string,
          previous: ?Summary,
          status: ?TargetStatus,
          reason: ?string,
          slept_ms: ?int,
          count: ?int,
          event: ?string,
          probe: ?ProbeReport,
          epoch: ?int,
          id: ?int,
          user: ?int,
          attempt: ?int,
          interface: ?string,
          blockers: ?[]string,
          not_before: ?string,
          destination: ?string,
          when: ?string
        )
        # What came of one attempt to reach what a probe names.
        #   probe              the name of the configured probe; null for a URL that somebody asked for
        #   outcome            "ok", "fail" (the other side) or "inconclusive" (this machine could not tell)
        #   reason             a word that tells why; null if it is ok
        #   detail             the same in a sentence
        #   phases             how long the parts took that were reached, in microseconds
        #   certificate_days   whole days that the certificate is still good for; negative when it has ended
        type ProbeResult (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          probe: ?string,
          target: string,
          outcome: string,
          reason: ?string,
          detail: string,
          duration_us: int,
          phases: ProbePhases,
          address: ?string,
          interface: ?string,
          http_status: ?int,
          certificate_until: ?string,
          certificate_days: ?int
        )

        type ProbePhases (
          resolve_us: ?int,
          connect_us: ?int,
          tls_us: ?int,
          processing_us: ?int,
          transfer_us: ?int
        )

        # A configured probe.
        #   state     "up", "down", or "unknown" before results have decided
        #   paused    why nothing is sent: "no-path", "interface", "class"; null if it runs
        #   next      when the next attempt is due; null while paused
        #   latency   of the attempts that were ok; null if there was none
        #   last      the latest result; null if there is none
        #   beats     a letter for each of the latest: o(k), f(ail), i(nconclusive), p(aused); not in events
        #   beats_us  how long each of them took
        type ProbeReport (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          probe: string,
          target: string,
          state: string,
          since: string,
          paused: ?string,
          interval_ms: int,
          next: ?string,
          uptime: ProbeUptime,
          latency: ?ProbeLatency,
          last: ?ProbeResult,
          beats: ?string,
          beats_us: ?[]int
        )

        # For how long what held, since the daemon watches it. availability is ok_ms of ok_ms and fail_ms; null if both are 0.
        type ProbeUptime (
          ok_ms: int,
          fail_ms: int,
          paused_ms: int,
          inconclusive_ms: int,
          availability: ?float
        )

        type ProbeLatency (
          count: int,
          p50_us: int,
          p90_us: int,
          p99_us: int
        )

        # A link of the machine.
        #   alternative_names  its other names
        #   operstate     the kernel's operational state; null if it does not tell
        #   kind          what made it, such as "vlan" or "wireguard"; null for hardware
        #   controller    the bridge, bond, team or VRF that it is a port of
        #   lower         names of the links that carry it, nearest first
        #   trouble       why nothing can be sent through it; null if nothing is known against it
        #   broken_lower  the link below that is broken and takes this one along
        #   internet      the families in which the way to the Internet leaves by it
        type Link (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          source: string,
          ifindex: int,
          interface: string,
          alternative_names: []string,
          class: string,
          up: bool,
          running: bool,
          operstate: ?string,
          kind: ?string,
          controller: ?string,
          lower: []string,
          trouble: ?string,
          broken_lower: ?string,
          metered: bool,
          mtu: int,
          addresses: []Address,
          internet: (ipv4: bool, ipv6: bool)
        )

        # An address of a link.
        type Address (
          address: string,
          prefix_length: int,
          family: string,
          ready: bool,
          duplicate: bool,
          preferred: bool,
          deprecated: bool
        )

        # Why a target is reachable or not.
        type Explanation (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          source: string,
          target: string,
          status: string,
          class: ?string,
          interface: ?string,
          reason: ?string,
          metered: bool,
          ipv4: Account,
          ipv6: Account
        )

        # What was looked at in one family, in the order in which a packet would meet it.
        type Account (
          status: string,
          reason: ?string,
          steps: []Step
        )

        # One thing that was looked at.
        #   subject  "target", "name", "rule", "route", "link", "lower", "source", "neighbour" or "verdict"
        #   finding  "good", "bad" or "neutral"
        #   text     English sentences for people
        type Step (
          subject: string,
          finding: string,
          text: string
        )

        # The state of a target now.
        method Status(target: ?string) -> (status: TargetStatus)

        # The state of a target now, and every change from then on; if queue is true, also what happens to the caller's requests
        # (for root, to all). Call it with "more". Further calls on the same connection are not answered.
        method Watch(target: ?string, queue: ?bool) -> (event: Event)

        # All links of the machine, by index.
        method Links() -> (links: []Link)

        # Why a target is reachable or not, step by step. Takes some seconds if a name is not resolved at once.
        method Explain(target: ?string) -> (explanation: Explanation)

        # The network namespace that is watched, by the number of /proc/self/ns/net; null if that is not known. A program that
        # found the daemon by itself should see whether it is its own.
        method NetworkNamespace() -> (inode: ?int)

        # Makes one attempt now, and tells what came of it. The target is the name of a configured probe, or a URL: that is for root, the
        # daemon's own user, and the group that the configuration names. Other users have one attempt a second: further ones wait, up
        # to eight of them.
        method Probe(target: ?string, interface: ?string, timeout_ms: ?int) -> (result: ProbeResult)

        # The configured probes, in the order of the configuration.
        method Probes() -> (probes: []ProbeReport)

        # Reads the configuration anew. For root, the daemon's own user, and the group that the configuration names.
        method Reload() -> ()

        # The text is no target, for this reason.
        error InvalidTarget (target: string, reason: string)

        # The kernel cannot be observed.
        error CannotObserve (reason: string)

        # The caller may not call this method.
        error PermissionDenied (method: string)

        # There are so many connections already, of all users or of one. The connection is closed.
        error TooManyConnections (limit: int)

        # So many different targets are watched already, by all users or by the caller's.
        error TooManyTargets (limit: int)

        # This daemon cannot do that, for this reason.
        error NotAvailable (reason: string)

        # The new configuration has a mistake. The old one is kept.
        error BadConfiguration (reason: string)

        """
}
