import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import ReachTransfer
import Synchronization
import Testing

/// Transfers that are cancelled, closed and started again, many times.
struct CancellationTests {
    @Test(arguments: ["connect", "headers", "body", "sent body", "start"])
    func `a cancelled transfer reports nothing more, at whatever point it is`(place: String) async throws {
        let server = try ScriptedServer { connection in
            if place == "sent body" { return connection.waitForEnd() }
            connection.readRequest()
            if place == "body" { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome") }
            connection.waitForEnd()
        }
        let stage = try TransferStage()
        let log = EventLog<TransferEvent>()
        let started = EventLog<TransferID>()
        var request = try TransferRequest(place == "sent body" ? "PUT" : "GET", port: server.port)
        request.sink = .events
        if place == "sent body" { request.body = .bytes([UInt8](repeating: 1, count: 32 << 20)) }
        let final = request
        stage.perform { room in
            let id = room.engine.start(final, handler: TransferHandler { log.append($0) })
            if place == "start" { room.engine.cancel(id) }
            started.append(id)
        }
        let id = try await started.wait(for: 1)[0]
        switch place {
        case "headers": try await server.requests.wait(for: 1)
        case "body": try await log.wait { if case .body = $0 { true } else { false } }
        case "sent body": try await log.wait { if case .progress = $0 { true } else { false } }
        default: break
        }
        let count = await stage.ask { room in
            room.engine.cancel(id)
            room.engine.cancel(id)
            return log.values.count
        }
        // When another transfer has ended, all pending events have been delivered.
        let other = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 204 None\r\n\r\n")
        }
        _ = try await stage.run(try TransferRequest(port: other.port))
        #expect(log.values.count == count)
        #expect(await stage.ask { $0.engine.runningCount } == 0)
    }

    @Test func `a handler may cancel its own transfer, and start another`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsome")
        }
        let stage = try TransferStage()
        let log = EventLog<String>()
        let request = try TransferRequest(port: server.port)
        stage.perform { room in
            nonisolated(unsafe) let engine = room.engine
            nonisolated(unsafe) var id: TransferID?
            id = engine.start(
                request,
                handler: TransferHandler { event in
                    log.append("first")
                    if let id { engine.cancel(id) }
                    _ = engine.start(
                        request,
                        handler: TransferHandler { event in
                            if case .finished = event { log.append("second") }
                        })
                })
        }
        #expect(try await log.wait { $0.contains("second") } == ["first", "second"])
    }

    /// This process's sockets that are connected to a port of 127.0.0.1. Tests that run at the same time use other
    /// ports.
    private static func connections(to port: UInt16) -> Int {
        (CInt(0)..<16384).count { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let found = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            return found == 0 && address.sin_family == AF_INET && address.sin_port == port.bigEndian
        }
    }

    @Test(.enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
    func `10,000 transfers leave no descriptor behind`() async throws {
        let namespacePort = try TestProgram.freePort()
        let web = try WebServer(
            "server { listen 127.0.0.1:\(namespacePort); keepalive_requests 100; location / { return 204; } }",
            listensOn: [namespacePort])
        defer { withExtendedLifetime(web) {} }
        let stage = try TransferStage()
        var request = try TransferRequest(port: namespacePort)
        for (count, connection) in [(8000, ConnectionUse.pooled), (2000, .fresh)] {
            request.connection = connection
            let (final, done) = (request, EventLog<Int>())
            stage.perform { room in
                nonisolated(unsafe) let engine = room.engine
                nonisolated(unsafe) var (left, failures) = (count, 0)
                func next() {
                    _ = engine.start(
                        final,
                        handler: TransferHandler { event in
                            guard case .finished(let report) = event else { return }
                            if report.response?.status != 204 { failures += 1 }
                            left -= 1
                            if left == 0 { done.append(failures) } else { next() }
                        })
                }
                next()
            }
            #expect(try await done.wait(for: 1, within: .seconds(60)) == [0])
        }
        // Connections were used one after the other, and the last one may be kept; a leak of the fresh ones would be
        // two thousand.
        #expect(Self.connections(to: namespacePort) <= 1)
        #expect(await stage.ask { $0.engine.runningCount } == 0)
    }

    @Test func `a thousand transfers that are cancelled at once leave no connection behind`() async throws {
        DescriptorLimit.raise()
        let (arrived, ended, reported) = (EventLog<Bool>(), EventLog<Bool>(), EventLog<Bool>())
        let server = try ScriptedServer { connection in
            connection.readRequest()
            arrived.append(true)
            connection.waitForEnd()
            ended.append(true)
        }
        let stage = try TransferStage()
        let request = try TransferRequest(port: server.port)
        let start = { @Sendable (room: TransferStage.Room) in
            (0..<1000).map { _ in room.engine.start(request, handler: TransferHandler { _ in reported.append(true) }) }
        }
        // None has begun.
        _ = await stage.ask { room in start(room).forEach(room.engine.cancel) }
        #expect(await stage.ask { $0.engine.runningCount } == 0)
        // All have.
        let running = await stage.ask(start)
        try await arrived.wait(for: 1000, within: .seconds(30))
        _ = await stage.ask { room in running.forEach(room.engine.cancel) }
        #expect(await stage.ask { $0.engine.runningCount } == 0)
        try await ended.wait(for: 1000, within: .seconds(30))
        #expect(reported.values.isEmpty)
        #expect(arrived.values.count == 1000)
    }

    @Test(.enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
    func `epochs that change under load neither lose nor mix transfers`() async throws {
        let port = try TestProgram.freePort()
        let web = try WebServer(
            "server { listen 127.0.0.1:\(port); location / { return 200 \"$arg_n\"; } }", listensOn: [port])
        defer { withExtendedLifetime(web) {} }
        let stage = try TransferStage()
        let answers = EventLog<Bool>()
        let requests = try (0..<1000).map { try TransferRequest(port: port, "/?n=\($0)") }
        for batch in 0..<20 {
            stage.perform { room in
                for number in batch * 50..<(batch + 1) * 50 {
                    _ = room.engine.start(
                        requests[number],
                        handler: TransferHandler { event in
                            guard case .finished(let report) = event else { return }
                            answers.append(report.body == Array("\(number)".utf8))
                        })
                }
                room.engine.newEpoch()
            }
            try await answers.wait(for: batch * 50 + 25)
        }
        #expect(try await answers.wait(for: 1000).allSatisfy { $0 })
    }

    @Test func `a transfer that still runs long after its epoch fails`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.waitForEnd()
        }
        var options = TransferEngine.Options()
        options.drainLimit = .milliseconds(200)
        let stage = try TransferStage(options: options)
        let log = stage.start(try TransferRequest(port: server.port))
        try await server.requests.wait(for: 1)
        let start = SystemClock.boot
        _ = await stage.ask { $0.engine.newEpoch() }
        let report = try await log.report()
        #expect(report.failure?.reason == .networkChanged)
        #expect(report.failure?.kind == .localNetwork)
        #expect(SystemClock.boot - start >= .milliseconds(200))
    }

    @Test func `a network that changes often leaves one timer for what still runs, and none when that has ended`()
        async throws
    {
        let gate = ThreadGate()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            gate.wait()
            connection.write("HTTP/1.1 204 None\r\n\r\n")
        }
        var options = TransferEngine.Options()
        options.drainLimit = .seconds(7 * 86_400)
        let stage = try TransferStage(options: options)
        let log = stage.start(try TransferRequest(port: server.port))
        try await server.requests.wait(for: 1)
        let before = await stage.ask { $0.loop.timerCount }
        for _ in 0..<100 { await stage.ask { $0.engine.newEpoch() } }
        #expect(await stage.ask { $0.loop.timerCount } <= before + 1)
        gate.open()
        _ = try await log.report()
        let left = await stage.ask { room in
            room.engine.newEpoch()
            return room.loop.timerCount
        }
        #expect(left == 0)
    }

    @Test func `the first request of an epoch reuses no connection of an earlier one`() async throws {
        let server = try ScriptedServer { connection in
            while !connection.readRequest().isEmpty { connection.write("HTTP/1.1 204 None\r\n\r\n") }
        }
        let stage = try TransferStage()
        let request = try TransferRequest(port: server.port)
        #expect(try await stage.run(request).hops.first?.reusedConnection == false)
        #expect(try await stage.run(request).hops.first?.reusedConnection == true)
        _ = await stage.ask { $0.engine.newEpoch() }
        #expect(try await stage.run(request).hops.first?.reusedConnection == false)
    }

    @Test func `a request that must not be delivered twice gets a new connection`() async throws {
        let server = try ScriptedServer { connection in
            while !connection.readRequest().isEmpty { connection.write("HTTP/1.1 204 None\r\n\r\n") }
        }
        let stage = try TransferStage()
        _ = try await stage.run(try TransferRequest(port: server.port))
        var post = try TransferRequest("POST", port: server.port)
        #expect(try await stage.run(post).hops.first?.reusedConnection == false)
        post.headers = [HeaderField("Idempotency-Key", "1")]
        #expect(try await stage.run(post).hops.first?.reusedConnection == true)
    }

    @Test func `a connection that died while it was kept is replaced for GET, and never used for POST`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            // What comes next is read and not answered.
            connection.readRequest()
        }
        let stage = try TransferStage()
        let get = try TransferRequest(port: server.port)
        #expect(try await stage.run(get).response?.status == 200)
        let second = try await stage.run(get)
        #expect(second.response?.status == 200)
        #expect(second.hops.first?.reusedConnection == false)
        #expect(second.hops.first?.phases.isMonotone == true)
        #expect(server.requests.values.count == 3)
        #expect(try await stage.run(try TransferRequest("POST", port: server.port)).response?.status == 200)
        #expect(server.requests.values.count { $0.hasPrefix("POST") } == 1)
    }
}
