package import ReachCore

/// A client's order to make one attempt now.
package struct ProbeOrder: Hashable, Sendable {
    /// The name of a configured probe, or a URL.
    package var target: String
    /// The interface to bind to. With it the conditions of a configured probe do not count; `nil` leaves them as they
    /// are.
    package var interface: String?
    package var timeout: Duration?

    package init(target: String, interface: String? = nil, timeout: Duration? = nil) {
        self.target = target
        self.interface = interface
        self.timeout = timeout
    }
}

/// The result of a ``ProbeOrder``.
package struct ProbeAnswer: Hashable, Sendable {
    /// The probe's URL.
    package var target: String
    /// The name of the configured probe; `nil` if the order named a URL.
    package var name: String?
    package var result: ProbeResult

    package init(target: String, name: String?, result: ProbeResult) {
        self.target = target
        self.name = name
        self.result = result
    }
}
