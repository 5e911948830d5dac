package import ReachCore

/// A probe as the user describes it. A new configuration that describes an equal probe keeps its history.
///
/// By default a probe runs every 30 s, and every 5 s after a failure; its timeout is 5 s, or four fifths of the
/// interval if that is shorter; it is down after three failures, and up after two successes.
package struct ProbeSpecification: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
    }

    /// Numbers of consecutive failures and successes that change the state.
    package struct Thresholds: Hashable, Sendable {
        package var down = 3
        package var up = 2

        package init(down: Int = 3, up: Int = 2) {
            self.down = down
            self.up = up
        }
    }

    package var name: String
    /// The group that it is shown with; `nil` for none.
    package var group: String?
    package var target: ProbeTarget
    package var interval: Duration = .seconds(30)
    /// `nil` means ``standardTimeout``.
    package var timeout: Duration?
    package var failingInterval: Duration = .seconds(5)
    package var thresholds = Thresholds()
    /// What the path must be. With an interface, every socket is bound to it; otherwise any term but `any` binds
    /// sockets to the interface of the kernel's path, which must satisfy it.
    package var condition = NetworkCondition.any
    /// The addresses to use; `nil` means those of either family.
    package var family: IPAddress.Family?
    package var method = Method.get
    /// Additional header fields of the request.
    package var headers: [HeaderField] = []
    /// Most redirects that are followed.
    package var redirects = 0
    /// Whether the certificate is read without being verified.
    package var acceptsAnyCertificate = false
    /// The number of echo requests of one attempt by icmp, if it sends several.
    package var burst: Int?
    /// Whether an attempt sends several also where the path is metered, or may be.
    package var burstsOnMetered = false
    /// Whether a name is not tested at addresses that mean another host on each machine: those of the loopback and of
    /// links. Who may name a host, but not its addresses, could otherwise ask this machine for what only it may see.
    package var refusesLocalAddresses = false
    package var expected = ExpectedAnswer()

    package init(name: String, target: ProbeTarget) {
        self.name = name
        self.target = target
    }

    /// The same probe, with one request for each attempt.
    package var withoutBurst: ProbeSpecification {
        var single = self
        single.burst = nil
        return single
    }

    /// The default timeout. A longer one would detect failures later, and an attempt must end before the next one
    /// starts.
    package var standardTimeout: Duration { min(.seconds(5) + sendingTime, interval * 4 / 5) }

    /// The time between two requests of a burst: hosts and routers limit how many they answer in a second, and what
    /// they leave out would look like loss.
    package static let burstSpacing = Duration.milliseconds(100)

    /// The time from the first request of an attempt to the last one.
    package var sendingTime: Duration { Self.burstSpacing * max(0, (burst ?? 1) - 1) }

    package var effectiveTimeout: Duration { timeout ?? standardTimeout }
}
