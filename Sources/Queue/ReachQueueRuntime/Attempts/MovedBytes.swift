internal import ReachCore
internal import ReachTransfer

/// What an attempt has moved over its link, in both directions, for budgets: a value.
///
/// libcurl counts heads and bodies as they are encoded. What it does not see is estimated, and rather too high: the
/// handshake of a connection, and a sixteenth of everything for the headers of packets, their acknowledgements and the
/// records of TLS. Lookups of names, and what the kernel sends again since it was lost, are not in it.
struct MovedBytes {
    /// A handshake with TLS and a chain of certificates, and one without.
    private static let secured: Int64 = 8 << 10
    private static let plain: Int64 = 512
    /// The head of an answer that is still arriving.
    private static let answerHead: Int64 = 512

    /// Exchanges that are over.
    private var finished: Int64 = 0
    private var running: Exchange?

    private struct Exchange {
        let head: Int64
        let isSecure: Bool
        var isSent = false
        var bodies: Int64 = 0
    }

    mutating func begin(_ transfer: TransferRequest) {
        let head = transfer.headers.reduce(transfer.method.utf8.count + transfer.url.description.utf8.count + 16) {
            $0 + $1.lineBytes
        }
        running = Exchange(head: Int64(head), isSecure: transfer.url.isSecure)
    }

    mutating func noteSent() { running?.isSent = true }

    mutating func note(_ progress: ByteProgress) { running?.bodies = progress.sent + progress.received }

    mutating func finish(_ report: TransferReport) {
        running = nil
        for hop in report.hops where hop.attempts > 0 {
            let isSecured = hop.url.isSecure && hop.phases.connected != nil
            let connection = hop.reusedConnection ? 0 : isSecured ? Self.secured : Self.plain
            let others = Int64(hop.attempts - 1) * Self.plain
            finished += Self.withPackets(
                Int64(clamping: hop.wire.sent).addingUpToBounds(Int64(clamping: hop.wire.received))
                    .addingUpToBounds(connection + others))
        }
    }

    /// Of all exchanges so far.
    var total: Int64 {
        guard let running else { return finished }
        guard running.isSent else { return finished + Self.plain }
        let connection = running.isSecure ? Self.secured : Self.plain
        return finished.addingUpToBounds(
            Self.withPackets(running.bodies.addingUpToBounds(running.head + Self.answerHead + connection)))
    }

    private static func withPackets(_ bytes: Int64) -> Int64 { bytes.addingUpToBounds(bytes / 16) }
}

extension ByteProgress {
    /// The bytes of bodies that are still to be moved; `nil` where that is not known.
    var left: Int64? {
        let toSend = toSend.map { max(0, $0 - sent) }
        if let toReceive { return max(0, toReceive - received) + (toSend ?? 0) }
        // The answer to an upload is mostly short.
        return received == 0 ? toSend : nil
    }
}
