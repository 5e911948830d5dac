import ReachCore
import ReachSession
import ReachTesting
import Synchronization
import Testing

/// What AFImageDownloader has besides coalescing: whole requests, caches of one's own, order, and receipts.
@Suite(.timeLimit(.minutes(1))) struct FetcherRequestTests {
    /// A server that logs requests, and answers them while its gate is open.
    private final class Stage: Sendable {
        let requests = EventLog<String>()
        let gate = ThreadGate()
        let stage: SessionStage

        init(isOpen: Bool = true) throws {
            let (requests, gate) = (requests, gate)
            if isOpen { gate.open() }
            stage = try SessionStage(answer: { request in
                requests.append(request)
                gate.wait()
                return SessionStage.echo(request)
            })
        }

        deinit { gate.open() }

        var session: RequestSession { stage.session }

        /// The paths in the order of arrival.
        var paths: [String] {
            requests.values.map { $0.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
        }
    }

    /// A cache of a program's own, which keeps nothing that is called private.
    private final class Shelf: FetchCache {
        private let kept = Mutex<[FetchKey: RequestResponse]>([:])

        func shouldCache(_ response: RequestResponse, for key: FetchKey) -> Bool {
            !key.url.description.contains("private")
        }

        func add(_ response: RequestResponse, for key: FetchKey) { kept.withLock { $0[key] = response } }

        func response(for key: FetchKey) -> RequestResponse? { kept.withLock { $0[key] } }

        func remove(_ key: FetchKey) -> Bool { kept.withLock { $0.removeValue(forKey: key) } != nil }

        func removeAll() -> Bool {
            kept.withLock { kept in
                defer { kept = [:] }
                return !kept.isEmpty
            }
        }

        var totalBytes: Int64 { kept.withLock { $0.values.reduce(0) { $0 + Int64($1.body.count) } } }

        var paths: [String] { kept.withLock { $0.keys.map(\.url.requestTarget).sorted() } }
    }

    @Test func `other header fields are another fetch, and equal ones the same`() async throws {
        let stage = try Stage()
        let fetcher = SharedFetcher(stage.session)
        for type in ["image/png", "image/webp", "image/png", "image/webp"] {
            #expect(try await fetcher.fetch("a", headers: [.accept: type]).statusCode == 200)
        }
        #expect(try await fetcher.fetch("a").statusCode == 200)
        let accepts = stage.requests.values.map { $0.lowercased().contains("accept: image/webp") }
        #expect(accepts == [false, true, false])
    }

    @Test func `a whole request is sent as it is, and its method and body make it equal`() async throws {
        let stage = try Stage()
        let fetcher = SharedFetcher(stage.session)
        let (scheme, authority) = ("http", String(stage.stage.root.dropFirst(7)))
        var request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/whole?a=1")
        request.headerFields = [.acceptLanguage: "tlh"]
        for _ in 0..<2 { #expect(try await fetcher.fetch(request).statusCode == 200) }
        #expect(stage.requests.values.count == 1)
        #expect(stage.requests.values[0].hasPrefix("GET /whole?a=1 HTTP/1.1\r\n"))
        #expect(stage.requests.values[0].contains("tlh") && !stage.requests.values[0].contains("stage/1.2"))
        request.method = .post
        for body in ["one", "two", "one"] { _ = try await fetcher.fetch(request, body: Array(body.utf8)) }
        #expect(stage.requests.values.dropFirst().map { $0.hasPrefix("POST /whole") } == [true, true])
    }

    @Test func `reloading asks the server, and replaces what is cached`() async throws {
        let stage = try Stage()
        let cache = AutoPurgingCache<FetchKey, RequestResponse>()
        let fetcher = SharedFetcher(stage.session, cache: cache)
        let receipt = try #require(try fetcher.fetch("a") { _ in })
        #expect(try await fetcher.fetch("a").statusCode == 200)
        #expect(stage.requests.values.count == 1 && cache.count == 1)
        #expect(try await fetcher.fetch("a", reloading: true).statusCode == 200)
        #expect(stage.requests.values.count == 2 && cache.count == 1)
        #expect(try fetcher.fetch("a") { _ in } == nil)
        #expect(cache.remove(receipt.key) && fetcher.cachedBytes == 0)
        #expect(try await fetcher.fetch("a").statusCode == 200)
        #expect(stage.requests.values.count == 3)
    }

    @Test func `a cache of one's own keeps what it and the program accept, and what the program adds`() async throws {
        let stage = try Stage()
        let shelf = Shelf()
        let fetcher = SharedFetcher(stage.session, cache: shelf) { response, key in
            response.statusCode == 200 && !key.url.description.hasSuffix("large")
        }
        for path in ["a", "large", "private", "a", "large", "private"] { _ = try await fetcher.fetch(path) }
        #expect(stage.paths == ["/v1/a", "/v1/large", "/v1/private", "/v1/large", "/v1/private"])
        #expect(shelf.paths == ["/v1/a"] && fetcher.cachedBytes == shelf.totalBytes && shelf.totalBytes > 0)
        let receipt = try #require(try fetcher.fetch("private") { _ in })
        let response = try await fetcher.fetch("a")
        _ = try await fetcher.fetch("private")
        shelf.add(response, for: receipt.key)
        #expect(try await fetcher.fetch("private").url == response.url)
        fetcher.removeAllCached()
        #expect(fetcher.cachedBytes == 0 && shelf.paths.isEmpty)
        let none = SharedFetcher(stage.session, cache: nil)
        let before = stage.requests.values.count
        for _ in 0..<2 { _ = try await none.fetch("c") }
        #expect(stage.requests.values.count == before + 2 && none.cachedBytes == 0)
    }

    @Test(arguments: [(FetchOrder.firstInFirstOut, ["a", "b", "c"]), (.lastInFirstOut, ["a", "c", "b"])])
    func `queued fetches start in the order that was chosen`(order: FetchOrder, expected: [String]) async throws {
        let stage = try Stage(isOpen: false)
        let fetcher = SharedFetcher(stage.session, limit: 1)
        fetcher.order = order
        for path in ["a", "b", "c"] { try fetcher.fetch(path) { _ in } }
        try await stage.requests.wait(for: 1)
        stage.gate.open()
        try await stage.requests.wait(for: 3)
        #expect(stage.paths == expected.map { "/v1/" + $0 } && fetcher.order == order)
    }

    @Test func `no more run than allowed`() async throws {
        let stage = try Stage(isOpen: false)
        let fetcher = SharedFetcher(stage.session, limit: 2)
        let results = EventLog<Int>()
        for number in 0..<5 { try fetcher.fetch("\(number)") { results.append((try? $0.get())?.statusCode ?? 0) } }
        try await stage.requests.wait(for: 2)
        #expect(await stage.session.tasks().count == 2 && fetcher.limit == 2)
        stage.gate.open()
        #expect(try await results.wait(for: 5) == Array(repeating: 200, count: 5))
        #expect(SharedFetcher(stage.session, limit: 0).limit == 1)
    }

    @Test func `a caller is added by a receipt, and a removed one is not called`() async throws {
        let stage = try Stage(isOpen: false)
        let fetcher = SharedFetcher(stage.session)
        let log = EventLog<String>()
        let first = try #require(try fetcher.fetch("a") { _ in log.append("first") })
        let second = try #require(fetcher.add(to: first) { _ in log.append("second") })
        let third = try #require(fetcher.add(to: second) { _ in log.append("third") })
        #expect(Set([first, second, third]).count == 3 && third.url == first.url)
        let removed = [fetcher.remove(first), fetcher.remove(first)]
        #expect(removed == [true, false])
        #expect(fetcher.add(to: first) { _ in log.append("late") } == nil)
        fetcher.cancel(second)
        #expect(try await log.wait(for: 1) == ["second"])
        stage.gate.open()
        #expect(try await log.wait(for: 2) == ["second", "third"])
        #expect(fetcher.add(to: third) { _ in log.append("late") } == nil)
        #expect(stage.requests.values.count == 1 && log.values.count == 2)
    }

    @Test func `a fetch ends with its last receipt, however that goes`() async throws {
        let stage = try Stage(isOpen: false)
        let fetcher = SharedFetcher(stage.session, limit: 1)
        let ends = EventLog<String>()
        stage.session.addObserver(forName: .didComplete) { ends.append("\($0.task.requestState)") }
        // Removed, and cancelled with a Swift task.
        let waiting = Task { await failure { _ = try await fetcher.fetch("a") } }
        try await stage.requests.wait(for: 1)
        let receipt = try #require(try fetcher.fetch("a") { _ in })
        fetcher.remove(receipt)
        #expect(ends.values.isEmpty)
        waiting.cancel()
        #expect(await waiting.value == "cancelled cancelled")
        #expect(try await ends.wait(for: 1) == ["cancelled"])
        // One that is queued is never sent.
        let running = try #require(try fetcher.fetch("b") { _ in })
        let queued = try #require(try fetcher.fetch("c") { _ in })
        try await stage.requests.wait(for: 2)
        fetcher.remove(queued)
        fetcher.cancel(running)
        #expect(try await ends.wait(for: 2) == ["cancelled", "cancelled"])
        #expect(await stage.session.tasks().isEmpty)
        stage.gate.open()
        #expect(try await fetcher.fetch("d").statusCode == 200)
        #expect(stage.paths == ["/v1/a", "/v1/b", "/v1/d"])
    }

    @Test func `what cannot be sent or shared is refused before anything is asked`() async throws {
        let stage = try Stage()
        let fetcher = SharedFetcher(stage.session)
        var request = WebRequest(method: .put, url: try WebAddress(stage.stage.root + "/file"))
        request.body = .file(path: "/etc/hostname", length: 1)
        let whole = request
        #expect(await failure { _ = try await fetcher.fetch(whole) } == "request bad-body")
        #expect(
            await failure { _ = try await fetcher.fetch("a", headers: [.transferEncoding: "chunked"]) }
                == "request bad-header")
        let kept = RequestResponse(
            WebResponse(url: try WebAddress(stage.stage.root + "/kept"), head: HTTPResponse(status: .ok)), body: [1])
        let (key, other) = (try fetcher.key("/kept"), try fetcher.key("/other"))
        fetcher.cache?.add(kept, for: key)
        #expect(try await fetcher.fetch("/kept").body == [1])
        #expect(fetcher.cache?.response(for: other) == nil)
        let relative = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/a")
        #expect(await failure { _ = try await fetcher.fetch(relative) } == "request bad-url")
        #expect(stage.requests.values.isEmpty)
    }
}
