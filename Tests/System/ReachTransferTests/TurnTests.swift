import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Synchronization
import Testing

@testable import ReachTransfer

/// Responses that make much work cost little of the loop's time, and nothing else waits for them.
struct TurnTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// The processor time of the loop's thread, in seconds.
    private func processorTime(_ stage: TransferStage) async -> Double {
        await stage.ask { _ in
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }

    @Test(arguments: [1, 4])
    func `chunks of one byte without end cost little, and delay nothing`(servers count: Int) async throws {
        let piece = Array(String(repeating: "1\r\nx\r\n", count: 10_000).utf8)
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.head)
            while connection.write(piece) {}
        }
        let stage = try TransferStage()
        let watch = stage.watchLateness()
        let before = await processorTime(stage)
        var request = try TransferRequest(port: server.port)
        request.timeouts.total = .seconds(2)
        request.limit.bodyBytes = 1 << 30
        request.sink = .none
        let logs = (0..<count).map { _ in stage.start(request) }
        for log in logs { #expect(try await log.report().failure?.reason == .totalTimeout) }
        let share = (await processorTime(stage) - before) / 2
        print("chunks of one byte, \(count): \(Int(share * 100)) % of a processor, late by \(watch.inLoop)")
        #expect(share < 0.4)
        #expect(watch.inLoop < .milliseconds(100))
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 407 No\r\nContent-Length: 1000000000\r\n\r\n"])
    func `a proxy whose answer to CONNECT does not end is given up`(begin: String) async throws {
        let piece = Array(String(repeating: "X-A: 1\r\n", count: 10_000).utf8)
        let proxy = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(begin)
            while connection.write(piece) {}
        }
        var request = TransferRequest(url: try TransferURL("https://far.example/"))
        request.proxy = .explicit(try TransferURL(proxy: "http://user:no@127.0.0.1:\(proxy.port)"))
        let failure = try await TransferStage().run(request).failure
        #expect(failure?.reason == .proxyFailed)
    }

    @Test(arguments: [
        ("HTTP/1.1 407 No\r\nTransfer-Encoding: chunked\r\n\r\n", TransferFailure.Reason.proxyAuthentication),
        ("HTTP/1.1 403 No\r\nContent-Length: 20\r\n\r\n", .proxyRefused),
        ("HTTP/1.1 200 " + String(repeating: "x", count: 20_000), .proxyFailed),
    ])
    func `a proxy that refuses, or sends a line without an end, is not read on`(
        begin: String, reason: TransferFailure.Reason
    ) async throws {
        let proxy = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(begin)
            connection.waitForEnd()
        }
        var request = TransferRequest(url: try TransferURL("https://far.example/"))
        request.proxy = .explicit(try TransferURL(proxy: "http://user:no@127.0.0.1:\(proxy.port)"))
        request.timeouts.total = .seconds(20)
        let failure = try await TransferStage().run(request).failure
        #expect(failure?.reason == reason, "\(String(describing: failure))")
    }

    @Test(arguments: ["Content-Length: 1000000000\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"])
    func `a proxy that connects and announces a body is believed to connect`(field: String) async throws {
        let proxy = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n\(field)\r\n")
            // What the client sends then is TLS's first record, of a handshake.
            if connection.read(1) == [22] { connection.write("no TLS") }
            connection.waitForEnd()
        }
        var request = TransferRequest(url: try TransferURL("https://far.example/"))
        request.proxy = .explicit(try TransferURL(proxy: "http://127.0.0.1:\(proxy.port)"))
        request.timeouts.total = .seconds(20)
        let failure = try await TransferStage().run(request).failure
        #expect(failure?.reason == .tlsHandshake, "\(String(describing: failure))")
    }

    @Test func `a response that is held back is complete and in order`() async throws {
        let letters = (0..<60_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.head)
            for start in stride(from: 0, to: letters.count, by: 1000) {
                connection.write(letters[start..<start + 1000].flatMap { Array("1\r\n".utf8) + [$0, 13, 10] })
            }
            connection.write("0\r\n\r\n")
            while !connection.readRequest().isEmpty {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let stage = try TransferStage()
        let report = try await stage.run(try TransferRequest(port: server.port))
        #expect(report.failure == nil && report.body == letters)
        // It was only held back: its connection is reused.
        let next = try await stage.run(try TransferRequest(port: server.port))
        #expect(next.hops.first?.reusedConnection == true)
    }

    @Test func `a long response is not slowed down`() {
        var budget = TurnBudget()
        for turn in 1...100 as ClosedRange<UInt64> {
            budget.begin(turn: turn)
            for _ in 0..<31 {
                budget.addWire(16384)
                budget.addPiece(16384)
                #expect(budget.pause == nil)
            }
            budget.addWire(16384)
            budget.addPiece(16384)
            #expect(budget.pause == .turn)
        }
        #expect(!budget.isMostlyFraming)
    }

    @Test(arguments: [(1, 6, true), (1, 1, false), (16, 22, false), (0, 100, true)])
    func `framing alone ends a response only after much of it`(payload: Int, wire: Int, isMostlyFraming: Bool) {
        var budget = TurnBudget()
        for turn in 1...400_000 as ClosedRange<UInt64> {
            budget.begin(turn: turn)
            budget.addPiece(payload * 16)
            budget.addWire(wire * 16)
        }
        #expect(budget.isMostlyFraming == (isMostlyFraming && (wire - payload) * 16 * 400_000 > 16 << 20))
    }

    @Test func `pieces of few bytes make an attempt rest, and pieces of many do not`() {
        for (size, pause) in [(1, TurnBudget.Pause.rest), (63, .rest), (64, .turn), (1000, .turn)] {
            var budget = TurnBudget()
            budget.begin(turn: 1)
            for _ in 0..<255 {
                budget.addPiece(size)
                #expect(budget.pause == nil)
            }
            budget.addPiece(size)
            #expect(budget.pause == pause)
            budget.begin(turn: 2)
            #expect(budget.pause == nil)
        }
    }
}
