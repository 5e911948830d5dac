import ReachCore
import ReachTransfer
import Testing

@testable import ReachProbe

/// What a probe makes of a transfer's report.
@Suite struct TransferAttemptTests {
    private static func at(_ milliseconds: Int64) -> BootTime { BootTime(nanoseconds: milliseconds * 1_000_000) }

    private static func hop(_ change: (inout TransferPhases) -> Void) throws -> TransferHop {
        var phases = TransferPhases(started: at(0))
        change(&phases)
        return TransferHop(url: try TransferURL("https://a.example/"), method: "GET", phases: phases)
    }

    @Test func `each phase has the time that all hops took for it`() throws {
        let hop = try Self.hop {
            ($0.resolved, $0.connected, $0.secured) = (Self.at(1), Self.at(3), Self.at(7))
            ($0.requestStarted, $0.firstByte, $0.finished) = (Self.at(8), Self.at(24), Self.at(56))
        }
        for count in 1...2 {
            let phases = TransferAttempt.phases(of: Array(repeating: hop, count: count))
            for (phase, milliseconds) in [(.resolve, 1), (.connect, 2), (.tls, 4), (.processing, 16), (.transfer, 32)]
                as [(ProbePhase, Int)]
            {
                #expect(phases[phase] == .milliseconds(milliseconds * count))
            }
        }
    }

    @Test func `a phase that was not reached has no time, nor one whose end came before its beginning`() throws {
        // A server may answer before the request begins, as one that is busy does.
        let early = try Self.hop {
            ($0.connected, $0.requestStarted, $0.firstByte) = (Self.at(3), Self.at(8), Self.at(5))
        }
        let phases = TransferAttempt.phases(of: [early])
        #expect(phases[.connect] == .milliseconds(3), "from the start, for an address that was given")
        for phase in [.resolve, .tls, .processing, .transfer] as [ProbePhase] { #expect(phases[phase] == nil) }
        let plain = try Self.hop { ($0.connected, $0.firstByte) = (Self.at(3), Self.at(3)) }
        #expect(TransferAttempt.phases(of: [plain])[.processing] == .zero, "and from the connection without TLS")
    }
}
