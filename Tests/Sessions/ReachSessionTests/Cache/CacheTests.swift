import Glibc
import ReachCore
import ReachSerialization
import ReachSession
import ReachTesting
import Testing

/// The cache between sessions and real servers.
@Suite(.timeLimit(.minutes(1))) struct CacheTests {
    /// Answers with the header lines that the query names, and a body that counts the requests:
    /// `/x?Cache-Control:max-age=9`. A request that validates gets 304.
    private final class Stage: Sendable {
        let server: ScriptedServer
        let session: RequestSession

        init(
            _ cache: ResponseCache.Keeping = .memory(), keeping: RequestSession.Keeping = .memory,
            _ change: (inout RequestSessionOptions) -> Void = { _ in }
        ) throws {
            let count = EventLog<String>()
            server = try ScriptedServer { connection in
                let request = connection.readRequest()
                count.append(request)
                connection.write(Self.answer(request, number: count.values.count))
            }
            var options = RequestSessionOptions()
            options.cache = cache
            options.responseSerializer = DataResponseSerializer()
            change(&options)
            session = try RequestSession(
                keeping: keeping, baseURL: "http://127.0.0.1:\(server.port)/", options: options)
        }

        private static func answer(_ request: String, number: Int) -> String {
            let target = request.split(separator: " ").dropFirst().first ?? ""
            let lines = target.split(separator: "?", maxSplits: 1).dropFirst().first.map {
                $0.replacing("%20", with: " ").replacing("%22", with: "\"").split(separator: "&")
                    .map { $0 + "\r\n" }.joined()
            }
            let isHead = request.hasPrefix("HEAD")
            if request.contains("If-None-Match") {
                return "HTTP/1.1 304 No\r\n\(lines ?? "")X-Number: \(number)\r\n\r\n"
            }
            let body = target.hasPrefix("/long") ? String(repeating: "x", count: 100_000) : "\(number)"
            let status = target.hasPrefix("/missing") ? "404 No" : "200 OK"
            return "HTTP/1.1 \(status)\r\n\(lines ?? "")Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
                + (isHead ? "" : body)
        }

        /// The bodies of these requests, one after the other.
        func get(_ paths: String..., policy: CachePolicy = .useProtocol) async throws -> [String] {
            var bodies: [String] = []
            for path in paths { bodies.append(try await response(path, policy).text ?? "") }
            return bodies
        }

        func response(_ path: String, _ policy: CachePolicy = .useProtocol) async throws -> RequestResponse {
            var options = RequestOptions()
            options.cachePolicy = policy
            return try await session.get(path, options: options).response()
        }
    }

    private static let fresh = "x?Cache-Control:max-age=1000"
    private static let tagged = "x?Cache-Control:max-age=0&ETag:%22a%22"

    /// It knows no token.
    private struct Failing: RequestInterceptor {
        func adapt(_ attempt: inout RequestAttempt) async throws { throw CancellationError() }
    }

    @Test func `what is kept for requests goes with them, also where their interceptor fails`() async throws {
        let stage = try Stage()
        stage.session.setInterceptor(Failing(), named: "api")
        let path = "/x?ETag:%20%22a%22&Cache-Control:%20max-age=0"
        _ = try await stage.get(path)
        var options = RequestOptions()
        options.interceptor = "api"
        for _ in 0..<256 {
            let summary = await failure { try await stage.session.get(path, options: options).response() }
            #expect(summary != "none")
        }
        _ = try await stage.get(path)
        #expect(stage.server.requests.values.count == 2)
        #expect(stage.server.requests.values.last?.contains("If-None-Match") == true)
    }

    @Test func `a fresh response is used again, and says how old it is`() async throws {
        let stage = try Stage()
        #expect(try await stage.response(Self.fresh).cacheUse == nil)
        let again = try await stage.response(Self.fresh)
        #expect(again.text == "1" && again.statusCode == 200 && stage.server.requests.values.count == 1)
        let use = try #require(again.cacheUse)
        #expect(use.age < .seconds(60) && !use.isStale && !use.isValidated)
    }

    @Test func `a stream stores nothing, and reads what is stored`() async throws {
        let stage = try Stage()
        func read() async throws -> String {
            var text = ""
            for try await piece in try await stage.session.get(Self.fresh).stream() {
                text += String(decoding: piece, as: UTF8.self)
            }
            return text
        }
        #expect(try await read() == "1")
        #expect(try await stage.get(Self.fresh, Self.fresh) == ["2", "2"])
        #expect(try await read() == "2" && stage.server.requests.values.count == 2)
    }

    @Test func `without a cache nothing is used again`() async throws {
        let stage = try Stage(.none)
        #expect(try await stage.get(Self.fresh, Self.fresh) == ["1", "2"])
        #expect(
            await failure { _ = try await stage.response(Self.fresh, .returnCacheDontLoad) } == "destination not-cached"
        )
    }

    @Test func `two sessions share no response`() async throws {
        let (stage, other) = (try Stage(), try Stage())
        let url = "http://127.0.0.1:\(stage.server.port)/\(Self.fresh)"
        #expect(try await stage.get(url) == ["1"])
        #expect(try await other.get(url) == ["2"])
    }

    @Test func `HEAD uses what GET stored`() async throws {
        let stage = try Stage()
        _ = try await stage.response(Self.fresh)
        let head = try await stage.session.head(Self.fresh).response()
        #expect(head.cacheUse != nil && head.body.isEmpty && stage.server.requests.values.count == 1)
    }

    @Test func `the server confirms a stale response, and the stored body is the answer`() async throws {
        let stage = try Stage()
        _ = try await stage.response(Self.tagged)
        let again = try await stage.response(Self.tagged)
        #expect(again.text == "1" && again.statusCode == 200 && again.cacheUse?.isValidated == true)
        #expect(stage.server.requests.values.last?.contains("If-None-Match: \"a\"\r\n") == true)
    }

    @Test func `a 304 about another response makes the request go again without a condition`() async throws {
        let server = try ScriptedServer { connection in
            let request = connection.readRequest()
            let isConditional = request.contains("If-None-Match")
            connection.write(
                isConditional
                    ? "HTTP/1.1 304 No\r\nETag: \"b\"\r\nConnection: close\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nCache-Control: no-cache\r\nContent-Length: 2\r\n"
                        + "Connection: close\r\n\r\nok")
        }
        let stage = try Stage()
        let url = "http://127.0.0.1:\(server.port)/"
        #expect(try await stage.get(url, url) == ["ok", "ok"])
        #expect(server.requests.values.map { $0.contains("If-None-Match") } == [false, true, false])
    }

    @Test func `a condition is not sent to where a redirect leads`() async throws {
        let server = try ScriptedServer { connection in
            let request = connection.readRequest()
            connection.write(
                request.contains("If-None-Match") && request.hasPrefix("GET /x")
                    ? "HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nCache-Control: no-cache\r\nContent-Length: 2\r\n"
                        + "Connection: close\r\n\r\nok")
        }
        let stage = try Stage()
        let url = "http://127.0.0.1:\(server.port)/x"
        #expect(try await stage.get(url, url) == ["ok", "ok"])
        #expect(server.requests.values.map { $0.contains("If-None-Match") } == [false, true, false])
    }

    @Test func `a condition of the caller's own goes to where a redirect leads`() async throws {
        let server = try ScriptedServer { connection in
            let isFirst = connection.readRequest().hasPrefix("GET /x")
            connection.write(
                "HTTP/1.1 \(isFirst ? "302 Found" : "200 OK")\r\nLocation: /y\r\nContent-Length: 0\r\n"
                    + "Connection: close\r\n\r\n")
        }
        let stage = try Stage()
        try await stage.session.get(
            "http://127.0.0.1:\(server.port)/x", headers: [.ifNoneMatch: "\"mine\""]
        ).response()
        #expect(server.requests.values.map { $0.contains("If-None-Match: \"mine\"") } == [true, true])
    }

    @Test func `an answer to POST removes what is stored of its URL and its location`() async throws {
        let stage = try Stage()
        let other = "y?Cache-Control:max-age=1000"
        #expect(try await stage.get(Self.fresh, other) == ["1", "2"])
        try await stage.session.post("z?Location:/\(Self.fresh)").response()
        try await stage.session.delete(other).response()
        #expect(try await stage.get(Self.fresh, other) == ["5", "6"])
    }

    @Test func `a program removes one stored response, or all`() async throws {
        let stage = try Stage()
        let other = "y?Cache-Control:max-age=1000"
        _ = try await stage.get(Self.fresh, other)
        #expect(stage.session.cache.bytes > 0)
        await stage.session.cache.remove(try WebAddress("http://127.0.0.1:\(stage.server.port)/\(Self.fresh)"))
        #expect(try await stage.get(Self.fresh, other) == ["3", "2"])
        await stage.session.cache.removeAll()
        #expect(stage.session.cache.bytes == 0)
        #expect(try await stage.get(Self.fresh, other) == ["4", "5"])
    }

    @Test func `policies use a stored response, or pass it by`() async throws {
        let stage = try Stage()
        #expect(await failure { _ = try await stage.response("x", .returnCacheDontLoad) } == "destination not-cached")
        #expect(stage.server.requests.values.isEmpty)
        #expect(try await stage.get("x") == ["1"])
        #expect(try await stage.get("x", policy: .returnCacheElseLoad) == ["1"])
        #expect(try await stage.response("x", .returnCacheDontLoad).cacheUse?.isStale == true)
        #expect(try await stage.get("x", policy: .reload) == ["2"])
        #expect(try await stage.get("x", policy: .returnCacheElseLoad) == ["2"])
    }

    @Test func `only-if-cached fails where the server would have to be asked`() async throws {
        let stage = try Stage()
        let task = { try stage.session.get(Self.fresh, headers: [.cacheControl: "only-if-cached"]) }
        #expect(await failure { try await task().response() } == "destination not-cached")
        _ = try await stage.response(Self.fresh)
        #expect(try await task().response().text == "1")
    }

    @Test func `a request with other credentials of its own is sent`() async throws {
        let stage = try Stage()
        let get = { (token: String?) in
            try await stage.session.get(Self.fresh, headers: token.map { [.authorization: $0] } ?? [:]).response().text
        }
        #expect(try await get("Bearer a") == "1")
        #expect(try await get("Bearer a") == "1")
        #expect(try await get("Bearer b") == "2")
        #expect(try await get(nil) == "3")
    }

    @Test func `a stored 404 is an error again`() async throws {
        let stage = try Stage { $0.responseSerializer = JSONResponseSerializer() }
        let path = "missing?Cache-Control:max-age=1000"
        let errors = [
            await failure { _ = try await stage.response(path) }, await failure { _ = try await stage.response(path) },
        ]
        #expect(errors[0] == errors[1] && errors[0].hasPrefix("response"))
        #expect(stage.server.requests.values.count == 1)
    }

    @Test func `requests with an order or a name pass by the cache, and downloads too`() async throws {
        let stage = try Stage()
        let directory = try TemporaryDirectory()
        _ = try await stage.response(Self.fresh)
        var options = RequestOptions()
        options.orderKey = "order"
        #expect(try await stage.session.get(Self.fresh, options: options).response().text == "2")
        try await stage.session.download(Self.fresh, to: directory.path + "/file").response()
        #expect(stage.server.requests.values.count == 3)
        #expect(try await stage.get(Self.fresh) == ["1"])
    }

    @Test func `a task that the cache answers is completed, and was not stored`() async throws {
        let stage = try Stage()
        _ = try await stage.response(Self.fresh)
        let log = EventLog<RequestNotification>()
        let task = try stage.session.get(Self.fresh)
        stage.session.addObserver(task: task) { log.append($0.name) }
        #expect(await failure { try await task.stored() } == "not-taken not-stored")
        #expect(try await log.wait(for: 2) == [.didResume, .didComplete])
        #expect(task.requestState == .completed)
    }

    // MARK: - Without a network, or a server

    @Test func `without a path a request is answered from the cache instead of waiting`() async throws {
        let stage = try Stage()
        _ = try await stage.response("x?Cache-Control:no-cache,max-age=0")
        var options = RequestOptions()
        options.constraint = .interface("reach-none")
        options.cachePolicy = .returnCacheWhenOffline
        let task = try stage.session.get("x?Cache-Control:no-cache,max-age=0", options: options)
        let response = try await task.response()
        #expect(response.text == "1" && response.cacheUse?.isStale == true)
        #expect(stage.server.requests.values.count == 1)
        #expect(await stage.session.tasks().isEmpty)
    }

    @Test func `a server that is gone is replaced by what is stored, where the policy or the server allows it`()
        async throws
    {
        var server: ScriptedServer? = try ScriptedServer { connection in
            let allows = connection.readRequest().contains("/allowed") ? ", stale-if-error=1000" : ""
            connection.write(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=0\(allows)\r\nContent-Length: 3\r\n"
                    + "Connection: close\r\n\r\nold")
        }
        let stage = try Stage()
        let root = "http://127.0.0.1:\(try #require(server?.port))/"
        #expect(try await stage.get(root + "allowed", root + "x") == ["old", "old"])
        server = nil
        let allowed = try await stage.response(root + "allowed")
        #expect(allowed.text == "old" && allowed.cacheUse?.isStale == true)
        #expect(try await stage.get(root + "x", policy: .returnCacheWhenOffline) == ["old"])
        #expect(await failure { _ = try await stage.response(root + "x") } != "none")
    }

    @Test func `an error of the server is replaced while the server allows it`() async throws {
        let answers = EventLog<Int>()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            answers.append(1)
            connection.write(
                answers.values.count == 1
                    ? "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-if-error=60\r\nContent-Length: 2\r\n"
                        + "Connection: close\r\n\r\nok"
                    : "HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let stage = try Stage()
        let url = "http://127.0.0.1:\(server.port)/"
        #expect(try await stage.get(url, url) == ["ok", "ok"])
        #expect(answers.values.count == 2)
    }

    // MARK: - The directory

    private static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private static func files(_ path: String) throws -> [String] {
        try ChildProcess.run(["ls", path]).split(separator: "\n").map(String.init).filter { $0.hasSuffix(".answer") }
    }

    @Test func `responses on disk outlive the session, for its owner alone, and their names hold no secret`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/cache"
        let first = try Stage(.directory(path))
        let url = "http://127.0.0.1:\(first.server.port)/\(Self.fresh)&secret:1"
        #expect(try await first.get(url) == ["1"])
        #expect(await first.session.closeAndWait())
        let names = try Self.files(path)
        #expect(names.count == 1 && names.allSatisfy { $0.count == 64 + 7 && !$0.contains("secret") })
        #expect(Self.mode(path) == 0o700 && names.allSatisfy { Self.mode(path + "/" + $0) == 0o600 })
        let second = try Stage(.directory(path))
        #expect(try await second.get(url) == ["1"])
        #expect(second.server.requests.values.isEmpty)
        await second.session.closeAndWait()
    }

    @Test func `one session at a time has the directory`() async throws {
        let directory = try TemporaryDirectory()
        let first = try Stage(.directory(directory.path + "/cache"))
        #expect(await failure { _ = try Stage(.directory(directory.path + "/cache")) } == "not-taken in-use")
        withExtendedLifetime(first) {}
    }

    @Test func `a damaged file is removed, and the request is sent`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/cache"
        let first = try Stage(.directory(path))
        let url = "http://127.0.0.1:\(first.server.port)/\(Self.fresh)"
        _ = try await first.get(url)
        await first.session.closeAndWait()
        for name in try Self.files(path) { #expect(truncate(path + "/" + name, 100) == 0) }
        try directory.file("cache/0.answer.new", "interrupted")
        let second = try Stage(.directory(path))
        #expect(try await second.get(url, url) == ["2", "2"])
        await second.session.closeAndWait()
        #expect(try Self.files(path).count == 1)
        #expect(access(path + "/0.answer.new", F_OK) != 0)
    }

    @Test func `a directory stays within its bytes, and an answer that is too long is not stored`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/cache"
        let stage = try Stage(.directory(path, bytes: 8000, memoryBytes: 0))
        for number in 0..<40 { _ = try await stage.response("\(number)?Cache-Control:max-age=1000") }
        _ = try await stage.response("long?Cache-Control:max-age=1000")
        #expect(stage.session.cache.bytes <= 8000 && stage.session.cache.bytes > 4000)
        await stage.session.closeAndWait()
        let sizes = try Self.files(path).map { name in
            var status = stat()
            return stat(path + "/" + name, &status) == 0 ? Int(status.st_size) : 0
        }
        #expect(sizes.reduce(0, +) <= 8000 && sizes.count > 10)
        #expect(stage.server.requests.values.count == 41)
    }

    @Test func `a session with a directory caches long answers and confirmed ones, too`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try Stage(.memory(), keeping: .directory(directory.path + "/requests"))
        let long = "long?Cache-Control:max-age=1000"
        #expect(try await stage.response(long).body.count == 100_000)
        let again = try await stage.response(long)
        #expect(again.body.count == 100_000 && again.cacheUse != nil)
        let tagged = "long?ETag:%22a%22&Cache-Control:no-cache"
        _ = try await stage.response(tagged)
        let confirmed = try await stage.response(tagged)
        #expect(confirmed.body.count == 100_000 && confirmed.cacheUse?.isValidated == true)
        #expect(stage.server.requests.values.count == 3)
        await stage.session.closeAndWait()
    }
}
