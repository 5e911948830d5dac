package import ReachCore

/// What somebody wants to be probed now.
package struct ProbeOrder: Hashable, Sendable {
    /// The name of a configured probe, or a URL.
    package var target: String
    /// The interface it must go by; of a configured probe, the configuration says.
    package var interface: String?
    package var timeout: Duration?

    package init(target: String, interface: String? = nil, timeout: Duration? = nil) {
        self.target = target
        self.interface = interface
        self.timeout = timeout
    }
}

/// What came of it.
package struct ProbeAnswer: Hashable, Sendable {
    /// Its URL.
    package let target: String
    /// Of the configured probe; `nil` where a URL was given.
    package let name: String?
    package let result: ProbeResult

    package init(target: String, name: String?, result: ProbeResult) {
        self.target = target
        self.name = name
        self.result = result
    }
}
