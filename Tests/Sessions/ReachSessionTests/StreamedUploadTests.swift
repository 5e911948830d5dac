import Foundation
import HTTPTypes
import ReachCore
import ReachSession
import ReachSessionFoundation
import ReachTesting
import Testing

/// Bodies that are read while they are sent.
@Suite(.timeLimit(.minutes(1))) struct StreamedUploadTests {
    private struct SourceFailure: Error, Equatable {}

    /// A sequence of chunks with an error at its end, if there is one.
    private static func chunks(_ chunks: [String], error: (any Error)? = nil) -> AsyncThrowingStream<[UInt8], any Error>
    {
        AsyncThrowingStream { continuation in
            for chunk in chunks { continuation.yield(Array(chunk.utf8)) }
            continuation.finish(throwing: error)
        }
    }

    @Test func `a sequence of unknown length is sent in chunks, and one of known length with it`() async throws {
        let server = try UploadServer()
        let session = try RequestSession(baseURL: server.url)
        let task = try session.upload(stream: BodyStream(Self.chunks(["one ", "two ", "three"])), to: "a")
        #expect(try await task.response().statusCode == 200 && task.progress.toSend == nil && task.progress.sent == 13)
        let known = try session.upload(
            stream: BodyStream(Self.chunks(["one ", "two"]), length: 7), to: "b", method: "POST")
        #expect(try await known.response().statusCode == 200 && known.progress.fractionSent == 1)
        let empty = try session.upload(stream: BodyStream(Self.chunks([]), length: 0), to: "c")
        try await empty.response()
        let uploads = server.uploads.values
        #expect(uploads.map(\.body) == ["one two three", "one two", ""].map { Array($0.utf8) })
        #expect(uploads.map(\.length) == [nil, 7, 0] && uploads.map(\.method) == ["PUT", "POST", "PUT"])
    }

    @Test func `sequences of bytes, of Data and of one's own making are bodies`() async throws {
        let server = try UploadServer()
        let session = try RequestSession(baseURL: server.url)
        let bytes = AsyncStream<UInt8> { continuation in
            for number in 0..<40_000 { continuation.yield(UInt8(truncatingIfNeeded: number)) }
            continuation.finish()
        }
        try await session.upload(stream: BodyStream(bytes), to: "").response()
        let data = AsyncStream<Data> { continuation in
            continuation.yield(Data("data".utf8))
            continuation.finish()
        }
        try await session.upload(stream: BodyStream(data), to: "").response()
        let made = BodyStream(opening: { Self.chunks(["made"]) })
        try await session.upload(stream: made, to: "").response()
        #expect(server.uploads.values[0].body == (0..<40_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(server.uploads.values.dropFirst().map { String(decoding: $0.body, as: UTF8.self) } == ["data", "made"])
    }

    @Test func `a request that is built already may have a stream as its body`() async throws {
        let server = try UploadServer()
        let stream = BodyStream(Self.chunks(["built"]), length: 5)
        let request = WebRequest(method: .post, url: try WebAddress(server.url), body: .stream(stream))
        #expect(request.contentLength == 5)
        try await RequestSession().task(for: request).response()
        #expect(server.uploads.values.map(\.length) == [5] && server.uploads.values.map(\.method) == ["POST"])
        var reader = BodyReader(request.body)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(throws: BodyStreamError.asynchronous) {
            _ = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
        }
    }

    @Test func `a source is read no faster than the server accepts its bytes, which arrive whole`() async throws {
        let gate = ThreadGate()
        let server = try UploadServer { _ in gate.wait() }
        defer { gate.open() }
        let (count, size) = (200, 100_000)
        // Buffers of any usual size that are lost, repeated or exchanged move this pattern.
        let period = 251
        let pattern = (0..<size + period).map { UInt8($0 % period) }
        @Sendable func piece(_ number: Int) -> ArraySlice<UInt8> {
            pattern.dropFirst(number * size % period).prefix(size)
        }
        let produced = EventLog<Int>()
        let source = AsyncStream<[UInt8]>(unfolding: {
            let number = produced.values.count
            guard number < count else { return nil }
            produced.append(number)
            return Array(piece(number))
        })
        let task = try RequestSession(baseURL: server.url).upload(stream: BodyStream(source), to: "").resume()
        try await produced.wait(for: 4)
        // The kernel's buffers and the pipe are full long before the end.
        var before = -1
        while produced.values.count != before {
            before = produced.values.count
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(before < 150, "\(before) of \(count) pieces were read for a server that reads nothing")
        // It is read on as soon as the server reads.
        gate.open()
        #expect(try await task.response().statusCode == 200 && task.progress.sent == Int64(count * size))
        let body = try #require(server.uploads.values.first?.body)
        #expect(body.count == count * size)
        let wrong = (0..<count).first { Data(body.dropFirst($0 * size).prefix(size)) != Data(piece($0)) }
        #expect(wrong == nil, "piece \(wrong ?? 0) is not as it was produced")
    }

    @Test func `an error of the source ends the request with it`() async throws {
        let server = try UploadServer()
        let options = Self.retrying(5)
        let session = try RequestSession(baseURL: server.url)
        for body in [
            BodyStream(Self.chunks(["begun"], error: SourceFailure())),
            BodyStream(Self.chunks(["begun"], error: SourceFailure()), length: 10),
            BodyStream(Self.chunks(["begun"], error: SourceFailure())).spooled(),
            BodyStream(open: { throw SourceFailure() }),
        ] {
            let error = await #expect(throws: RequestError.self) {
                try await session.upload(stream: body, to: "", options: options).response()
            }
            #expect(error?.summary == "local unreadable-body" && error?.underlyingError is SourceFailure)
        }
        #expect(server.uploads.values.isEmpty)
    }

    @Test func `a source that is shorter or longer than its length ends the request`() async throws {
        let server = try UploadServer()
        let session = try RequestSession(baseURL: server.url)
        for (pieces, length) in [(["short"], Int64(6)), (["exact", "and more"], 5), (["longer"], 5)] {
            let task = try session.upload(stream: BodyStream(Self.chunks(pieces), length: length), to: "")
            #expect(await failure { try await task.response() } == "request body-length")
        }
        #expect(server.uploads.values.isEmpty)
    }

    @Test func `a redirect, a challenge and a retry need a body that can be read again`() async throws {
        let answers = [
            "HTTP/1.1 307 Over There\r\nLocation: /again\r\n",
            "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n",
            "HTTP/1.1 503 Busy\r\n",
        ]
        for (index, answer) in answers.enumerated() {
            let sources: [(BodyStream, isAgain: Bool)] = [
                (BodyStream(Self.chunks(["body"])), false), (BodyStream(Self.chunks(["body"])).spooled(), true),
                (BodyStream(opening: { Self.chunks(["body"]) }), true),
                (BodyStream(length: 4, open: { try Self.reader("body") }), true),
            ]
            for (body, isAgain) in sources {
                let server = try UploadServer(first: answer)
                var settings = RequestSessionOptions()
                settings.hooks.challenge = { _, _ in UserCredentials(user: "ann", password: "secret") }
                let session = try RequestSession(baseURL: server.url, options: settings)
                let task = try session.upload(stream: body, to: "", options: Self.retrying(3))
                if isAgain {
                    #expect(try await task.response().statusCode == 200)
                    #expect(server.uploads.values.map { String(decoding: $0.body, as: UTF8.self) } == ["body", "body"])
                } else {
                    let error = await #expect(throws: RequestError.self) { try await task.response() }
                    #expect(error?.summary == "request body-consumed", "\(answer)")
                    let purposes = ["a redirect (307)", "an answer to a challenge (401)", "another attempt"]
                    #expect(error?.description.contains(purposes[index]) == true, "\(error?.description ?? "")")
                    #expect(server.uploads.values.count == 1)
                }
            }
        }
    }

    @Test func `a redirect that drops the body does not need it again`() async throws {
        let server = try UploadServer(first: "HTTP/1.1 303 See Other\r\nLocation: /seen\r\n")
        let session = try RequestSession(baseURL: server.url)
        let task = try session.upload(stream: BodyStream(Self.chunks(["body"])), to: "", method: "POST")
        #expect(try await task.response().statusCode == 200)
        #expect(server.uploads.values.map(\.method) == ["POST", "GET"])
    }

    @Test func `a connection that is lost in the body ends the request, which is not sent again without it`()
        async throws
    {
        let server = try ScriptedServer { connection in
            // More than the head: what is read of the body cannot be read again.
            _ = connection.read(4000)
            connection.reset()
        }
        // Each has its own: to cancel a reader of such a stream while it waits ends the stream for all.
        func endless() -> BodyStream { BodyStream(AsyncStream(unfolding: { [UInt8](repeating: 1, count: 1000) })) }
        let session = try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/")
        let once = try session.upload(stream: endless(), to: "")
        let summary = await failure { try await once.response() }
        #expect(summary.hasPrefix("destination "))
        let retried = try session.upload(stream: endless(), to: "", options: Self.retrying(5))
        #expect(await failure { try await retried.response() } == "request body-consumed")
    }

    @Test func `the end of a request ends the reading of its source`() async throws {
        let (ended, sent) = (EventLog<String>(), EventLog<Int>())
        func source(_ name: String) -> BodyStream {
            BodyStream(
                AsyncStream<[UInt8]> { continuation in
                    // Called when a reader that waits is cancelled, or the stream is released.
                    continuation.onTermination = { _ in ended.append(name) }
                    continuation.yield([1])
                })
        }
        let server = try UploadServer()
        let session = try RequestSession(baseURL: server.url)
        do {
            let task = try session.upload(stream: source("cancelled"), to: "")
            task.whenProgressed { _ in sent.append(0) }
            task.resume()
            try await sent.wait(for: 1)
            task.cancel()
        }
        #expect(try await ended.wait(for: 1) == ["cancelled"])
        do {
            // It is copied before it is queued.
            let task = try session.upload(stream: source("copied").spooled(), to: "").resume()
            #expect(await task.explanation().state == "new")
            task.cancel()
        }
        #expect(try await ended.wait(for: 2) == ["cancelled", "copied"])
        do {
            let task = try session.upload(stream: source("closed"), to: "")
            task.whenProgressed { _ in sent.append(0) }
            task.resume()
            try await sent.wait(for: 2)
            await session.closeAndWait()
        }
        #expect(try await ended.wait(for: 3).last == "closed")
    }

    @Test func `a server that answers before the end of the body ends the request`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.read(100)
            connection.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            connection.waitForEnd()
        }
        let endless = AsyncStream<[UInt8]>(unfolding: { [UInt8](repeating: 1, count: 10) })
        let task = try RequestSession().upload(stream: BodyStream(endless), to: "http://127.0.0.1:\(server.port)/")
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.response?.statusCode == 413)
    }

    @Test func `a pipe is read as it fills, and a file from its position, again where needed`() async throws {
        let server = try UploadServer()
        let session = try RequestSession(baseURL: server.url)
        let pipe = Pipe()
        let task = try session.upload(stream: BodyStream(pipe.fileHandleForReading), to: "").resume()
        try pipe.fileHandleForWriting.write(contentsOf: Data("from ".utf8))
        try pipe.fileHandleForWriting.write(contentsOf: Data("a pipe".utf8))
        try pipe.fileHandleForWriting.close()
        try await task.response()
        let directory = try TemporaryDirectory()
        let path = try directory.file("file", "0123456789")
        let handle = try #require(FileHandle(forReadingAtPath: path))
        try handle.seek(toOffset: 2)
        let rest = try BodyStream(handle)
        let part = try BodyStream(fileDescriptor: handle.fileDescriptor, length: 3)
        #expect(rest.length == 8 && rest.isReopened)
        try handle.close()
        try await session.upload(stream: rest, to: "").response()
        try await session.upload(stream: part, to: "").response()
        let redirecting = try UploadServer(first: "HTTP/1.1 307 There\r\nLocation: /\r\n")
        try await session.upload(stream: part, to: redirecting.url).response()
        let bodies = (server.uploads.values + redirecting.uploads.values).map {
            String(decoding: $0.body, as: UTF8.self)
        }
        #expect(bodies == ["from a pipe", "23456789", "234", "234", "234"])
        #expect(server.uploads.values.map(\.length) == [nil, 8, 3])
        #expect(await failure { _ = try BodyStream(fileDescriptor: -1) } == "local unreadable-body")
    }

    @Test func `a pipe that stays empty holds up neither the end of its request nor other uploads`() async throws {
        let server = try UploadServer()
        let session = try RequestSession(baseURL: server.url)
        let pipe = Pipe()
        let waiting = try session.upload(stream: try BodyStream(pipe.fileHandleForReading), to: "waiting").resume()
        let directory = try TemporaryDirectory()
        let file = try directory.file("file", "contents")
        try await session.upload(file: file, to: "file").response()
        waiting.cancel()
        #expect(await session.closeAndWait())
        #expect(server.uploads.values.map { String(decoding: $0.body, as: UTF8.self) } == ["contents"])
        try pipe.fileHandleForWriting.close()
    }

    @Test func `an InputStream is a body`() async throws {
        let server = try UploadServer()
        let session = try RequestSession(baseURL: server.url)
        let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try await session.upload(stream: BodyStream(InputStream(data: data)), to: "").response()
        let known = BodyStream(InputStream(data: data), length: 200_000)
        try await session.upload(stream: known, to: "").response()
        #expect(server.uploads.values.allSatisfy { $0.body == Array(data) })
        #expect(server.uploads.values.map(\.length) == [nil, 200_000])
        let missing = try #require(InputStream(fileAtPath: "/nonexistent/file"))
        #expect(
            await failure { try await session.upload(stream: BodyStream(missing), to: "").response() }
                == "local unreadable-body")
    }

    @Test func `a session with a directory stores a stream, which a later run sends`() async throws {
        let directory = try TemporaryDirectory()
        let queue = directory.path + "/queue"
        let server = try UploadServer()
        do {
            let session = try RequestSession(keeping: .directory(queue), baseURL: server.url)
            session.suspend()
            let task = try session.upload(stream: BodyStream(Self.chunks(["kept ", "body"])), to: "")
            try await task.stored()
            await session.closeAndWait()
        }
        #expect(server.uploads.values.isEmpty)
        let session = try RequestSession(keeping: .directory(queue))
        session.resume()
        let task = try #require(await session.tasks().first)
        #expect(try await task.response().statusCode == 200)
        #expect(server.uploads.values.map { String(decoding: $0.body, as: UTF8.self) } == ["kept body"])
        // A source that fails is not stored, and leaves no file.
        let broken = try session.upload(stream: BodyStream(Self.chunks(["b"], error: SourceFailure())), to: server.url)
        #expect(await failure { try await broken.stored() } == "local unreadable-body")
        await session.closeAndWait()
        // The thread for files removes it a moment after the end was told.
        let files = { try FileManager.default.subpathsOfDirectory(atPath: queue).filter { $0.contains("body-") } }
        let deadline = ContinuousClock.now + .seconds(20)
        while try !files().isEmpty, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try files() == [])
    }

    @Test func `a stream that is copied has at most the bytes that the session holds, and leaves no file`() async throws
    {
        let server = try UploadServer()
        var options = RequestSessionOptions()
        options.maximumBytes = 10_000
        let session = try RequestSession(baseURL: server.url, options: options)
        let endless = AsyncStream<[UInt8]>(unfolding: { [UInt8](repeating: 1, count: 1000) })
        let tooLong = try session.upload(stream: BodyStream(endless).spooled(), to: "")
        #expect(await failure { try await tooLong.response() } == "request bad-body")
        #expect(
            await failure {
                let body = BodyStream(Self.chunks([]), length: 10_001).spooled()
                _ = try session.upload(stream: body, to: "")
            } == "request bad-body")
        // What is only passed on is not limited.
        let long = BodyStream(length: 1_000_000) { try Self.reader(String(repeating: "l", count: 1_000_000)) }
        try await session.upload(stream: long, to: "").response()
        #expect(server.uploads.values.map(\.body.count) == [1_000_000])
    }

    @Test func `a stub receives the whole body of a stream`() async throws {
        var options = RequestSessionOptions()
        let stub = StubTransport { _ in .json([:]) }
        options.stub = stub
        let session = try RequestSession(baseURL: "http://example.org", options: options)
        try await session.upload(stream: BodyStream(Self.chunks(["to the ", "stub"])), to: "").response()
        guard case .bytes(let bytes) = stub.requests.first?.body else {
            Issue.record("no body")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "to the stub")
    }

    private static func retrying(_ count: Int) -> RequestOptions {
        var options = RequestOptions()
        options.retries = .attempts(count)
        return options
    }

    /// A reader of a text, for a body that is opened again.
    private static func reader(_ text: String) throws -> (UnsafeMutableRawBufferPointer) throws -> Int {
        var rest = Array(text.utf8)[...]
        return { buffer in
            let piece = rest.prefix(buffer.count)
            buffer.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
    }
}

/// A server that reads bodies, in chunks too, and answers.
private final class UploadServer: Sendable {
    struct Upload: Sendable {
        var method: String
        /// The Content-Length; `nil` for chunks.
        var length: Int?
        var body: [UInt8]
    }

    let uploads = EventLog<Upload>()
    let url: String
    private let server: ScriptedServer

    /// - Parameters:
    ///   - first: The status line and fields of the first answer; 200 for others.
    ///   - beforeBody: Called before each body is read.
    init(first: String? = nil, beforeBody: @escaping @Sendable (String) -> Void = { _ in }) throws {
        let uploads = uploads
        server = try ScriptedServer { connection in
            while let head = Self.head(connection) {
                beforeBody(head)
                guard let upload = Self.upload(head, connection) else { return }
                let isFirst = uploads.values.isEmpty
                uploads.append(upload)
                let status = isFirst ? first ?? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 200 OK\r\n"
                connection.write(status + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            }
        }
        url = "http://127.0.0.1:\(server.port)/"
    }

    private static func head(_ connection: ScriptedServer.Connection) -> String? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = connection.read(1) else { return nil }
            head += byte
        }
        return String(decoding: head, as: UTF8.self)
    }

    private static func upload(_ head: String, _ connection: ScriptedServer.Connection) -> Upload? {
        let method = head.prefix { $0 != " " }
        var upload = Upload(method: String(method), length: 0, body: [])
        if head.lowercased().contains("transfer-encoding: chunked") {
            upload.length = nil
            while let size = line(connection).flatMap({ Int($0, radix: 16) }), let piece = connection.read(size + 2) {
                upload.body += piece.dropLast(2)
                if size == 0 { return upload }
            }
            return nil
        }
        if let field = head.split(separator: "\r\n").first(where: { $0.lowercased().hasPrefix("content-length:") }) {
            upload.length = Int(field.dropFirst(15).drop { $0 == " " })
            guard let body = connection.read(upload.length ?? 0) else { return nil }
            upload.body = body
        }
        return upload
    }

    private static func line(_ connection: ScriptedServer.Connection) -> String? {
        var line: [UInt8] = []
        while !line.suffix(2).elementsEqual("\r\n".utf8) {
            guard let byte = connection.read(1) else { return nil }
            line += byte
        }
        return String(decoding: line.dropLast(2), as: UTF8.self)
    }
}
