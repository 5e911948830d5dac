import CConfine
import Foundation
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachControl

/// The limits of what a call may hold, at both ends and in the documents.
@Suite struct CallLimitTests {
    private typealias Limit = CallLimits.Limit

    /// Whether a limit has the shape of a type of the definition.
    private func fits(_ limit: Limit?, _ kind: VarlinkDefinition.Kind, _ definition: VarlinkDefinition) -> Bool {
        switch (limit, kind) {
        case (.text, .string), (.scalar, .bool), (.scalar, .int), (.scalar, .float): return true
        case (.list(_, let element)?, .array(let kind)): return fits(element, kind, definition)
        case (.object(let members)?, .named(let name)):
            let fields = definition.types[name]?.fields ?? []
            return Set(fields.map(\.name)) == Set(members.keys)
                && fields.allSatisfy { fits(members[$0.name], $0.type, definition) }
        default: return false
        }
    }

    @Test(arguments: [MonitorInterface.definition, QueueInterface.definition, ServiceInterface.definition])
    func `every parameter of every method has a limit, and nothing else has one`(text: String) {
        let definition = VarlinkDefinition(text)
        #expect(!definition.methods.isEmpty)
        let known = CallLimits.all.table.keys.filter { $0.hasPrefix(definition.name + ".") }
        #expect(Set(known) == Set(definition.methods.keys.map { definition.name + "." + $0 }))
        for (method, fields) in definition.methods {
            let limits = CallLimits.all.table[definition.name + "." + method] ?? [:]
            #expect(Set(limits.keys) == Set(fields.map(\.name)), "\(method)")
            for field in fields { #expect(fits(limits[field.name], field.type, definition), "\(method).\(field.name)") }
        }
    }

    /// A value at its limit, or one beyond it; every way to be beyond it.
    private static func values(of limit: Limit, beyond: Bool) -> [JSONValue] {
        switch limit {
        case .scalar: return beyond ? [.string("1")] : [.integer(1)]
        case .text(let limit): return [.string(String(repeating: "a", count: beyond ? limit + 1 : limit))]
        case .list(let limit, let element):
            let whole = values(of: element, beyond: false).first ?? .null
            guard beyond else { return [.array(Array(repeating: whole, count: limit))] }
            let few = values(of: element, beyond: true).map { JSONValue.array([$0]) }
            return few + [.array(Array(repeating: .null, count: limit + 1))]
        case .object(let members):
            let whole = members.mapValues { values(of: $0, beyond: false).first ?? .null }
            guard beyond else { return [.object(whole)] }
            let each = members.flatMap { name, member in
                values(of: member, beyond: true).map { JSONValue.object([name: $0]) }
            }
            return each + [.object(["unknown": .integer(1)])]
        }
    }

    @Test func `each parameter is admitted at its limit, and the one beyond it is named`() {
        for (method, limits) in CallLimits.all.table {
            for (name, limit) in limits {
                for value in Self.values(of: limit, beyond: false) {
                    #expect(throws: Never.self) { try CallLimits.all.check(VarlinkCall(method, [name: value])) }
                }
                for value in Self.values(of: limit, beyond: true) {
                    #expect(throws: VarlinkError.invalidParameter(name), "\(method)") {
                        try CallLimits.all.check(VarlinkCall(method, [name: value]))
                    }
                }
            }
        }
    }

    @Test func `the daemon answers with the name of the parameter, before it reads anything`() throws {
        let server = try TestServer(hasQueue: true)
        let client = try RawClient(server.path)
        for (method, limits) in CallLimits.all.table {
            for (name, limit) in limits {
                for value in Self.values(of: limit, beyond: true) {
                    let frame = VarlinkCall(method, [name: value], wantsMore: method.hasSuffix("Watch")).frame
                    guard frame.count <= FrameReader.standardLimit else { continue }
                    client.send(frame)
                    let reply = try client.next()
                    #expect(reply["error"] == .string("org.varlink.service.InvalidParameter"), "\(method).\(name)")
                    #expect(reply["parameters"]?["parameter"] == .string(name), "\(method)")
                }
            }
        }
        #expect(server.queue { $0.requests.isEmpty })
    }

    @Test func `a client sends no call that the daemon would refuse for its length`() throws {
        let server = try TestServer(hasQueue: true)
        var client = try ControlClient(path: server.path)
        let long = VarlinkCall("io.reach.Monitor.Status", ["target": .string(String(repeating: "a", count: 2049))])
        #expect(throws: ControlError.refused(.invalidParameter("target"))) { try client.call(long) }
        var request = try RequestSpecification(url: "http://host.example/")
        request.orderKey = String(repeating: "k", count: 1025)
        #expect(throws: ControlError.refused(.invalidParameter("order"))) {
            try client.call(VarlinkCall("io.reach.Queue.Add", request.parameters))
        }
        // A command says it in a sentence.
        do throws(ControlError) {
            _ = try client.add(request)
            Issue.record("it was added")
        } catch {
            let sentence = "an order key has 1 to 1024 bytes"
            #expect(error.queueError == .invalid(field: "order", reason: sentence))
        }
        #expect(server.queue { $0.requests.isEmpty })
        request.orderKey = String(repeating: "k", count: 1024)
        _ = try client.add(request)
        #expect(server.queue { $0.requests.count } == 1)
    }

    /// The check of a command, the limits of a call and the check of the daemon accept the same.
    @Test(arguments: 0..<10)
    func `what a client accepts the daemon accepts`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func text(_ limit: Int) -> String {
            let length = max(1, random.pick([1, 2, limit - 1, limit, limit + 1]))
            return String(repeating: "a", count: length)
        }
        let limits = QueueLimits()
        var accepted = 0
        for _ in 0..<200 {
            let path = text(random.pick([10, 65_536]))
            guard var request = try? RequestSpecification(url: "http://h.example/" + path) else { continue }
            request.method = random.pick(["GET", "POST", "PUT", text(32)])
            if random.oneIn(3) { request.headers = [HeaderField(text(10), text(random.pick([5, 1000])))] }
            if random.oneIn(5) {
                request.headers = Array(repeating: HeaderField("A", "b"), count: random.pick([1024, 1025]))
            }
            if random.oneIn(3) { request.idempotency = .key(text(1024)) }
            if random.oneIn(3) {
                request.orderKey = text(1024)
            } else {
                request.uniqueness = .unique(name: text(1024), mode: .keep)
            }
            if random.oneIn(3) {
                request.acceptedStatuses = Array(repeating: 200...204, count: random.pick([1, 32, 33]))
            }
            if random.oneIn(3) {
                request.timeToLive = .milliseconds(random.pick([1, 315_360_000_000, 315_360_000_001, .max]))
            }
            if random.oneIn(3) { request.maximumAttempts = random.pick([1, .max]) }
            let names = (0..<random.pick([1, 62, 63])).map { "not network=\(text(52))\($0)" }.joined(separator: ",")
            if random.oneIn(3) { request.condition = (try? NetworkCondition(names)) ?? .any }
            guard (try? request.check(limits)) != nil else { continue }
            accepted += 1
            let call = VarlinkCall("io.reach.Queue.Add", request.parameters)
            #expect(throws: Never.self) { try CallLimits.all.check(call) }
            let frame = Array(call.frame.dropLast())
            let read = try RequestSpecification(try VarlinkCall(reading: frame).parameters)
            #expect(throws: Never.self) { try read.check(limits) }
            #expect(read == request)
        }
        #expect(accepted > 5)
    }

    @Test func `a call with more values than a call can need, or with endless names, is no call`() throws {
        let server = try TestServer(hasQueue: true)
        let many =
            #"{"method":"io.reach.Queue.List","parameters":{"states":[\#(String(repeating: "1,", count: 20_000))1]}}"#
        let name = String(repeating: "e\u{301}", count: 300)
        for call in [many, #"{"method":"io.reach.Queue.List","parameters":{"\#(name)":1}}"#, #"{"method":"\#(name)"}"#]
        {
            let client = try RawClient(server.path)
            client.send(call)
            #expect(client.isHungUp())
        }
        #expect(server.statistics.badMessages == 3)
    }

    // MARK: URLs

    @Test func `URLs of one host are watched as one target, and each client reads its own`() throws {
        let server = try TestServer()
        let path = String(repeating: "p", count: 2000)
        let urls = ["https://host.example/\(path)1", "https://host.example/\(path)2", "http://host.example:443/"]
        let clients = try urls.map { url in
            let client = try RawClient(server.path)
            client.send(#"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"target":"\#(url)"}}"#)
            #expect(try client.nextEvent()["status"]?["target"] == .string(url))
            return client
        }
        #expect(server.statistics.targets == 1 && server.statistics.subscribers == 3)
        let watched = try Target(urls[0]).watched
        for number in 1...2 {
            server.run { service, _ in service.change(watched) }
            for (client, url) in zip(clients, urls) {
                let event = try client.nextEvent()
                #expect(event["status"]?["target"] == .string(url))
                #expect(number == 1 || event["type"] == .string("change"))
            }
        }
        clients.forEach { $0.hangUp() }
        #expect(server.wait { $0.targets == 0 && $0.backlogBytes == 0 })
        let status = try RawClient(server.path).call(
            #"{"method":"io.reach.Monitor.Status","parameters":{"target":"\#(urls[2])"}}"#)
        #expect(status["parameters"]?["status"]?["target"] == .string(urls[2]))
    }

    // MARK: Users without a number

    @Test func `users without a number of their own share nothing, since no one knows who they are`() throws {
        let stranger = Caller(user: Caller.overflowUser, group: 1, process: 1)
        #expect(!stranger.isKnown && Caller(user: 1000, group: 1, process: 1).isKnown)
        let authority = ControlAuthority(user: Caller.overflowUser)
        #expect(!authority.mayChange(stranger) { _ in false } && !authority.mayReadAll(stranger) { _ in false })
        #expect(authority.exempt == [0])
    }

    @Test(.enabled(if: getuid() == 0, "only root can become another user"))
    func `a caller with the overflow number has no queue, and sees the network as others do`() throws {
        let server = try TestServer(hasQueue: true)
        chmod(server.directory, 0o755)
        chmod(server.path, 0o666)
        #expect(reach_confine_become(Caller.overflowUser) == 0)
        let client = Result { try RawClient(server.path) }
        #expect(reach_confine_become(0) == 0)
        for (method, parameters) in [
            ("Add", #"{"url":"http://h.example/"}"#), ("List", "{}"), ("Cancel", #"{"id":1}"#),
        ] {
            let answer = try client.get().call(#"{"method":"io.reach.Queue.\#(method)","parameters":\#(parameters)}"#)
            #expect(answer["error"] == .string("io.reach.Queue.NotPermitted"), "\(method)")
        }
        #expect(server.queue { $0.requests.isEmpty })
        let status = try client.get().call(#"{"method":"io.reach.Monitor.Status"}"#)
        #expect(status["parameters"]?["status"] != nil)
    }

    // MARK: Documents

    /// The rows of SECURITY.md's table: a parameter, its calls, its limit.
    private static var rows: [String] {
        func limits(_ name: String, _ limit: Limit) -> [(String, String)] {
            switch limit {
            case .scalar: []
            case .text(let bytes): [(name, "\(bytes) bytes")]
            case .list(let count, let element): [(name, "\(count) elements")] + limits(name + "[]", element)
            case .object(let members):
                members.sorted { $0.key < $1.key }.flatMap { limits(name + "." + $0.key, $0.value) }
            }
        }
        var calls: [String: [String]] = [:]
        for (method, parameters) in CallLimits.all.table where method.hasPrefix("io.reach.") {
            for (name, limit) in parameters.flatMap({ limits($0.key, $0.value) }) {
                calls["`\(name)` | \(limit)", default: []].append(String(method.dropFirst("io.reach.".count)))
            }
        }
        return calls.map { place, methods in
            let parts = place.components(separatedBy: " | ")
            return "| \(parts[0]) | \(methods.sorted().map { "`\($0)`" }.joined(separator: ", ")) | \(parts[1]) |"
        }.sorted()
    }

    @Test func `SECURITY.md has the limits that no key changes`() {
        let text = ProjectFile.text("SECURITY.md")
        let limits = ControlLimits()
        let days = QueueLimits.longestLife.nanoseconds / 86_400_000_000_000
        for row in [
            "answers of one user | \(limits.messageBytes >> 20) MiB; \(limits.unfinishedBytesPerUser >> 20) MiB |",
            "| time for a message to be complete | \(limits.messagePatience.nanoseconds / 1_000_000_000) s |",
            "that change the queue | \(limits.costlyCallsPerUser); \(limits.changesPerUser) |",
            "| requests that one user watches | \(limits.queueWatchesPerUser) |",
            "the journal's bytes and age | \(limits.journalFollowersPerUser); ",
            "| how long a request may wait (`expires_ms`) | \(days) days |",
            "a condition has at most \(NetworkCondition.mostTerms) terms.",
            "A call has at most \(VarlinkCall.limits.values) values, and names of at most\n\(VarlinkCall.limits.keyBytes) bytes.",
        ] {
            #expect(text.contains(row), "\(row)")
        }
    }

    @Test func `SECURITY.md has the table of the limits`() {
        let lines = ProjectFile.text("SECURITY.md").components(separatedBy: "\n")
        let table = lines.drop { $0 != "| parameter | of | limit |" }.dropFirst(2).prefix { $0.hasPrefix("|") }
        #expect(Array(table) == Self.rows, "\(Self.rows.joined(separator: "\n"))")
    }
}
