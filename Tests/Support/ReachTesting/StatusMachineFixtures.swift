package import ReachCore

extension Verdict {
    package static func via(
        _ interface: String, _ linkClass: LinkClass = .wired, gateway: String? = "192.0.2.1", isMetered: Bool = false
    ) -> Verdict {
        var path = NetworkPath(status: .reachable)
        path.interface = interface
        path.linkClass = linkClass
        path.gateway = gateway.flatMap(IPAddress.init)
        path.isMetered = isMetered
        return Verdict(ipv4: path, ipv6: NetworkPath(status: .notReachable, reason: .noRoute))
    }

    package static let eth0 = via("eth0")
    package static let lost = Verdict(.notReachable, reason: .noRoute)
    package static let noCarrier = Verdict(.notReachable, reason: .noCarrier)
    package static let blind = Verdict(.unknown, reason: .cannotObserve)
}

extension Instant {
    /// The instant this many seconds after the test began. The wall clock is a thousand seconds ahead of the boot
    /// clock.
    package static func at(_ seconds: Double) -> Instant {
        let nanoseconds = Int64((seconds * 1e9).rounded())
        return Instant(
            wall: Timestamp(nanosecondsSince1970: nanoseconds + 1_000_000_000_000),
            boot: BootTime(nanoseconds: nanoseconds))
    }
}

extension BootTime {
    package static func at(_ seconds: Double) -> BootTime { Instant.at(seconds).boot }
}

extension StatusMachine {
    /// A machine whose first verdict was `first`.
    package static func begun(with first: Verdict = .eth0, holdDown: HoldDown = HoldDown()) -> StatusMachine {
        var machine = StatusMachine(target: .internet, holdDown: holdDown, at: .at(0))
        _ = machine.observe(first, cause: .start, epoch: 1, at: .at(0))
        return machine
    }

    package mutating func see(_ verdict: Verdict, at seconds: Double, cause: Cause = .routeAdded) -> ReachabilityChange?
    {
        observe(verdict, cause: cause, epoch: 1, at: .at(seconds))
    }
}
