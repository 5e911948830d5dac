/// A part of an attempt that is measured separately. The words are those of prometheus-blackbox-exporter's metrics.
package enum ProbePhase: String, Hashable, Sendable, CaseIterable {
    /// From the name to an address.
    case resolve
    /// The TCP handshake.
    case connect
    /// The TLS handshake.
    case tls
    /// From the end of the request to the first byte of the answer. For icmp, the round trip.
    case processing
    /// From the first byte of the answer to the last one needed.
    case transfer
}

/// The durations of an attempt's phases. A phase that the attempt did not reach is absent.
package struct ProbePhases: Hashable, Sendable {
    private var durations = Self.none

    private static let all = ProbePhase.allCases
    private static let none = [Duration?](repeating: nil, count: all.count)

    package init() {}

    package init(_ durations: [ProbePhase: Duration]) {
        for (phase, duration) in durations { self[phase] = duration }
    }

    package subscript(phase: ProbePhase) -> Duration? {
        get { durations[phase.place] }
        set { durations[phase.place] = newValue }
    }

    /// The phases that the attempt reached, in order.
    package var reached: [(phase: ProbePhase, duration: Duration)] {
        zip(Self.all, durations).compactMap { phase, duration in duration.map { (phase, $0) } }
    }
}

extension ProbePhase {
    /// The phase's index among all phases.
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
