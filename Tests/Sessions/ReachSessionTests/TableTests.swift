import Dispatch
import FoundationEssentials
import HTTPTypes
import ReachCore
import ReachSerialization
import ReachSession
import ReachTesting
import Synchronization
import Testing

/// What the articles for users of AFNetworking and Alamofire promise, and no other test shows.
@Suite(.timeLimit(.minutes(1))) struct TableTests {
    @Test func `a session shows the options with which it was created`() throws {
        var options = RequestSessionOptions()
        options.maximumRunning = 3
        options.timeouts.idle = .seconds(7)
        let session = try RequestSession(options: options)
        #expect(session.options.maximumRunning == 3 && session.options.timeouts.idle == .seconds(7))
    }

    @Test func `tasks are listed by kind, and all of them can be cancelled`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        let tasks = [
            try session.get(slow.url), try session.upload([1], to: slow.url),
            try session.download(slow.url, to: "/nowhere/x"),
        ]
        tasks.first?.resume()
        #expect(await session.tasks().map(\.kind) == [.data, .upload, .download])
        for task in await session.tasks() { task.cancel() }
        for task in tasks { #expect(await failure { try await task.response() } == "cancelled cancelled") }
        #expect(await session.tasks().isEmpty)
    }

    @Test(arguments: ["OPTIONS", "PROPFIND", "LOCK"])
    func `a serializer builds a request of any method, which can be changed before it is sent`(method: String)
        async throws
    {
        let stage = try SessionStage()
        var request = try FormRequestSerializer().request(
            method, "thing", base: stage.session.baseURL, parameters: ["a": "b"])
        request.headers[.userAgent] = "changed"
        request.url = request.url.appendingQuery("c=d")
        try await stage.session.task(for: request).response()
        let sent = try #require(stage.server.requests.values.first)
        #expect(sent.hasPrefix("\(method) /v1/thing?c=d HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\na=b"))
        #expect(sent.contains("User-Agent: changed\r\n"))
    }

    @Test func `a whole request has bytes, a file or a form as its body`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try SessionStage()
        let path = try directory.file("report.csv", "1,2")
        let url = try WebAddress(stage.root + "/x")
        try await stage.session.task(for: WebRequest(method: .post, url: url, body: .bytes(Array("bytes".utf8))))
            .response()
        var file = WebRequest(method: .put, url: url)
        try file.setBody(file: path)
        try await stage.session.task(for: file).response()
        var form = MultipartForm()
        try form.append(file: path, name: "f", fileName: "other.txt", mediaType: "text/x-own")
        var request = WebRequest(method: .post, url: url)
        request.setMultipartBody(form)
        try await stage.session.task(for: request).response()
        let sent = stage.server.requests.values
        #expect(sent.map { $0.prefix { $0 != " " } } == ["POST", "PUT", "POST"])
        #expect(sent[0].hasSuffix("\r\n\r\nbytes") && sent[1].hasSuffix("\r\n\r\n1,2"))
        #expect(sent[2].contains("name=\"f\"; filename=\"other.txt\"\r\nContent-Type: text/x-own\r\n\r\n1,2\r\n"))
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a request that must not use a modem, or other classes, waits for another link`() async throws {
        let scene = try NetworkScene { $0.linkClasses = ["up*": .wwan] }
        try scene.link(up: true)
        for constraint in [RequestConstraint.notWWAN, try RequestConstraint("not wwan,not bluetooth")] {
            let task = try scene.session.get("http://192.0.2.1/", when: constraint).resume()
            try await task.stored()
            while await task.explanation().reasons.map(\.word) != ["class"] { await Task.yield() }
            #expect(scene.server.requests.values.isEmpty)
            task.cancel()
        }
        let allowed = try scene.session.get("http://192.0.2.1/", when: RequestConstraint("not wifi,not bluetooth"))
        #expect(try await allowed.response().statusCode == 200)
    }

    /// Removes what some servers write before JSON, so that a browser does not run it as a script.
    private struct Unprefixed: ResponseSerializer {
        let base = JSONResponseSerializer()

        func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
            let prefix = Array(")]}',\n".utf8)
            return base.serialize(
                response, body: body.starts(with: prefix) ? Array(body.dropFirst(prefix.count)) : body)
        }
    }

    @Test func `a serializer of one's own changes the body for another`() async throws {
        let stage = try SessionStage {
            $0.responseSerializer = Unprefixed()
        } answer: { request in
            SessionStage.answer((request.contains("guarded") ? ")]}',\n" : "") + #"{"a":1}"#)
        }
        for path in ["guarded", "plain"] {
            #expect(try await stage.session.get(path).response().object?.json?["a"]?.integer == 1)
        }
    }

    /// Remembers where it ran.
    private struct Labelled: ResponseSerializer {
        let key: DispatchSpecificKey<Int>
        let seen: EventLog<Int?>

        func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
            seen.append(DispatchQueue.getSpecific(key: key))
            return DataResponseSerializer().serialize(response, body: body)
        }
    }

    @Test func `responses are decoded on a queue of the program's, and the time is known`() async throws {
        let (queue, key, seen) = (DispatchQueue(label: "decoding"), DispatchSpecificKey<Int>(), EventLog<Int?>())
        queue.setSpecific(key: key, value: 7)
        let stage = try SessionStage { options in
            options.decodingQueue = queue
            options.responseSerializer = Labelled(key: key, seen: seen)
        }
        let response = try await stage.session.get("x").response()
        #expect(seen.values == [7])
        let time = try #require(response.decodingTime)
        #expect(time >= .zero)
        let file = try TemporaryDirectory()
        #expect(try await stage.session.download("x", to: file.path + "/x").response().decodingTime == nil)
    }

    @Test func `a fetch's receipt leads to its task while it runs`() async throws {
        let slow = try SlowServer()
        let fetcher = SharedFetcher(try RequestSession(), limit: 1)
        let first = try #require(try fetcher.fetch(slow.url) { _ in })
        let second = try #require(try fetcher.fetch(slow.url + "other") { _ in })
        let task = try #require(fetcher.task(of: first))
        #expect(task.originalRequest.url.description == slow.url && fetcher.task(of: second) == nil)
        slow.gate.open()
        #expect(try await task.response().statusCode == 200)
        while fetcher.task(of: first) != nil { await Task.yield() }
    }

    private static func time(_ task: RequestTask) async throws -> Duration {
        try await ContinuousClock().measure { try await task.response() }
    }

    @Test func `a response's body arrives no faster than its limit`() async throws {
        let body = String(repeating: "x", count: 1_500_000)
        let stage = try SessionStage {
            $0.responseSerializer = DataResponseSerializer()
        } answer: { _ in
            SessionStage.answer(body, type: "text/plain")
        }
        var options = RequestOptions()
        options.maximumReceiveRate = 1_000_000
        #expect(try await Self.time(stage.session.get("x", options: options)) > .milliseconds(1000))
    }

    @Test func `a request's body goes no faster than its limit`() async throws {
        let stage = try SessionStage()
        var options = RequestOptions()
        options.maximumSendRate = 1_000_000
        let body = Array(String(repeating: "y", count: 1_500_000).utf8)
        #expect(try await Self.time(stage.session.upload(body, to: "x", options: options)) > .milliseconds(1000))
        #expect(stage.server.requests.values.first?.hasSuffix("yyy") == true)
    }
}
