import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// Faults of servers, and the failures that they cause.
struct FaultTests {
    /// A fault, and its outcome: the reason and libcurl's number.
    struct Fault: Sendable, CustomStringConvertible {
        let description: String
        let reason: TransferFailure.Reason
        let code: Int32
        let script: ScriptedServer.Script
    }

    static let faults = [
        Fault(description: "RST after the request", reason: .connectionReset, code: 56) {
            $0.readRequest()
            $0.reset()
        },
        Fault(description: "FIN before headers", reason: .emptyResponse, code: 52) { $0.readRequest() },
        Fault(description: "half headers, RST", reason: .connectionReset, code: 56) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-")
            $0.reset()
        },
        Fault(description: "half headers, FIN", reason: .emptyResponse, code: 52) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-")
        },
        Fault(description: "a header without a colon", reason: .badResponse, code: 8) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nnothing here\r\nContent-Length: 0\r\n\r\n")
        },
        Fault(description: "truncated body", reason: .truncated, code: 18) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        },
        Fault(description: "bad chunk", reason: .badResponse, code: 56) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n")
            $0.waitForEnd()
        },
        Fault(description: "slowloris", reason: .idleTimeout, code: 28) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            connection.write("1")
            connection.waitForEnd()
        },
        Fault(description: "a header without end", reason: .headerTooLarge, code: 100) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nX-Long: ")
            while connection.write(String(repeating: "a", count: 65536)) {}
        },
        Fault(description: "20,000 header lines", reason: .headerTooLarge, code: 100) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n")
            for number in 0..<20_000 where !connection.write("X-\(number): something\r\n") { return }
            connection.waitForEnd()
        },
        Fault(description: "NUL bytes in a header", reason: .badResponse, code: 8) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 0\r\n\r\n")
        },
        Fault(description: "a banner of SSH", reason: .badResponse, code: 1) {
            $0.readRequest()
            $0.write("SSH-2.0-OpenSSH_9.2\r\n")
        },
        Fault(description: "an alert of TLS", reason: .badResponse, code: 1) {
            $0.readRequest()
            $0.write([0x15, 3, 1, 0, 2, 2, 70])
        },
        Fault(description: "a version of HTTP that does not exist", reason: .badResponse, code: 1) {
            $0.readRequest()
            $0.write("HTTP/3.7 200 OK\r\nContent-Length: 0\r\n\r\n")
        },
        Fault(description: "a page without a head", reason: .badResponse, code: 1) {
            $0.readRequest()
            $0.write("<html><body>Please log in</body></html>\n")
        },
        Fault(description: "lengths that differ", reason: .badResponse, code: 8) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nabcd")
            $0.waitForEnd()
        },
        Fault(description: "early hints without end", reason: .headerTooLarge, code: 100) { connection in
            connection.readRequest()
            while connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") {}
        },
        Fault(description: "trailers without end", reason: .headerTooLarge, code: 100) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
            while connection.write("X: something\r\n") {}
        },
        Fault(description: "an extension of a chunk without end", reason: .idleTimeout, code: 28) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;")
            let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 65536)
            while connection.write(piece) {}
        },
    ]

    @Test(arguments: faults)
    func `each fault of a server has its own reason`(fault: Fault) async throws {
        let server = try ScriptedServer(fault.script)
        let stage = try TransferStage()
        var request = try TransferRequest(port: server.port)
        request.timeouts.idle = .milliseconds(300)
        request.connection = .fresh
        let report = try await stage.run(request)
        #expect(report.failure?.reason == fault.reason, "\(String(describing: report.failure))")
        #expect(report.failure?.curlCode == fault.code)
        let phases = try #require(report.hops.first?.phases)
        #expect(phases.isMonotone)
        #expect(phases.connected != nil)
        #expect(phases.requestStarted != nil)
    }

    @Test func `a refused connection is the destination's failure, and quick`() async throws {
        let report = try await TransferStage().run(try TransferRequest(port: try TestProgram.freePort()))
        #expect(report.failure?.reason == .connectionRefused)
        #expect(report.failure?.kind == .destination)
        #expect(report.failure?.curlCode == 7)
        #expect(report.hops.first?.phases.requestStarted == nil)
        #expect(report.hops.first?.phases.connected == nil)
    }

    @Test func `a server that closes while we write does not end the process`() async throws {
        let server = try ScriptedServer { $0.reset() }
        let stage = try TransferStage()
        var request = try TransferRequest("PUT", port: server.port)
        request.body = .bytes([UInt8](repeating: 1, count: 8 << 20))
        let report = try await stage.run(request)
        #expect(report.failure?.kind == .destination, "\(String(describing: report.failure))")
    }

    @Test(arguments: [ResponseLimit.Action.stop, .fail])
    func `the limit ends a transfer well, or with a failure, as the caller chooses`(
        action: ResponseLimit.Action
    ) async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            while connection.write(String(repeating: "b", count: 1000)) {}
        }
        let stage = try TransferStage()
        var request = try TransferRequest(port: server.port)
        request.limit = ResponseLimit(bodyBytes: 2500, action: action)
        let report = try await stage.run(request)
        #expect(report.body.count == 2500)
        switch action {
        case .stop:
            #expect(report.response?.status == 200)
            #expect(report.isCut)
        case .fail:
            #expect(report.failure?.reason == .responseTooLarge)
            #expect(report.failure?.kind == .refused)
        }
    }

    @Test func `a response of exactly the limit is complete`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        }
        let stage = try TransferStage()
        var request = try TransferRequest(port: server.port)
        request.limit = ResponseLimit(bodyBytes: 5, action: .fail)
        #expect(try await stage.run(request).body == Array("hello".utf8))
        request.limit.bodyBytes = 4
        let report = try await stage.run(request)
        #expect(report.failure?.reason == .responseTooLarge)
        #expect(report.body.isEmpty)
    }

    @Test func `the total time is kept to 50 ms`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.waitForEnd()
        }
        let stage = try TransferStage()
        var request = try TransferRequest(port: server.port)
        request.timeouts.total = .milliseconds(400)
        let duration = try await shortest(within: .milliseconds(450)) {
            let report = try await stage.run(request)
            #expect(report.failure?.reason == .totalTimeout)
            let phases = try #require(report.hops.first?.phases)
            return try #require(phases.finished) - phases.started
        }
        #expect(duration >= .milliseconds(400) && duration < .milliseconds(450), "\(duration)")
    }

    @Test func `a header field that would begin another line is refused before anything is sent`() async throws {
        let server = try ScriptedServer { $0.readRequest() }
        let stage = try TransferStage()
        for field in [
            HeaderField("X", "a\r\nEvil: b"), HeaderField("X\n", "a"), HeaderField("", "a"), HeaderField("X:", ""),
        ] {
            var request = try TransferRequest(port: server.port)
            request.headers = [field]
            #expect(try await stage.run(request).failure?.reason == .badRequest)
        }
        #expect(server.requests.values.isEmpty)
    }
}
