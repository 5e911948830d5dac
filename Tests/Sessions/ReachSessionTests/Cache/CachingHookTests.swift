import HTTPTypes
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// The hook that decides what the cache stores.
@Suite(.timeLimit(.minutes(1))) struct CachingHookTests {
    private static func stage(
        keeping: RequestSession.Keeping = .memory, length: Int = 1,
        _ decide: @escaping @Sendable (RequestTask?, WebResponse, [UInt8]) -> CachingDecision
    ) throws -> SessionStage {
        let count = EventLog<Int>()
        return try SessionStage(keeping: keeping) { options in
            options.responseSerializer = DataResponseSerializer()
            options.cache = .memory(bytes: 10 << 20)
            options.hooks.caching = decide
        } answer: { request in
            count.append(1)
            let body = String(repeating: "\(count.values.count)", count: length)
            let age = request.contains("stale") ? "no-store" : "max-age=1000"
            return
                "HTTP/1.1 200 OK\r\nCache-Control: \(age)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        }
    }

    private func texts(_ stage: SessionStage, _ paths: String...) async throws -> [String?] {
        var texts: [String?] = []
        for path in paths { texts.append(try await stage.session.get(path).response().text) }
        return texts
    }

    @Test func `a hook decides whether a response is stored`() async throws {
        let asked = EventLog<String>()
        let stage = try Self.stage { task, response, body in
            asked.append("\(task?.identifier ?? 0) \(response.url.path) \(response.statusCode) \(body.count)")
            return response.url.path.contains("secret") ? .doNotStore : .store
        }
        #expect(try await texts(stage, "a", "a", "secret", "secret") == ["1", "1", "2", "3"])
        // It is not asked about a response that came from the cache, nor about one that may not be stored.
        #expect(try await texts(stage, "stale") == ["4"])
        #expect(asked.values == ["1 /v1/a 200 1", "3 /v1/secret 200 1", "4 /v1/secret 200 1"])
    }

    @Test func `a response that is not stored removes an older one`() async throws {
        let stores = EventLog<Int>()
        let stage = try Self.stage { _, _, _ in
            stores.append(1)
            return stores.values.count == 1 ? .store : .doNotStore
        }
        var reloading = RequestOptions()
        reloading.cachePolicy = .reload
        #expect(try await texts(stage, "a", "a") == ["1", "1"])
        #expect(try await stage.session.get("a", options: reloading).response().text == "2")
        #expect(try await texts(stage, "a") == ["3"])
    }

    @Test func `a hook changes what is stored, and not the response`() async throws {
        let stage = try Self.stage { _, response, body in
            var fields = response.head.headerFields
            fields[.init("X-Stored")!] = "yes"
            return .storeAs(fields, body + Array("!".utf8))
        }
        #expect(try await texts(stage, "a", "a") == ["1", "1!"])
        let stored = try await stage.session.get("a").response()
        #expect(stored.head.headerFields[.init("X-Stored")!] == "yes" && stored.cacheUse != nil)
    }

    @Test func `the hook sees the whole body of an answer that is long`() async throws {
        let directory = try TemporaryDirectory()
        let sizes = EventLog<Int>()
        let stage = try Self.stage(keeping: .directory(directory.path + "/queue"), length: 400_000) { _, _, body in
            sizes.append(body.count)
            return .doNotStore
        }
        #expect(try await texts(stage, "a", "a").map { $0?.prefix(1) } == ["1", "2"])
        #expect(sizes.values == [400_000, 400_000])
        await stage.session.closeAndWait()
    }
}
