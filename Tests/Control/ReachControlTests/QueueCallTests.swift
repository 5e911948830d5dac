import Foundation
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachControl

/// io.reach.Queue as clients meet it.
@Suite struct QueueCallTests {
    private let server: TestServer

    init() throws { server = try TestServer(hasQueue: true) }

    private func text(_ json: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(json)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func refusal<Value>(_ call: (inout ControlClient) throws -> Value) throws -> QueueServiceError? {
        var client = try ControlClient(path: server.path)
        do {
            _ = try call(&client)
            return nil
        } catch let error as ControlError {
            return error.queueError
        }
    }

    @Test func `the interface is there where there is a queue, and not where there is none`() throws {
        let call = #"{"method":"io.reach.Queue.List"}"#
        #expect(try RawClient(server.path).call(call)["parameters"]?["requests"] != nil)
        let other = try TestServer()
        let without = try RawClient(other.path).call(call)
        #expect(without["error"] == .string("org.varlink.service.InterfaceNotFound"))
        other.stop()
    }

    @Test func `a request arrives as it was handed in, and whose it is says the kernel`() throws {
        var request = try RequestSpecification(method: "PATCH", url: "https://host.example/\u{e4}")
        request.headers = [HeaderField("A", "1"), HeaderField("A", "\"2\"")]
        request.body = .inline([0, 255, 10])
        request.condition = try NetworkCondition("unmetered, not wwan")
        request.priority = .low
        request.timeToLive = .seconds(90)
        request.idempotency = .key("i")
        request.uniqueness = .unique(name: "k", mode: .replace)
        request.maximumAttempts = 3
        request.isStrict = true
        request.acceptedStatuses = [200...204, 404...404]
        let plain = try RequestSpecification(url: "http://a")
        var ordered = plain
        ordered.orderKey = "o"
        ordered.dependsOnPrevious = true
        var client = try ControlClient(path: server.path)
        #expect(try client.add(plain) == QueueReceipt(id: 1, isKept: false))
        #expect(try client.add(request) == QueueReceipt(id: 2, isKept: true))
        _ = try client.add(ordered)
        let taken = server.queue { $0.requests }
        #expect(taken.map(\.0) == [plain, request, ordered])
        #expect(taken.allSatisfy { $0.1 == Caller(user: getuid(), group: getgid(), process: getpid()) })
    }

    @Test func `a request with a body and without a method is a POST, and its words have their short forms`() throws {
        let client = try RawClient(server.path)
        let call =
            #"{"method":"io.reach.Queue.Add","parameters":{"url":"http://a","body":"AAAA","priority":"3","#
            + #""key":"k","mode":"coalesce","when":null,"accept":[]}}"#
        #expect(try client.call(call)["parameters"] != nil)
        let request = try #require(server.queue { $0.requests.last?.0 })
        #expect(request.method == "POST" && request.body == .inline([0, 0, 0]) && request.priority == .low)
        #expect(request.uniqueness == .coalesce(key: "k") && request.acceptedStatuses == [200...299])
    }

    @Test func `a body that is larger than a message is sent in pieces, and is the same`() throws {
        var request = try RequestSpecification(url: "http://a")
        let body = (0..<(QueueUpload.pieceBytes * 2 + 5)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        request.body = .inline(body)
        var client = try ControlClient(path: server.path)
        _ = try client.add(request)
        let (uploads, taken) = server.queue { ($0.uploads, $0.requests.last?.0.body) }
        #expect(uploads == ["u0": body])
        #expect(taken == .spooled(name: "u0", bytes: 0))
        request.body = .inline(Array(body.prefix(QueueUpload.pieceBytes)))
        _ = try client.add(request)
        #expect(server.queue { $0.requests.last?.0 } == request)
    }

    @Test(arguments: [
        (#""Add","parameters":{}"#, "InvalidParameter", #"{"parameter":"url"}"#),
        (#""Add","parameters":{"url":"http://a","prio":"low"}"#, "InvalidParameter", #"{"parameter":"prio"}"#),
        (
            #""Add","parameters":{"url":"http://a","headers":[{"name":"b"}]}"#, "InvalidParameter",
            #"{"parameter":"headers"}"#
        ),
        (#""Add","parameters":{"url":"http://a","expires_ms":-1}"#, "InvalidParameter", #"{"parameter":"expires_ms"}"#),
        (
            #""Add","parameters":{"url":"http://a","accept":[{"first":3,"last":2}]}"#, "InvalidParameter",
            #"{"parameter":"accept"}"#
        ),
        (
            #""Add","parameters":{"url":"http://a","body":"","upload":"u"}"#, "InvalidParameter",
            #"{"parameter":"upload"}"#
        ),
        (
            #""Add","parameters":{"url":"http://a","body":"*"}"#, "BadRequest",
            #"{"parameter":"body","reason":"it is not base64"}"#
        ),
        (
            #""Add","parameters":{"url":"ftp://x/"}"#, "BadRequest",
            #"{"parameter":"url","reason":"'ftp://x/' is neither http nor https"}"#
        ),
        (
            #""Add","parameters":{"url":"http://a","priority":"9"}"#, "BadRequest",
            #"{"parameter":"priority","reason":"'9' is no priority: urgent, high, normal, low, or 0 to 3"}"#
        ),
        (
            #""Add","parameters":{"url":"http://a","mode":"keep"}"#, "BadRequest",
            #"{"parameter":"mode","reason":"a mode decides between requests with the same key: give a key, too"}"#
        ),
        (#""Upload","parameters":{"name":"u"}"#, "InvalidParameter", #"{"parameter":"data"}"#),
        (#""Show","parameters":{}"#, "InvalidParameter", #"{"parameter":"id"}"#),
        (#""Show","parameters":{"id":"1"}"#, "InvalidParameter", #"{"parameter":"id"}"#),
        (#""Show","parameters":{"id":5}"#, "NotFound", #"{"id":5}"#),
        (#""Hold","parameters":{}"#, "InvalidParameter", #"{"parameter":"id"}"#),
        (#""Hold","parameters":{"id":1,"all":true}"#, "InvalidParameter", #"{"parameter":"all"}"#),
        (#""HoldForFleet","parameters":{}"#, "InvalidParameter", #"{"parameter":"held"}"#),
        (#""Retry","parameters":{"id":1,"reason":"expired"}"#, "InvalidParameter", #"{"parameter":"reason"}"#),
        (#""List","parameters":{"states":[1]}"#, "InvalidParameter", #"{"parameter":"states"}"#),
        (#""Watch","parameters":{}"#, "ExpectedMore", "{}"),
    ])
    func `a mistake is answered by its name, and the connection goes on`(
        call: String, name: String, parameters: String
    ) throws {
        let client = try RawClient(server.path)
        let ofVarlink = ["InvalidParameter", "ExpectedMore"].contains(name)
        let error = (ofVarlink ? "org.varlink.service." : "io.reach.Queue.") + name
        let message = #"{"method":"io.reach.Queue."# + call.dropFirst() + "}"
        #expect(text(try client.call(message)) == #"{"error":"\#(error)","parameters":\#(parameters)}"#)
        #expect(try client.call(#"{"method":"io.reach.Queue.List"}"#)["parameters"] != nil)
        #expect(server.queue { $0.actions.isEmpty && $0.requests.isEmpty })
    }

    @Test(arguments: [
        QueueServiceError.invalid(field: "when", reason: "r"), .refused(reason: "user-limit"), .notFound(3),
        .alreadyOver(3), .notDead(3), .noAnswer(3), .notPermitted(reason: "r"), .notAvailable(reason: "r"),
    ])
    func `what the queue refuses is told as what it is`(error: QueueServiceError) throws {
        server.queue {
            $0.failure = error
            $0.items[3] = .waiting(3)
        }
        #expect(try refusal { try $0.add(try RequestSpecification(url: "http://a")) } == error)
        #expect(try refusal { try $0.request(3) } == error)
        #expect(try refusal { try $0.explanation(ofRequest: 3) } == error)
        #expect(try refusal { try $0.requests(QueueFilter()) } == error)
        #expect(try refusal { try $0.hold(.all) } == error)
        #expect(try refusal { try $0.retry(.request(3)) } == error)
        #expect(try refusal { try $0.answer(toRequest: 3) } == error)
        #expect(try refusal { try $0.upload([1], to: nil) } == error)
    }

    @Test(arguments: [(getuid(), nil, true), (getuid() + 7, nil, getuid() == 0), (getuid() + 7, getgid(), true)])
    func `root, the daemon's user and the fleet's group hold the queue for the fleet, and no one else`(
        daemon: UInt32, group: UInt32?, isPermitted: Bool
    ) throws {
        let server = try TestServer(authority: ControlAuthority(user: daemon, fleetGroup: group), hasQueue: true)
        var client = try ControlClient(path: server.path)
        var refusal: QueueServiceError?
        do throws(ControlError) {
            try client.setFleetHold(true, reason: "why")
            try client.setFleetHold(false)
        } catch {
            refusal = error.queueError
        }
        let reason =
            "only root, the daemon's own user and the members of the group queue.fleet_group hold the queue for the fleet"
        #expect(refusal == (isPermitted ? nil : .notPermitted(reason: reason)))
        #expect(
            server.queue { $0.actions } == (isPermitted ? ["hold for the fleet why", "release for the fleet -"] : []))
    }

    @Test func `who may hold for the fleet is decided like who may change`() {
        let authority = ControlAuthority(user: 7, group: 20, journalGroup: 30, fleetGroup: 40)
        func may(_ user: UInt32, _ group: UInt32, _ others: Set<UInt32> = []) -> Bool {
            authority.mayHoldForFleet(Caller(user: user, group: group, process: 1)) { others.contains($0) }
        }
        #expect(may(0, 0) && may(7, 7) && may(1000, 40) && may(1000, 5, [40]))
        #expect(!may(1000, 20) && !may(1000, 30, [20]) && !may(1001, 1001))
    }

    @Test func `holds of whole queues are read as they are`() throws {
        let now = Instant(wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000), boot: .init(nanoseconds: 5))
        let holds = [
            QueueHold(source: .user, owner: 7, since: now), QueueHold(source: .root, since: now),
            QueueHold(source: .fleet, since: now, reason: "why"),
        ]
        server.queue { $0.heldQueues = holds }
        var client = try ControlClient(path: server.path)
        #expect(try client.queueHolds() == holds)
    }

    @Test func `the status of a queue has its count, its holds and its budgets`() throws {
        let now = Instant(wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000), boot: .init(nanoseconds: 5))
        let holds = [QueueHold(source: .root, since: now)]
        let budgets = [
            MeteredReport(scope: .all, budget: MeteredBudget(bytes: 100, per: .month), used: 30, renewed: now.wall),
            MeteredReport(scope: .user(7), budget: MeteredBudget(bytes: 9, per: .week), used: 12, renewed: nil),
            MeteredReport(scope: .link("wwan*"), budget: MeteredBudget(bytes: 9, per: .day), used: 0, renewed: nil),
        ]
        server.queue { ($0.heldQueues, $0.budgets) = (holds, budgets) }
        var client = try ControlClient(path: server.path)
        #expect(try client.queueStatus() == QueueStatus(count: 0, holds: holds, budgets: budgets))
    }

    @Test(arguments: [(getuid(), nil, true), (getuid() + 7, nil, getuid() == 0), (getuid() + 7, getgid(), true)])
    func `who may reload the configuration may go beyond a budget, and no one else`(
        daemon: UInt32, group: UInt32?, isPermitted: Bool
    ) throws {
        let server = try TestServer(authority: ControlAuthority(user: daemon, group: group), hasQueue: true)
        var client = try ControlClient(path: server.path)
        var request = try RequestSpecification(url: "http://a")
        _ = try client.add(request)
        request.isOverBudget = true
        var refusal: QueueServiceError?
        do throws(ControlError) {
            _ = try client.add(request)
        } catch {
            refusal = error.queueError
        }
        let who = "root, the daemon's own user and the members of the group socket.group"
        #expect(
            refusal == (isPermitted ? nil : .notPermitted(reason: "only \(who) go beyond a budget for metered links")))
        #expect(server.queue { $0.requests.map(\.0.isOverBudget) } == (isPermitted ? [false, true] : [false]))
    }

    @Test func `a request is shown whole, and so is why it waits`() throws {
        server.queue { $0.items = [7: .full, 8: .waiting(8)] }
        var client = try ControlClient(path: server.path)
        #expect(try client.request(7) == .full)
        #expect(try client.request(8) == .waiting(8))
        let explanation = try client.explanation(ofRequest: 8)
        #expect(explanation == RequestReport.waiting(8).explained)
    }

    @Test func `a wrong member within a request is an error that names it`() throws {
        var writer = JSONWriter()
        writer.queueItem(.full, at: .second(1))
        var members = try #require(try JSONReader.read(writer.bytes).object)
        members["progress"] = .object(["interface": .integer(1)])
        let json = JSONValue.object(members)
        #expect(throws: StatusReadingError(key: "progress.interface")) { try RequestReport(reading: json) }
    }

    @Test func `requests come in pages, as many as a message has room for`() throws {
        server.queue { queue in
            for id in 1...40 {
                queue.items[Int64(id)] = .waiting(Int64(id))
                queue.items[Int64(id)]?.url += String(repeating: "x", count: 60_000)
            }
        }
        var client = try ControlClient(path: server.path)
        var filter = QueueFilter()
        filter.states = [.waiting, .dead]
        filter.limit = 1000
        var (ids, pages): ([Int64], Int) = ([], 0)
        repeat {
            let page = try client.requests(filter)
            #expect(page.count == 2)
            ids += page.items.map(\.id.rawValue)
            pages += 1
            filter.after = page.next ?? -1
        } while filter.after >= 0
        #expect(ids == Array(1...40))
        #expect(pages == 8)
        #expect(server.queue { $0.filters.allSatisfy { $0.states == [.waiting, .dead] && $0.limit == 256 } })
    }

    @Test func `holding, releasing, cancelling and retrying name what they are about`() throws {
        var client = try ControlClient(path: server.path)
        try client.hold(.request(4))
        try client.hold(.all)
        try client.release(.request(4))
        try client.cancel(request: 4)
        #expect(try client.retry(.all, reason: "expired") == 3)
        #expect(try client.retry(.request(4)) == 3)
        #expect(
            server.queue { $0.actions } == [
                "hold request(4)", "hold all", "release request(4)", "cancel 4", "retry all expired",
                "retry request(4) -",
            ])
    }

    @Test func `an answer is fetched in parts, which make the whole`() throws {
        let body = (0..<(QueueAnswer.longest + 9)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        server.queue { $0.body = body }
        var client = try ControlClient(path: server.path)
        let first = try client.answer(toRequest: 1)
        #expect(first.bytes.count == QueueAnswer.longest && first.bodyBytes == Int64(body.count))
        #expect(first.headers == [HeaderField("X-A", "\"b\"")] && first.status == 201)
        let second = try client.answer(toRequest: 1, from: Int64(first.bytes.count))
        #expect(first.bytes + second.bytes == body)
        let reply = try RawClient(server.path)
            .call(#"{"method":"io.reach.Queue.Result","parameters":{"id":1,"offset":2,"length":3}}"#)
        #expect(reply["parameters"]?["answer"]?["data"] == .string(Base64.encode(body[2..<5])))
    }

    /// Numbers at their ends must not trap.
    @Test func `whatever the parameters are, a call is answered and the connection goes on`() throws {
        server.queue { $0.items = [1: .full, 2: .waiting(2)] }
        let client = try RawClient(server.path)
        var generator = SeededGenerator(seed: 5)
        let values = [
            "null", "true", "false", "0", "1", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "1e300",
            #""""#, #""a""#, #""AAAA""#, #""\u0000""#, "[]", "[1]", #"["dead"]"#, "{}",
            #"[{"name":"a","value":"b"}]"#, #"[{"first":200,"last":299}]"#,
            #"[{"first":-9223372036854775808,"last":9223372036854775807}]"#,
        ]
        let topics = Topics(
            service: FakeService(), queue: nil, encoder: ChangeEncoder(source: .daemon), limits: .init())
        let methods = QueueInterface.make(FakeQueue(), topics).methods
        for _ in 0..<3000 {
            guard let (name, method) = methods.sorted(by: { $0.key < $1.key }).randomElement(using: &generator) else {
                return
            }
            let members = method.parameters.filter { _ in Bool.random(using: &generator) }.map { parameter in
                "\"\(parameter)\":" + (values.randomElement(using: &generator) ?? "0")
            }
            let call = #"{"method":"io.reach.Queue.\#(name)","parameters":{\#(members.joined(separator: ","))}}"#
            let reply = try client.call(call)
            #expect(reply["parameters"] != nil || reply["error"] != nil, "\(call)")
        }
    }
}
