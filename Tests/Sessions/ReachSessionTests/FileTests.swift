import FoundationEssentials
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Uploads from files and downloads into them.
@Suite(.timeLimit(.minutes(1))) struct FileTests {
    private static let plain: @Sendable (inout RequestSessionOptions) -> Void = {
        $0.responseSerializer = DataResponseSerializer()
    }

    @Test(arguments: [false, true])
    func `a file is uploaded`(onDisk: Bool) async throws {
        let directory = try TemporaryDirectory()
        let stage = try SessionStage(keeping: onDisk ? .directory(directory.path + "/queue") : .memory)
        let path = try directory.file("report", "the report")
        try await stage.session.upload(file: path, to: "reports/1").response()
        let request = try #require(stage.server.requests.values.first)
        #expect(request.hasPrefix("PUT /v1/reports/1 HTTP/1.1\r\n") && request.hasSuffix("\r\n\r\nthe report"))
        #expect(request.contains("Content-Length: 10\r\n"))
        await stage.session.closeAndWait()
    }

    @Test(arguments: [(false, 10), (false, 3_000_000), (true, 10), (true, 3_000_000)])
    func `a form with a file is uploaded, and leaves no temporary files`(onDisk: Bool, size: Int) async throws {
        let directory = try TemporaryDirectory()
        let stage = try SessionStage(keeping: onDisk ? .directory(directory.path + "/queue") : .memory)
        let path = try directory.file("data.txt", String(repeating: "d", count: size))
        try await stage.session.postForm("form", parameters: ["name": "Ann"]) { form throws(BodyFileError) in
            try form.append(file: path, name: "file")
        }.response()
        let request = try #require(stage.server.requests.values.first)
        #expect(request.contains("Content-Type: multipart/form-data; boundary=Boundary+"))
        #expect(request.contains("name=\"name\"\r\n\r\nAnn\r\n"))
        #expect(request.contains("name=\"file\"; filename=\"data.txt\"\r\nContent-Type: text/plain\r\n\r\nddd"))
        #expect(request.utf8.count > size && request.hasSuffix("--\r\n"))
        await stage.session.closeAndWait()
        if onDisk { #expect(try ChildProcess.run(["ls", directory.path + "/queue/spool"]) == "") }
    }

    @Test func `a form is read while it is sent, and each time that it is sent`() async throws {
        let (gate, reads) = (ThreadGate(), EventLog<Int>())
        let (count, opened) = (30_000_000, EventLog<Int>())
        let server = try ScriptedServer { connection in
            gate.wait()
            let request = connection.readRequest()
            guard request.utf8.count > count else { return }
            connection.write(
                opened.values.count < 2 ? SessionStage.answer("{}", status: "503 Later") : SessionStage.answer("{}"))
        }
        defer { gate.open() }
        var options = RequestOptions()
        options.retries = .attempts(3)
        let task = try RequestSession().postForm("http://127.0.0.1:\(server.port)/", options: options) { form in
            form.append(length: Int64(count), name: "a", fileName: "a", mediaType: "text/plain") {
                opened.append(1)
                return { buffer in
                    reads.append(buffer.count)
                    buffer.initializeMemory(as: UInt8.self, repeating: 7)
                    return buffer.count
                }
            }
        }
        task.resume()
        try await reads.wait(for: 2)
        // Sockets and our own buffer hold a part of it, while the server reads nothing.
        #expect(reads.values.reduce(0, +) < count)
        gate.open()
        #expect(try await task.response().statusCode == 200)
        #expect(opened.values.count == 2 && reads.values.reduce(0, +) == 2 * count)
    }

    @Test func `a form whose stream fails is an error`() async throws {
        struct Broken: Error {}
        let stage = try SessionStage()
        let task = try stage.session.postForm("x") { form in
            form.append(length: 3_000_000, name: "a", fileName: "a", mediaType: "text/plain") { throw Broken() }
        }
        #expect(await failure { try await task.response() } == "local file-failed")
    }

    @Test func `a form whose file is larger than what the session holds is streamed`() async throws {
        let directory = try TemporaryDirectory()
        try directory.file("big", String(repeating: "x", count: 300_000))
        let stage = try SessionStage { $0.maximumBytes = 100_000 }
        try await stage.session.postForm("form") { try $0.append(file: directory.path + "/big", name: "f") }.response()
        #expect(stage.server.requests.values.first?.utf8.count ?? 0 > 300_000)
        let held = await failure {
            _ = try stage.session.postForm("form") { $0.append([UInt8](repeating: 0, count: 200_000), name: "f") }
        }
        #expect(held == "request bad-body")
    }

    @Test(arguments: [false, true])
    func `a download replaces its file only when it is complete`(onDisk: Bool) async throws {
        let directory = try TemporaryDirectory()
        let body = String(repeating: "0123456789", count: 20_000)
        let stage = try SessionStage(
            keeping: onDisk ? .directory(directory.path + "/queue") : .memory, Self.plain
        ) { request in
            request.contains("missing")
                ? SessionStage.answer("no", status: "404 No", type: "text/plain")
                : SessionStage.answer(body, type: "text/plain")
        }
        try directory.file("there", "what was there before")
        let path = directory.path + "/there"
        #expect(
            await failure { try await stage.session.download("missing", to: path).response() } == "response bad-status")
        #expect(try ChildProcess.run(["cat", path]) == "what was there before")
        let response = try await stage.session.download("whole", to: path).response()
        #expect(response.path == path && response.body.isEmpty)
        #expect(try ChildProcess.run(["cat", path]) == body)
        await stage.session.closeAndWait()
        #expect(try ChildProcess.run(["ls", directory.path]) == (onDisk ? "queue\nthere\n" : "there\n"))
    }

    @Test func `a path that cannot be written is an error`() async throws {
        let stage = try SessionStage()
        let task = try stage.session.download("x", to: "/nonexistent/there")
        #expect(await failure { try await task.response() } == "local file-failed")
    }

    @Test func `a download that is cancelled with resume data can be resumed`() async throws {
        let directory = try TemporaryDirectory()
        let server = try HalvingServer()
        let path = directory.path + "/there"
        let session = try RequestSession()
        let task = try await server.begunDownload(by: session, to: path)
        let data = try #require(await task.cancelProducingResumeData())
        #expect(await failure { try await task.response() } == "cancelled cancelled")
        #expect(data.offset > 0 && data.offset <= 100_000 && data.entityTag == "\"one\"" && data.destination == path)
        #expect(ResumeData(data.bytes) == data && data.totalBytes == Int64(HalvingServer.body.utf8.count))
        #expect(try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(data)) == data)
        #expect(try JSONDecoder().decode(ResumeData.self, from: Data(data.bytes)) == data)
        #expect(ResumeData(Array("{}".utf8)) == nil)
        server.gate.open()
        let other = try RequestSession()
        let response = try await other.download(resuming: data).response()
        #expect(response.path == path && response.statusCode == 206)
        #expect(try ChildProcess.run(["cat", path]) == HalvingServer.body)
        #expect(server.ranges == ["Range: bytes=\(data.offset)-"])
        #expect(try ChildProcess.run(["ls", directory.path]) == "there\n")
    }

    @Test func `a download whose part is gone begins again, at a new URL if there is one`() async throws {
        let directory = try TemporaryDirectory()
        let server = try HalvingServer()
        let path = directory.path + "/there"
        let session = try RequestSession()
        var data = try #require(
            await server.begunDownload(by: session, to: path).cancelProducingResumeData())
        server.gate.open()
        try ChildProcess.run(["rm", data.partialFile])
        data.url += "?signed=again"
        let response = try await session.download(resuming: data).response()
        #expect(response.path == path && response.statusCode == 200)
        #expect(server.server.requests.values.last?.contains("?signed=again ") == true)
        #expect(try ChildProcess.run(["cat", path]) == HalvingServer.body)
    }

    @Test func `a suspended download resumes where it stopped`() async throws {
        let directory = try TemporaryDirectory()
        let server = try HalvingServer()
        let path = directory.path + "/there"
        let session = try RequestSession()
        let task = try await server.begunDownload(by: session, to: path)
        task.suspend()
        while await task.explanation().state != "held" { await Task.yield() }
        server.gate.open()
        task.resume()
        try await task.response()
        #expect(try ChildProcess.run(["cat", path]) == HalvingServer.body)
        #expect(server.server.requests.values.count == 2)
    }

    /// A session whose download waits for long between two attempts, of which each brings four bytes.
    private func waitingDownload(
        to path: String, keeping: RequestSession.Keeping
    ) async throws -> (RequestSession, RequestTask) {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 100\r\n\r\nhalf")
        }
        let session = try RequestSession(keeping: keeping)
        var options = RequestOptions()
        options.retries = .attempts(9)
        session.setInterceptor(
            ClosureInterceptor(retryFailure: { _, _ in .retryAfter(.seconds(3600)) }), named: "patient")
        options.interceptor = "patient"
        let task = try session.download("http://127.0.0.1:\(server.port)/", to: path, options: options)
        task.resume()
        while await task.explanation().state != "backoff" { try await Task.sleep(for: .milliseconds(5)) }
        return (session, task)
    }

    @Test(arguments: [false, true])
    func `a download that is cancelled between two attempts leaves nothing`(onDisk: Bool) async throws {
        let (directory, stored) = (try TemporaryDirectory(), try TemporaryDirectory())
        let (session, task) = try await waitingDownload(
            to: directory.path + "/there", keeping: onDisk ? .directory(stored.path + "/queue") : .memory)
        #expect(try ChildProcess.run(["ls", directory.path]).contains("there.part-"))
        task.cancel()
        #expect(await failure { try await task.response() } == "cancelled cancelled")
        await session.closeAndWait()
        while try ChildProcess.run(["ls", directory.path]) != "" { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test(arguments: [false, true])
    func `a download that a later run cancels leaves nothing, but what can be resumed`(resumes: Bool) async throws {
        let (directory, stored) = (try TemporaryDirectory(), try TemporaryDirectory())
        let place = RequestSession.Keeping.directory(stored.path + "/queue")
        let (session, _) = try await waitingDownload(to: directory.path + "/there", keeping: place)
        await session.closeAndWait()
        #expect(try ChildProcess.run(["ls", directory.path]).contains("there.part-"))
        let later = try RequestSession(keeping: place)
        let task = try #require(await later.tasks().first)
        if resumes {
            let data = try #require(await task.cancelProducingResumeData())
            #expect(data.offset == 4)
            #expect(try ChildProcess.run(["cat", data.partialFile]) == "half")
        } else {
            task.cancel()
        }
        #expect(await failure { try await task.response() } == "cancelled cancelled")
        await later.closeAndWait()
        if resumes { #expect(try ChildProcess.run(["ls", directory.path]).contains("there.part-")) }
        while !resumes, try ChildProcess.run(["ls", directory.path]) != "" {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `the error of a failed download has resume data`() async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 100\r\n\r\nhalf")
        }
        let session = try RequestSession()
        let task = try session.download("http://127.0.0.1:\(server.port)/", to: directory.path + "/there")
        guard case .failure(let error) = await task.awaitedResult else { throw TestFailure("no error") }
        #expect(error.summary == "destination truncated")
        #expect(error.resumeData?.offset == 4)
        #expect(try ChildProcess.run(["cat", error.resumeData?.partialFile ?? ""]) == "half")
    }
}
