import ReachCore
import ReachTransfer
import Testing

@testable import ReachQueueRuntime

/// What counts for budgets.
@Suite struct MovedBytesTests {
    private static func transfer(_ url: String) throws -> TransferRequest {
        try TransferRequest("POST", url: TransferURL(url))
    }

    private static func report(
        _ url: String, sent: UInt64, received: UInt64, attempts: Int = 1, isReused: Bool = false
    ) throws -> TransferReport {
        var phases = TransferPhases(started: BootTime(nanoseconds: 1))
        if attempts > 0 { phases.connected = BootTime(nanoseconds: 2) }
        var hop = TransferHop(url: try TransferURL(url), method: "POST", phases: phases)
        (hop.wire.sent, hop.wire.received, hop.attempts, hop.reusedConnection) = (sent, received, attempts, isReused)
        return TransferReport(outcome: .success(nil), hops: [hop])
    }

    @Test func `heads and bodies count in both directions, with a handshake and packets`() throws {
        var moved = MovedBytes()
        moved.finish(try Self.report("https://a.example/", sent: 10_000, received: 90_000))
        #expect(moved.total == (100_000 + 8192) * 17 / 16)
        moved.finish(try Self.report("https://a.example/", sent: 0, received: 16_000, isReused: true))
        #expect(moved.total == (100_000 + 8192) * 17 / 16 + 17_000, "a connection that is used again has no handshake")
    }

    @Test func `an attempt that found no address has moved nothing`() throws {
        var moved = MovedBytes()
        moved.finish(try Self.report("https://a.example/", sent: 0, received: 0, attempts: 0))
        #expect(moved.total == 0)
    }

    @Test func `while an exchange runs, its progress counts, and no less than at its end`() throws {
        var moved = MovedBytes()
        moved.begin(try Self.transfer("http://a.example/"))
        #expect(moved.total == 512, "a connection")
        moved.noteSent()
        moved.note(ByteProgress(sent: 5000, received: 40_000))
        let before = moved.total
        moved.finish(try Self.report("http://a.example/", sent: 5100, received: 40_200))
        #expect(before > 45_000 && before >= moved.total && moved.total > 45_300)
    }

    @Test(
        arguments: [
            (ByteProgress(sent: 5, toSend: 20), 15), (ByteProgress(sent: 20, toSend: 20), 0),
            (ByteProgress(received: 5), nil), (ByteProgress(received: 5, toReceive: 20), 15),
            (ByteProgress(sent: 1, toSend: 3, received: 5, toReceive: 4), 2), (ByteProgress(), nil),
        ] as [(ByteProgress, Int64?)])
    func `what is left is known from the lengths of bodies`(progress: ByteProgress, left: Int64?) {
        #expect(progress.left == left)
    }
}
