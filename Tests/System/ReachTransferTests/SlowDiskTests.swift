import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachTransfer

/// A disk that hangs delays only the transfers that need it, and costs a bounded amount of memory.
struct SlowDiskTests {
    @Test func `a download waits for its disk, and nothing else does`() async throws {
        let directory = try TemporaryDirectory()
        let sent = EventLog<Int>()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 40000000\r\n\r\n")
            for number in 0..<400 {
                guard connection.write([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100_000)) else {
                    return
                }
                sent.append(number)
            }
        }
        let stage = try TransferStage()
        let disk = ThreadGate()
        stage.perform { $0.engine.tools.files.run { disk.wait() } }
        var request = try TransferRequest(port: server.port)
        request.sink = .file(FileSink(path: directory.path + "/slow"))
        request.limit.bodyBytes = 100 << 20
        // Our own pause is not the server's silence.
        request.timeouts.idle = .milliseconds(200)
        let log = stage.start(request)
        let quick = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 204 None\r\n\r\n")
        }
        try await log.wait { if case .progress = $0 { true } else { false } }
        for _ in 0..<50 {
            var other = try TransferRequest(port: quick.port)
            other.connection = .fresh
            #expect(try await stage.run(other).response?.status == 204)
        }
        try await Task.sleep(for: .milliseconds(500))
        // As much as the kernel's buffers and our backlog hold.
        #expect(sent.values.count < 200)
        #expect(log.heads.count == 1)
        disk.open()
        let report = try await log.report()
        #expect(report.failure == nil, "\(report.outcome)")
        #expect(report.receivedBytes == 40_000_000)
    }

    @Test func `a download that is cancelled keeps what arrived before its disk was ready`() async throws {
        let directory = try TemporaryDirectory()
        let (end, disk) = (ThreadGate(), ThreadGate())
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 200000\r\n\r\n")
            connection.write([UInt8](repeating: 7, count: 100_000))
            end.wait()
        }
        defer { end.open() }
        let stage = try TransferStage()
        stage.perform { $0.engine.tools.files.run { disk.wait() } }
        let path = directory.path + "/part"
        var sink = FileSink(path: path)
        sink.recordSuffix = ".record"
        var request = try TransferRequest(port: server.port)
        request.sink = .file(sink)
        let (final, log) = (request, EventLog<TransferEvent>())
        let id = await stage.ask { $0.engine.start(final, handler: TransferHandler { log.append($0) }) }
        // The last bytes may arrive without a report: it comes with the next ones.
        try await log.wait { if case .progress(let progress) = $0 { progress.received > 0 } else { false } }
        let arrived = log.values.reduce(UInt64(0)) { last, event in
            if case .progress(let progress) = event { UInt64(progress.received) } else { last }
        }
        let points = EventLog<ResumePoint?>()
        stage.perform { room in
            room.engine.cancel(id)
            room.engine.resumePoint(record: path + ".record", of: path) { points.append($0) }
        }
        disk.open()
        let point = try #require(try await points.wait(for: 1).first ?? nil)
        #expect(arrived > 0 && (arrived...100_000).contains(UInt64(point.offset)) && point.entityTag == "\"one\"")
    }

    @Test func `an upload waits for its disk`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("upload", String(repeating: "u", count: 3_000_000))
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n")
        }
        let stage = try TransferStage()
        var request = try TransferRequest("PUT", port: server.port)
        request.body = .file(path: path)
        request.timeouts.idle = .milliseconds(200)
        let (final, log, disk) = (request, EventLog<TransferEvent>(), ThreadGate())
        stage.perform { room in
            nonisolated(unsafe) let room = room
            _ = room.engine.start(
                final,
                handler: TransferHandler { event in
                    // In the middle of it.
                    if case .progress = event, log.values.isEmpty { room.engine.tools.files.run { disk.wait() } }
                    log.append(event)
                })
        }
        try await log.wait { if case .progress = $0 { true } else { false } }
        try await Task.sleep(for: .milliseconds(500))
        #expect(!log.values.contains { if case .finished = $0 { true } else { false } })
        disk.open()
        let report = try await log.report()
        #expect(report.response?.status == 201, "\(report.outcome)")
        #expect(report.sentBytes == 3_000_000)
    }
}
