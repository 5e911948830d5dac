import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Synchronization
import Testing

@testable import ReachTransfer

/// Uploads from files, downloads to files, and downloads that are resumed.
struct FileTests {
    private let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
    }

    private func contents(_ path: String) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return [UInt8](unsafeUninitializedCapacity: 64 << 20) { $1 = max(0, read(file, $0.baseAddress, $0.count)) }
    }

    private func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = try directory.file(name, "")
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
        return path
    }

    @Test func `a body whose disk fails keeps the number of the error, by which it is tried again`() {
        let body = StreamHandOff(StreamedBody(count: 1) { { _ in throw SystemError(call: "read", number: EIO) } })
        guard case .failure(let error) = body.read(at: 0, 1) else { return _ = Issue.record("no failure") }
        #expect(error.number == EIO)
    }

    /// A file whose end cannot be read.
    private final class BrokenFile: UploadFile {
        let reads = Mutex(0)

        func open(reading path: String) -> Result<UInt64, UploadError> { .success(1000) }
        func read(at offset: UInt64, _ count: Int) -> Result<[UInt8], UploadError> {
            reads.withLock { $0 += 1 }
            return .failure(UploadError(EIO))
        }
        func close() {}
    }

    @Test func `after a failure nothing more is read of a body`() async throws {
        let file = BrokenFile()
        let stage = try TransferStage()
        let ended = EventLog<Bool>()
        stage.perform { stage in
            let upload = FileUpload(
                file, path: "body", thread: SerialThread.files, replies: LoopReplies(loop: stage.loop))
            upload.onReady = { ended.append(true) }
            upload.open { _ in }
            // What would be read again comes through the loop long before this.
            stage.loop.schedule(at: SystemClock.boot + .milliseconds(200)) { [upload] in
                withExtendedLifetime(upload) { ended.append(false) }
            }
        }
        #expect(try await ended.wait(until: { $0.contains(false) }) == [true, false])
        #expect(file.reads.withLock { $0 } == 1)
    }

    /// A server of one resource with these bytes, which supports ranges, and closes the connection after `stopsAfter`
    /// bytes.
    private func server(_ bytes: [UInt8], tag: String = "\"one\"", stopsAfter: Int = .max) throws -> ScriptedServer {
        try ScriptedServer { connection in
            let request = connection.readRequest()
            let lines = request.split(separator: "\r\n")
            func field(_ name: String) -> Substring? {
                lines.first { $0.lowercased().hasPrefix(name + ": ") }?.dropFirst(name.count + 2)
            }
            var first = 0
            if let range = field("range"), field("if-range").map(String.init) == tag {
                first = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }) ?? 0
            }
            let rest = Array(bytes[first...])
            let status = first > 0 ? "206 Part" : "200 OK"
            let range = first > 0 ? "Content-Range: bytes \(first)-\(bytes.count - 1)/\(bytes.count)\r\n" : ""
            connection.write(
                "HTTP/1.1 \(status)\r\nETag: \(tag)\r\n\(range)Content-Length: \(rest.count)\r\n\r\n")
            connection.write(Array(rest.prefix(stopsAfter)))
        }
    }

    private func download(
        _ server: ScriptedServer, to path: String, _ resume: ResumePoint? = nil, isRecorded: Bool = false,
        limit: UInt64 = 100 << 20
    ) async throws -> TransferReport {
        var request = try TransferRequest(port: server.port)
        var sink = FileSink(path: path, resume: resume)
        if isRecorded { sink.recordSuffix = ".record" }
        sink.recordInterval = .zero
        request.sink = .file(sink)
        request.limit.bodyBytes = limit
        return try await TransferStage().run(request)
    }

    @Test(arguments: [0, 1, 100_000, 5_000_000])
    func `a file is sent whole, with its length`(count: Int) async throws {
        let bytes = Self.pattern(count)
        let path = try write("upload", bytes)
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n")
        }
        let stage = try TransferStage()
        var request = try TransferRequest("PUT", port: server.port)
        request.body = .file(path: path)
        let log = stage.start(request)
        let report = try await log.report()
        #expect(report.response?.status == 201)
        #expect(report.sentBytes == UInt64(count))
        let sent = try #require(server.requests.values.first)
        let head = String(decoding: sent.utf8.dropLast(count), as: UTF8.self)
        #expect(head.hasSuffix("\r\n\r\n") && head.contains("\r\nContent-Length: \(count)\r\n"))
        if count > 0 { #expect(log.progress.last?.sent == Int64(count)) }
        #expect(log.progress.map(\.sent) == log.progress.map(\.sent).sorted())
    }

    @Test func `a file that is not there fails before anything is sent`() async throws {
        let server = try ScriptedServer { $0.readRequest() }
        for path in [directory.path + "/none", directory.path] {
            var request = try TransferRequest("PUT", port: server.port)
            request.body = .file(path: path)
            let report = try await TransferStage().run(request)
            #expect(report.failure?.reason == .fileFailed)
            #expect(report.failure?.kind == .local)
            #expect(report.failure?.message.contains(path) == true)
        }
        #expect(server.requests.values.isEmpty)
    }

    @Test func `a large download goes to its file, and a slow disk holds it back`() async throws {
        let bytes = Self.pattern(20_000_000)
        let path = directory.path + "/download"
        let report = try await download(try server(bytes), to: path)
        #expect(report.response?.status == 200)
        #expect(report.body.isEmpty)
        #expect(contents(path) == bytes)
    }

    @Test func `a download that stops in the middle is resumed`() async throws {
        let bytes = Self.pattern(300_000)
        let path = directory.path + "/download"
        let first = try await download(try server(bytes, stopsAfter: 123_456), to: path)
        #expect(first.failure?.reason == .truncated)
        #expect(first.resume == ResumePoint(offset: 123_456, entityTag: "\"one\"", total: 300_000))
        // Bytes that a crash left after the good part are dropped.
        let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        _ = Glibc.write(file, "garbage", 7)
        close(file)
        let server = try server(bytes)
        let second = try await download(server, to: path, first.resume)
        #expect(second.response?.status == 206)
        #expect(contents(path) == bytes)
        #expect(server.requests.values[0].contains("\r\nRange: bytes=123456-\r\nIf-Range: \"one\"\r\n"))
    }

    @Test func `a resource that has changed is fetched from its beginning`() async throws {
        let bytes = Self.pattern(5000)
        let path = try write("download", [UInt8](repeating: 9, count: 9000))
        let report = try await download(
            try server(bytes, tag: "\"two\""), to: path, ResumePoint(offset: 100, entityTag: "\"one\""))
        #expect(report.response?.status == 200)
        #expect(contents(path) == bytes)
    }

    @Test func `a weak entity tag resumes nothing`() async throws {
        let bytes = Self.pattern(5000)
        let path = directory.path + "/download"
        let first = try await download(try server(bytes, tag: "W/\"one\"", stopsAfter: 1000), to: path)
        #expect(first.resume == nil)
        let server = try server(bytes)
        let report = try await download(server, to: path, ResumePoint(offset: 100, entityTag: "W/\"one\""))
        #expect(report.response?.status == 200)
        #expect(server.requests.values.first?.contains("Range") == false)
        #expect(contents(path) == bytes)
    }

    @Test func `by the record next to a download another process resumes it`() async throws {
        let bytes = Self.pattern(300_000)
        let (path, record) = (directory.path + "/download", directory.path + "/download.record")
        let first = try await download(try server(bytes, stopsAfter: 123_456), to: path, isRecorded: true)
        #expect(first.failure?.reason == .truncated)
        #expect(ResumePoint(record: record, of: path) == first.resume)
        // After a restart of the machine only synced bytes count: with an interval of zero, all of them.
        #expect(ResumeRecord(text: SmallFile.text(record) ?? "")?.bytesOnDisk == 123_456)
        let second = try await download(
            try server(bytes, stopsAfter: 100_000), to: path, ResumePoint(record: record, of: path), isRecorded: true)
        #expect(second.failure?.reason == .truncated)
        #expect(ResumePoint(record: record, of: path)?.offset == 223_456)
        let third = try await download(
            try server(bytes), to: path, ResumePoint(record: record, of: path), isRecorded: true)
        #expect(third.response?.status == 206)
        #expect(contents(path) == bytes)
    }

    @Test func `a record does not outlive the bytes that it covers`() async throws {
        let bytes = Self.pattern(5000)
        let (path, record) = (directory.path + "/download", directory.path + "/download.record")
        _ = try await download(try server(bytes, stopsAfter: 2000), to: path, isRecorded: true)
        let point = try #require(ResumePoint(record: record, of: path))
        // The resource has changed, and its new tag is weak.
        let report = try await download(
            try server(bytes, tag: "W/\"two\"", stopsAfter: 4000), to: path, point, isRecorded: true)
        #expect(report.failure?.reason == .truncated)
        #expect(access(record, F_OK) == -1)
        #expect(ResumePoint(record: record, of: path) == nil)
    }

    @Test func `an error page is not resumed`() async throws {
        let path = directory.path + "/download"
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 503 Busy\r\nETag: \"page\"\r\nContent-Length: 900\r\n\r\n")
            connection.write([UInt8](repeating: 9, count: 500))
        }
        var request = try TransferRequest(port: server.port)
        var sink = FileSink(path: path)
        (sink.recordSuffix, sink.memoryBytes) = (".record", 100)
        request.sink = .file(sink)
        let report = try await TransferStage().run(request)
        #expect(report.failure?.reason == .truncated)
        #expect(report.resume == nil)
        #expect(access(path + ".record", F_OK) == -1)
        withExtendedLifetime(server) {}
    }

    @Test func `a range after the last byte, and one of another entity, are bad ranges`() async throws {
        let answers = [
            "HTTP/1.1 416 None\r\nContent-Range: bytes */100\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 206 Part\r\nETag: \"two\"\r\nContent-Range: bytes 100-102/103\r\nContent-Length: 3\r\n\r\nabc",
        ]
        for answer in answers {
            let before = [UInt8](repeating: 9, count: 100)
            let path = try write("download", before)
            let server = try ScriptedServer { connection in
                connection.readRequest()
                connection.write(answer)
            }
            let report = try await download(server, to: path, ResumePoint(offset: 100, entityTag: "\"one\""))
            #expect(report.failure?.reason == .badRange)
            #expect(contents(path) == before)
        }
    }

    @Test func `bytes of an earlier transfer count against the limit`() async throws {
        let bytes = Self.pattern(5000)
        for (limit, isEnough) in [(UInt64(5000), true), (4999, false)] {
            let path = try write("download", Array(bytes.prefix(3000)))
            let report = try await download(
                try server(bytes), to: path, ResumePoint(offset: 3000, entityTag: "\"one\""), limit: limit)
            #expect((report.failure == nil) == isEnough)
            if !isEnough { #expect(report.failure?.reason == .responseTooLarge) }
        }
    }

    @Test func `a caller that asks for a range by itself gets it`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(
                "HTTP/1.1 206 Part\r\nETag: \"one\"\r\nContent-Range: bytes 5-7/10\r\nContent-Length: 3\r\n\r\nabc")
        }
        var request = try TransferRequest(port: server.port)
        request.headers = [HeaderField("Range", "bytes=5-7")]
        let report = try await TransferStage().run(request)
        #expect(report.response?.status == 206)
        #expect(report.body == Array("abc".utf8))
    }

    @Test(arguments: [
        "Content-Range: bytes 50-99/100\r\n", "", "Content-Range: bytes */100\r\n",
        "Content-Range: pages 100-199/200\r\n",
        "Content-Range: bytes 100-50/200\r\n", "Content-Range: bytes 100-200/200\r\n",
    ])
    func `a response about other bytes leaves the file as it was`(range: String) async throws {
        let before = [UInt8](repeating: 9, count: 100)
        let path = try write("download", before)
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 206 Part\r\n\(range)Content-Length: 3\r\n\r\nabc")
        }
        let report = try await download(server, to: path, ResumePoint(offset: 100, entityTag: "\"one\""))
        #expect(report.failure?.reason == .badRange)
        #expect(contents(path) == before)
    }

    @Test func `an error page does not become the file`() async throws {
        let path = try write("download", [1, 2, 3])
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 404 None\r\nContent-Length: 4\r\n\r\ngone")
        }
        let report = try await download(server, to: path)
        #expect(report.response?.status == 404)
        #expect(report.body == Array("gone".utf8))
        #expect(contents(path) == [1, 2, 3])
    }

    @Test func `a full disk fails the transfer with its own reason`() async throws {
        let report = try await download(try server(Self.pattern(100)), to: "/dev/full")
        #expect(report.failure?.reason == .fileFailed)
        let missing = try await download(try server(Self.pattern(100)), to: directory.path + "/no/such")
        #expect(missing.failure?.reason == .fileFailed)
        #expect(missing.failure?.systemError == ENOENT)
    }
}
