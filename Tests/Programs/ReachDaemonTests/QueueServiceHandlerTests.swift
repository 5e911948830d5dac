import Glibc
import ReachControl
import ReachCore
import ReachQueue
import ReachTesting
import Testing

@testable import ReachDaemon

/// What clients may ask of the queue, and what they are answered.
@Suite(.timeLimit(.minutes(1)))
struct QueueServiceHandlerTests {
    private static let ok = "HTTP/1.1 200 OK\r\nX-Answer: 42\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"

    /// A request that nothing lets start.
    private static var waiting: RequestSpecification {
        get throws {
            try RequestSpecification(url: "http://192.0.2.1/x", condition: NetworkCondition("interface=nosuch0"))
        }
    }

    @Test func `a request for this machine itself needs no link, and its answer can be had in parts`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.ok)
        }
        let watch = try stage.watch(nil)
        let id = try await stage.add(try RequestSpecification(url: "http://127.0.0.1:\(server.port)/"))
        try await watch.event(.done, of: id)
        let item = try await stage.show(id)
        #expect(item.state == .done && item.status == 200 && item.answerBytes == 5 && item.condition == .reachable)
        #expect(item.running == nil && item.blockers == [] && item.over != nil && item.tries == 1)
        let whole: QueueAnswer = try await stage.ask {
            $0.result(id, from: 0, upTo: 100, for: QueueServiceHandlerStage.one, reply: $1)
        }
        #expect(String(decoding: whole.bytes, as: UTF8.self) == "hello")
        #expect(whole.headers.contains(HeaderField("X-Answer", "42")) && whole.bodyBytes == 5 && whole.state == .done)
        let part: QueueAnswer = try await stage.ask {
            $0.result(id, from: 3, upTo: 1, for: QueueServiceHandlerStage.one, reply: $1)
        }
        #expect(part.bytes == Array("l".utf8) && part.offset == 3)
        let beyond: QueueAnswer = try await stage.ask {
            $0.result(id, from: 99, upTo: 1, for: QueueServiceHandlerStage.one, reply: $1)
        }
        #expect(beyond.bytes.isEmpty)
        #expect(server.requests.values.first?.contains("User-Agent: reach/1") == true)
    }

    @Test func `a queue that cannot be opened says why, and is tried again`() async throws {
        let directory = try TemporaryDirectory()
        // A full disk without a disk: what is to be the queue's directory is a file.
        let place = try directory.file("queue", "")
        let stage = try QueueServiceHandlerStage(in: directory.path, retrying: .zero)
        do {
            _ = try await stage.add(try Self.waiting)
            Issue.record("there is a queue")
        } catch let error as QueueServiceError {
            guard case .notAvailable(let reason) = error else { throw error }
            #expect(reason.hasPrefix("the queue cannot be opened: "))
        }
        unlink(place)
        #expect(try await stage.add(try Self.waiting) == 1)
        #expect(stage.logged.values.count { $0.contains("there is no queue") } == 1)
    }

    @Test func `why a request waits is said in words and sentences`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        let id = try await stage.add(try Self.waiting)
        let explanation: RequestReport = try await stage.ask {
            $0.explain(id, for: QueueServiceHandlerStage.one, reply: $1)
        }
        #expect(explanation.state == .waiting && explanation.interface == nil)
        let reason = try #require(explanation.reasons.first)
        #expect(explanation.blockers.elements == explanation.reasons.map(\.blocker))
        #expect(reason.text.hasSuffix(".") && reason.remedy.hasSuffix("."))
    }

    @Test func `a network that no table names is refused with its likely name, and one that a reload dropped is told`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path) { configuration in
            configuration.networks = ["office", "home"].map { name in
                var entry = NetworkEntry()
                entry.name = name
                return entry
            }
        }
        for text in ["network=ofice", "wifi, not network=ofice"] {
            let mistyped = try RequestSpecification(url: "http://192.0.2.1/", condition: NetworkCondition(text))
            let reason = "no [[network]] is named 'ofice'; did you mean 'office'?"
            await #expect(throws: QueueServiceError.invalid(field: "when", reason: reason)) {
                _ = try await stage.add(mistyped)
            }
        }
        let identifier = try RequestSpecification(
            url: "http://192.0.2.1/", condition: NetworkCondition("network=net-0123456789abcdef"))
        _ = try await stage.add(identifier)
        let office = try RequestSpecification(url: "http://192.0.2.1/", condition: NetworkCondition("network=office"))
        _ = try await stage.add(office)
        await stage.reload(networks: ["home"])
        let line = "no [[network]] is named 'office', and 1 requests ask for it: network=office"
        #expect(stage.logged.values.filter { $0.contains("[[network]]") }.count { $0.contains(line) } == 1)
        let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
        let reason = QueueExplanation.Reason(
            blocker: .otherNetwork, since: moment, until: nil, text: "As it was.", remedy: "It starts when it is.")
        let condition = try NetworkCondition("network=office")
        #expect(reason.naming(networkProblem: condition.networkProblem(among: ["office"])) == reason)
        #expect(
            reason.naming(networkProblem: condition.networkProblem(among: [])).text
                == "No [[network]] is named 'office': the daemon's configuration names no network.")
        #expect(
            reason.naming(networkProblem: condition.networkProblem(among: ["home"])).text
                == "No [[network]] is named 'office'; there are home.")
    }

    @Test func `a request that waits for a default route says what broke`() {
        let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
        let cause = RootCause(.linkDown, interface: "wlan0")
        var reason = QueueExplanation.Reason(
            blocker: .path, since: moment, until: nil, text: "As it was.", remedy: "It starts when there is one.")
        #expect(reason.naming { _ in cause } == reason, "it waits for something else")
        var condition = NetworkCondition()
        reason.lacks = condition
        #expect(reason.naming { _ in nil } == reason)
        #expect(reason.naming { _ in cause }.text == "There is no network path: wlan0 is down.")
        condition.linkClass = .wifi
        reason.lacks = condition
        #expect(reason.naming { $0 == condition ? cause : nil }.text == "Waiting for Wi-Fi: wlan0 is down.")
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `the sentence names the link that is down`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "link", "set", "up0", "down")
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path, namespace: namespace)
        let id = try await stage.add(try RequestSpecification(url: "http://203.0.113.9/"))
        let explanation: RequestReport = try await stage.ask {
            $0.explain(id, for: QueueServiceHandlerStage.one, reply: $1)
        }
        #expect(
            explanation.reasons.map(\.text).contains("There is no network path: up0 is down."), "\(explanation.reasons)"
        )
    }

    @Test func `a user's requests are no one else's business, but root's`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        let id = try await stage.add(try Self.waiting)
        let stranger = QueueServiceHandlerStage.other
        await #expect(throws: QueueServiceError.notFound(id)) { _ = try await stage.show(id, for: stranger) }
        await #expect(throws: QueueServiceError.notFound(id)) {
            let _: Void = try await stage.ask { $0.cancel(id, for: stranger, reply: $1) }
        }
        await #expect(throws: QueueServiceError.notFound(id)) {
            let _: QueueAnswer = try await stage.ask { $0.result(id, from: 0, upTo: 1, for: stranger, reply: $1) }
        }
        let none: QueuePage = try await stage.ask { $0.list(QueueFilter(), for: stranger, inTurn: { $0() }, reply: $1) }
        #expect(none.items.isEmpty && none.count == 0)
        let all: QueuePage = try await stage.ask {
            $0.list(QueueFilter(), for: QueueServiceHandlerStage.root, inTurn: { $0() }, reply: $1)
        }
        #expect(all.items.map(\.id.rawValue) == [id] && all.items.first?.request.owner == 4001 && all.count == 1)
        // A stranger is told nothing of it.
        let own = try stage.watch(id)
        let others = try stage.watch(nil, for: stranger)
        let _: Void = try await stage.ask { $0.hold(.request(id), for: QueueServiceHandlerStage.one, reply: $1) }
        try await own.event(.suspended, of: id)
        #expect(others.values.isEmpty)
    }

    @Test func `holding and releasing, cancelling and sending again`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        let id = try await stage.add(try Self.waiting)
        let one = QueueServiceHandlerStage.one
        let _: Void = try await stage.ask { $0.hold(.request(id), for: one, reply: $1) }
        #expect(try await stage.show(id).state == .held)
        let _: Void = try await stage.ask { $0.hold(.all, for: one, reply: $1) }
        let _: Void = try await stage.ask { $0.release(.request(id), for: one, reply: $1) }
        #expect(try await stage.show(id).blockers.contains(.queueHold))
        let _: Void = try await stage.ask { $0.release(.all, for: one, reply: $1) }
        #expect(try await stage.show(id).state == .waiting)
        await #expect(throws: QueueServiceError.notDead(id)) {
            let _: Int = try await stage.ask { $0.retry(.request(id), reason: nil, for: one, reply: $1) }
        }
        await #expect(throws: QueueServiceError.noAnswer(id)) {
            let _: QueueAnswer = try await stage.ask { $0.result(id, from: 0, upTo: 1, for: one, reply: $1) }
        }
        let _: Void = try await stage.ask { $0.cancel(id, for: one, reply: $1) }
        let item = try await stage.show(id)
        #expect(item.state == .cancelled && item.reason == "user")
        await #expect(throws: QueueServiceError.alreadyOver(id)) {
            let _: Void = try await stage.ask { $0.cancel(id, for: one, reply: $1) }
        }
        await #expect(throws: QueueServiceError.notFound(999)) { _ = try await stage.show(999) }
    }

    @Test func `the fleet's hold survives a restart, no release lifts it, and everybody sees it`() async throws {
        let directory = try TemporaryDirectory()
        let (one, root) = (QueueServiceHandlerStage.one, QueueServiceHandlerStage.root)
        var stage: QueueServiceHandlerStage? = try QueueServiceHandlerStage(in: directory.path)
        let _: Void = try await #require(stage).ask { $0.setFleetHold(true, reason: "rollout 7", reply: $1) }
        let id = try await #require(stage).add(try RequestSpecification(url: "http://127.0.0.1:1/"))
        for caller in [one, root] {
            let _: Void = try await #require(stage).ask { $0.release(.all, for: caller, reply: $1) }
        }
        #expect(try await #require(stage).show(id).blockers == .fleetHold)
        var holds: [QueueHold] = try await #require(stage).ask { $0.holds(for: one, reply: $1) }
        #expect(holds.map(\.source) == [.fleet] && holds.first?.reason == "rollout 7")
        stage = nil
        let later = try QueueServiceHandlerStage(in: directory.path)
        #expect(try await later.show(id).state == .held)
        let _: Void = try await later.ask { $0.hold(.all, for: one, reply: $1) }
        let _: Void = try await later.ask { $0.hold(.all, for: root, reply: $1) }
        holds = try await later.ask { $0.holds(for: QueueServiceHandlerStage.other, reply: $1) }
        #expect(holds.map(\.source) == [.root, .fleet])
        holds = try await later.ask { $0.holds(for: root, reply: $1) }
        #expect(holds.map(\.source) == [.user, .root, .fleet] && holds.first?.owner == one.user)
        let _: Void = try await later.ask { $0.setFleetHold(false, reason: nil, reply: $1) }
        #expect(try await later.show(id).blockers == .queueHold)
    }

    @Test func `what died of an answer keeps it, and is sent again by its reason`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        let tries = EventLog<Bool>()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            tries.append(true)
            connection.write(
                tries.values.count == 1
                    ? "HTTP/1.1 401 Who\r\nContent-Length: 3\r\nConnection: close\r\n\r\nwho" : Self.ok)
        }
        let watch = try stage.watch(nil)
        let id = try await stage.add(try RequestSpecification(url: "http://127.0.0.1:\(server.port)/"))
        try await watch.event(.dead, of: id)
        #expect(try await stage.show(id).reason == "auth")
        let answer: QueueAnswer = try await stage.ask {
            $0.result(id, from: 0, upTo: 9, for: QueueServiceHandlerStage.one, reply: $1)
        }
        #expect(answer.state == .dead && answer.status == 401 && answer.bytes == Array("who".utf8))
        let others: Int = try await stage.ask {
            $0.retry(.all, reason: "expired", for: QueueServiceHandlerStage.one, reply: $1)
        }
        #expect(others == 0)
        let count: Int = try await stage.ask {
            $0.retry(.all, reason: "auth", for: QueueServiceHandlerStage.one, reply: $1)
        }
        #expect(count == 1)
        try await watch.event(.done, of: id)
    }

    @Test func `a body that comes in pieces is sent whole, by its owner, once`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.ok)
        }
        var upload: QueueUpload?
        for text in ["one ", "two ", "three"] {
            let piece = QueueUpload.Piece(name: upload?.name, .bytes(Array(text.utf8)))
            upload = try await stage.ask { $0.upload(piece, for: QueueServiceHandlerStage.one, reply: $1) }
        }
        let name = try #require(upload?.name)
        #expect(upload?.bytes == 13)
        var request = try RequestSpecification(method: "POST", url: "http://127.0.0.1:\(server.port)/")
        request.body = .spooled(name: name, bytes: 0)
        await #expect(throws: QueueServiceError.self) {
            _ = try await stage.add(request, for: QueueServiceHandlerStage.other)
        }
        let watch = try stage.watch(nil)
        let id = try await stage.add(request)
        try await watch.event(.done, of: id)
        #expect(server.requests.values.first?.hasSuffix("\r\n\r\none two three") == true)
        #expect(server.requests.values.first?.contains("Content-Length: 13") == true)
        let item = try await stage.show(id)
        #expect(item.method == "POST" && item.bodyBytes == 13 && item.idempotency.key?.count == 36)
        await #expect(throws: QueueServiceError.self) { _ = try await stage.add(request) }
    }

    @Test func `what is wrong with a request names the part that is`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        let changes: [(String, @Sendable (inout RequestSpecification) -> Void)] = [
            ("method", { $0.method = "G T" }),
            ("header", { $0.headers = [HeaderField("a b", "c")] }),
            ("header", { $0.headers = [HeaderField("content-length", "3")] }),
            ("header", { $0.headers = [HeaderField("Host", "a.example"), HeaderField("host", "b.example")] }),
            ("max-attempts", { $0.maximumAttempts = 0 }),
            ("expires", { $0.timeToLive = .zero }), ("order", { $0.dependsOnPrevious = true }),
            ("upload", { $0.body = .spooled(name: "../../etc/passwd", bytes: 9) }),
        ]
        for (field, change) in changes {
            var request = try RequestSpecification(url: "http://192.0.2.1/")
            change(&request)
            do {
                _ = try await stage.add(request)
                Issue.record("\(field) was taken")
            } catch QueueServiceError.invalid(let named, let reason) {
                #expect(named == field)
                #expect(!reason.isEmpty)
            }
        }
    }

    @Test func `limits of a user and of all are told apart`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path) {
            $0.queue.policy.limits.requests = 3
            $0.queue.policy.limits.ownerRequests = 2
        }
        for _ in 0..<2 { _ = try await stage.add(try Self.waiting) }
        let users = QueueExcess(limit: "queue.requests_per_user", allowed: 2, wanted: 3)
        #expect(users.description == "too many requests: 3; your limit is 2 (queue.requests_per_user)")
        await #expect(throws: QueueServiceError.refused(reason: "user-limit", excess: users)) {
            _ = try await stage.add(try Self.waiting)
        }
        _ = try await stage.add(try Self.waiting, for: QueueServiceHandlerStage.other)
        let all = QueueExcess(limit: "queue.requests", allowed: 3, wanted: 4)
        await #expect(throws: QueueServiceError.refused(reason: "queue-full", excess: all)) {
            _ = try await stage.add(try Self.waiting, for: QueueServiceHandlerStage.root)
        }
    }

    private func upload(
        _ count: Int, _ name: String? = nil, for caller: Caller = QueueServiceHandlerStage.one,
        to stage: QueueServiceHandlerStage
    ) async throws -> QueueUpload {
        let piece = QueueUpload.Piece(name: name, .bytes([UInt8](repeating: 7, count: count)))
        return try await stage.ask { $0.upload(piece, for: caller, reply: $1) }
    }

    @Test func `uploads that no request uses count for their user, and a refusal names the limit`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path) {
            $0.queue.policy.limits.ownerBytes = 102_400
            $0.queue.policy.limits.bytes = 204_800
        }
        _ = try await upload(61_440, to: stage)
        let excess = QueueExcess(limit: "queue.bytes_per_user", allowed: 102_400, wanted: 122_880)
        await #expect(throws: QueueServiceError.refused(reason: "user-limit", excess: excess)) {
            _ = try await upload(61_440, to: stage)
        }
        #expect(
            excess.description
                == "requests and uploads too large: 120 KiB; your limit is 100 KiB (queue.bytes_per_user)")
        do {
            _ = try await upload(104_448, to: stage)
            Issue.record("it was taken")
        } catch {
            #expect(
                (error as? QueueServiceError)?.description
                    == "upload too large: 102 KiB or more; your limit is 100 KiB (queue.bytes_per_user)")
        }
        var inline = try Self.waiting
        inline.body = .inline([UInt8](repeating: 7, count: 50_000))
        await #expect(throws: QueueServiceError.self) { _ = try await stage.add(inline) }
        // Another user has room, until the queue has none.
        let others = try await upload(92_160, for: QueueServiceHandlerStage.other, to: stage)
        await #expect(throws: QueueServiceError.self) {
            _ = try await upload(61_440, for: QueueServiceHandlerStage.root, to: stage)
        }
        // Used or thrown away, they count no longer twice.
        var request = try Self.waiting
        request.body = .spooled(name: others.name, bytes: 0)
        let id = try await stage.add(request, for: QueueServiceHandlerStage.other)
        let _: Void = try await stage.ask { $0.cancel(id, for: QueueServiceHandlerStage.other, reply: $1) }
        let more = try await upload(92_160, for: QueueServiceHandlerStage.other, to: stage)
        #expect(more.bytes == 92_160)
    }

    @Test func `a long upload fits, and where the disk is nearly full a refusal names the limit of the disk`()
        async throws
    {
        let (first, second) = (try TemporaryDirectory(), try TemporaryDirectory())
        let wide = try QueueServiceHandlerStage(in: first.path) { $0.queue.policy.limits.disk.keepFree = 1 }
        var name: String?
        for _ in 0..<40 { name = try await upload(1 << 20, name, to: wide).name }
        var request = try Self.waiting
        request.body = .spooled(name: try #require(name), bytes: 0)
        _ = try await wide.add(request)
        let narrow = try QueueServiceHandlerStage(in: second.path) { $0.queue.policy.limits.disk.keepFree = 1 << 39 }
        name = nil
        await #expect(
            throws: QueueServiceError.refused(
                reason: "user-limit",
                excess: QueueExcess(limit: "queue.disk_share_per_user", allowed: 2 << 20, wanted: 5 << 19))
        ) {
            for _ in 0..<5 { name = try await upload(1 << 19, name, to: narrow).name }
        }
        name = nil
        await #expect(
            throws: QueueServiceError.refused(
                reason: "queue-full", excess: QueueExcess(limit: "queue.keep_free", allowed: 4 << 20, wanted: 9 << 19))
        ) {
            for _ in 0..<9 {
                name = try await upload(1 << 19, name, for: QueueServiceHandlerStage.root, to: narrow).name
            }
        }
        _ = try await narrow.add(try Self.waiting)
    }

    @Test func `a body goes with the request that another one stays for, and when its request is over`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        func spool() throws -> Int {
            try ChildProcess.run(["ls", directory.path + "/queue/spool"]).split(separator: "\n").count
        }
        var request = try Self.waiting
        request.uniqueness = .unique(name: "k", mode: .keep)
        request.body = .spooled(name: try await upload(10, to: stage).name, bytes: 0)
        let id = try await stage.add(request)
        #expect(try spool() == 1)
        request.body = .spooled(name: try await upload(10, to: stage).name, bytes: 0)
        #expect(try await stage.add(request) == id)
        // Files go on a thread of their own: the next upload is after it.
        _ = try await upload(10, to: stage)
        #expect(try spool() == 2)
        let _: Void = try await stage.ask { $0.cancel(id, for: QueueServiceHandlerStage.one, reply: $1) }
        #expect(try spool() == 1)
    }

    @Test func `an answer that its user may not keep ends the request, and says so`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path) { $0.queue.policy.results.bytes = 150_000 }
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + String(repeating: "x", count: 400_000))
        }
        let watch = try stage.watch(nil)
        let id = try await stage.add(try RequestSpecification(url: "http://127.0.0.1:\(server.port)/"))
        try await watch.event(.dead, of: id)
        #expect(try await stage.show(id).reason == "quota")
    }

    @Test func `a long list comes in pages, each request once`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try QueueServiceHandlerStage(in: directory.path)
        var ids: [Int64] = []
        for _ in 0..<25 { ids.append(try await stage.add(try Self.waiting)) }
        let cancelled = ids[3]
        let _: Void = try await stage.ask { $0.cancel(cancelled, for: QueueServiceHandlerStage.one, reply: $1) }
        var filter = QueueFilter()
        filter.limit = 10
        filter.states = [.waiting]
        var listed: [Int64] = []
        var sizes: [Int] = []
        while true {
            let page: QueuePage = try await stage.ask { [filter] in
                $0.list(filter, for: QueueServiceHandlerStage.one, inTurn: { $0() }, reply: $1)
            }
            listed += page.items.map(\.id.rawValue)
            sizes.append(page.items.count)
            #expect(page.count == 24)
            guard let next = page.next else { break }
            filter.after = next
        }
        #expect(listed == ids.filter { $0 != cancelled })
        #expect(sizes == [10, 10, 4])
        filter = QueueFilter()
        filter.states = [.cancelled]
        let over: QueuePage = try await stage.ask { [filter] in
            $0.list(filter, for: QueueServiceHandlerStage.one, inTurn: { $0() }, reply: $1)
        }
        #expect(over.items.map(\.id.rawValue) == [cancelled])
    }

    @Test func `without a queue everything is answered with that`() async throws {
        let stage = try QueueServiceHandlerStage(in: nil)
        await #expect(throws: QueueServiceError.notAvailable(reason: "this daemon keeps no queue")) {
            _ = try await stage.add(try Self.waiting)
        }
        await #expect(throws: QueueServiceError.self) { _ = try await stage.show(1) }
    }

    @Test func `what was queued is there after the next start, and the file is its owner's alone`() async throws {
        let directory = try TemporaryDirectory()
        var id: Int64 = 0
        do {
            let stage = try QueueServiceHandlerStage(in: directory.path)
            id = try await stage.add(try Self.waiting)
        }
        let stage = try QueueServiceHandlerStage(in: directory.path)
        #expect(try await stage.show(id).state == .waiting)
        try await stage.logged.wait(forOneThat: { $0.contains("with 1 request") })
        var status = stat()
        #expect(stat(directory.path + "/queue/queue.sqlite", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
}
