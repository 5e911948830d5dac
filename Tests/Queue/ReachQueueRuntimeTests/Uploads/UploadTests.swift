import Glibc
import ReachCore
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import Testing

/// Resumable uploads to a real server that cuts connections, with the kernel's routes.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct UploadTests {
    private static let url = "http://203.0.113.10/files"
    private static let size = 1_500_000

    /// Bytes of which each part differs from the others.
    private static let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    private func server(
        _ links: TwoLinks, _ change: @Sendable (inout TusServer.State) -> Void = { _ in }
    ) throws -> TusServer {
        try TusServer(in: links.internet, at: TwoLinks.server, port: 80, change)
    }

    private func write(_ bytes: [UInt8], to directory: TemporaryDirectory) throws -> String {
        let path = directory.path + "/body"
        let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        try #require(bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count)
        // An attempt that still reads the file continues with the old one.
        try #require(rename(path + ".new", path) == 0)
        return path
    }

    @Test func `an upload that is cut four times is resumed at each offset, and counts no failure`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let server = try server(links) { $0.cuts = [300_000, 200_000, 400_000, 100_000] }
        let room = try QueueRoom(in: links.machine, directory: directory.path + "/queue")
        let id = try await room.add(
            Self.url, method: "POST", body: .file(path: try write(Self.body, to: directory), bytes: Int64(Self.size))
        ) { $0.uploadProtocol = .tus }
        try await room.wait(for: .done, of: id)
        let state = server.state.withLock { $0 }
        #expect(state.uploads == [1: Self.body])
        #expect(
            state.log == [
                "POST 201", "PATCH 1 at 0 cut", "HEAD 1 200", "PATCH 1 at 300000 cut", "HEAD 1 200",
                "PATCH 1 at 500000 cut", "HEAD 1 200", "PATCH 1 at 900000 cut", "HEAD 1 200",
                "PATCH 1 at 1000000 204",
            ])
        let record = try #require(try await room.record(id))
        #expect(record.attempts == 0 && record.networkFailures == 0 && record.tries == 5)
        #expect(record.result?.status == 204 && record.result?.header("(url)") == Self.url + "/1")
        #expect(room.progress.values.allSatisfy { $0.bytes.toSend == Int64(Self.size) })
        #expect(room.progress.values.last?.bytes.sent == Int64(Self.size))
        // Nothing of it stays: a thread removes it.
        try await Self.wait { access(directory.path + "/queue/spool/upload-\(id)", F_OK) != 0 }
    }

    @Test func `a server that lost the upload gets a new one, with a key of its own`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let server = try server(links) {
            $0.cuts = [100_000]
            $0.atCut = { $0.loseAll() }
        }
        let room = try QueueRoom(in: links.machine)
        let id = try await room.add(Self.url, method: "POST", body: .inline(Array(Self.body.prefix(300_000)))) {
            $0.uploadProtocol = .tus
        }
        try await room.wait(for: .done, of: id)
        let state = server.state.withLock { $0 }
        #expect(state.uploads == [2: Array(Self.body.prefix(300_000))])
        #expect(state.log == ["POST 201", "PATCH 1 at 0 cut", "HEAD 1 404", "POST 201", "PATCH 2 at 0 204"])
    }

    @Test func `a file that changed between two attempts is sent from the beginning`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let path = try write(Self.body, to: directory)
        let server = try server(links) {
            $0.cuts = [100_000]
            $0.atCut = { _ in _ = try? write(Array(Self.body.reversed()), to: directory) }
        }
        let room = try QueueRoom(in: links.machine)
        let id = try await room.add(Self.url, method: "POST", body: .file(path: path, bytes: Int64(Self.size))) {
            $0.uploadProtocol = .tus
        }
        try await room.wait(for: .done, of: id)
        #expect(server.state.withLock { $0.uploads[2] } == Array(Self.body.reversed()))
    }

    @Test func `a file that becomes shorter while it is sent is sent from the beginning`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let path = try write(Self.body, to: directory)
        // Longer than what the kernel buffers: some of it is read after the file has become shorter.
        let longer = 16 << 20
        try #require(truncate(path, longer) == 0)
        let server = try server(links) { $0.pause = 2000 }
        let room = try QueueRoom(in: links.machine)
        let id = try await room.add(Self.url, method: "POST", body: .file(path: path, bytes: Int64(longer))) {
            $0.uploadProtocol = .tus
        }
        try await Self.wait { server.state.withLock { $0.uploads[1]?.isEmpty == false } }
        try #require(truncate(path, Self.size) == 0)
        try await room.wait(for: .done, of: id)
        #expect(server.state.withLock { $0.uploads[2] } == Self.body)
    }

    @Test func `an upload elsewhere, and a server that does not speak the protocol, end the request`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let server = try server(links) {
            $0.location = "http://203.0.113.11/files/"
            $0.statuses = [200]
        }
        let room = try QueueRoom(in: links.machine)
        for reason in ["refused", "redirects"] {
            let id = try await room.add(Self.url, method: "POST", body: .inline([1])) {
                $0.uploadProtocol = .tus
                $0.headers = [HeaderField("Authorization", "Bearer secret")]
            }
            #expect(try await room.wait(for: .dead, of: id).event.reason == reason)
        }
        withExtendedLifetime(server) {}
    }

    @Test func `behind a proxy that passes on whole requests, parts get through where the whole never does`()
        async throws
    {
        let links = try TwoLinks(up: ["lan0"])
        let server = try server(links) {
            $0.keepsWholeRequestsOnly = true
            $0.cuts = [1_200_000]
        }
        let directory = try TemporaryDirectory()
        let room = try QueueRoom(in: links.machine, directory: directory.path + "/queue")
        let body = RequestBody.spooled(name: try await room.spool(Self.body), bytes: Int64(Self.size))
        let id = try await room.add(Self.url, method: "POST", body: body) { $0.uploadProtocol = .tus }
        try await room.wait(for: .done, of: id)
        let state = server.state.withLock { $0 }
        #expect(state.uploads == [1: Self.body])
        #expect(state.log.filter { $0.hasPrefix("PATCH") && $0.hasSuffix("204") }.count >= 2, "\(state.log)")
    }

    @Test func `an upload goes on where it was after each kill of its process`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let server = try server(links) { $0.pause = 2000 }
        let path = try write(Self.body, to: directory)
        let program = BuiltProgram(named: "queuerun")
        let taken = { @Sendable () -> Int in server.state.withLock { $0.uploads[1]?.count ?? 0 } }
        for (count, least) in [("1", 200_000), ("0", 700_000)] {
            let run = try program.start(
                [directory.path + "/queue", count, Self.url, "tus", path], in: links.machine.name)
            try await Self.wait { taken() > least }
            run.send(SIGKILL)
            _ = try run.finish()
        }
        server.state.withLock { $0.pause = 0 }
        let last = try program.start([directory.path + "/queue", "0", Self.url], in: links.machine.name)
        var line = ""
        while !line.hasPrefix("d") { line = try last.nextLine() }
        #expect(line == "done 1")
        last.send(SIGKILL)
        _ = try last.finish()
        let state = server.state.withLock { $0 }
        #expect(state.uploads == [1: Self.body])
        // No byte was sent to an offset that the server did not name, and the upload was made once.
        #expect(!state.log.contains { $0.hasSuffix("409") } && state.log.count { $0.hasPrefix("POST") } == 1)
    }

    @Test func `an upload goes on where it was after its link was gone`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let server = try server(links) { $0.standstill = 400_000 }
        let room = try QueueRoom(in: links.machine)
        let path = try write(Self.body, to: directory)
        let id = try await room.add(Self.url, method: "POST", body: .file(path: path, bytes: Int64(Self.size))) {
            $0.uploadProtocol = .tus
        }
        try await Self.wait { server.state.withLock { $0.standstill } == nil }
        try links.take(down: "lan0")
        try await room.wait(for: .interrupted, of: id)
        try links.bring(up: "lan0")
        try await room.wait(for: .done, of: id)
        let state = server.state.withLock { $0 }
        #expect(state.uploads == [1: Self.body])
        let log = state.log.filter { !$0.hasSuffix("cut") }
        #expect(log == ["POST 201", "HEAD 1 200", "PATCH 1 at 409600 204"])
        let record = try #require(try await room.record(id))
        #expect(record.attempts == 0 && record.networkFailures == 0)
    }

    private static func wait(_ isReady: @Sendable () -> Bool) async throws {
        for _ in 0..<1000 {
            if isReady() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("it did not come to that within 10 s")
    }
}
