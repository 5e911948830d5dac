/// A part of an attempt that is measured by itself. The words are those of prometheus-blackbox-exporter's metrics.
package enum ProbePhase: String, Hashable, Sendable, CaseIterable {
    /// From the name to an address.
    case resolve
    /// The TCP handshake.
    case connect
    /// The TLS handshake.
    case tls
    /// From the end of the request to the first byte of the answer. For icmp, the round trip.
    case processing
    /// From the first byte of the answer to the last that was wanted.
    case transfer
}

/// How long the parts of an attempt took, as far as it came. One that it never reached is not there.
package struct ProbePhases: Hashable, Sendable {
    private var durations: [Duration?] = Array(repeating: nil, count: ProbePhase.allCases.count)

    package init() {}

    package init(_ durations: [ProbePhase: Duration]) {
        for (phase, duration) in durations { self[phase] = duration }
    }

    package subscript(phase: ProbePhase) -> Duration? {
        get { durations[phase.place] }
        set { durations[phase.place] = newValue }
    }

    /// Those that were reached, in order.
    package var reached: [(phase: ProbePhase, duration: Duration)] {
        zip(ProbePhase.allCases, durations).compactMap { phase, duration in duration.map { (phase, $0) } }
    }
}

extension ProbePhase {
    /// Its place among all of them.
    package var place: Int {
        switch self {
        case .resolve: 0
        case .connect: 1
        case .tls: 2
        case .processing: 3
        case .transfer: 4
        }
    }
}
