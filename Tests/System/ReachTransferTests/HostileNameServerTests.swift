import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import ReachTransfer
import Testing

/// Name servers, and impostors of them, that answer wrongly.
struct HostileNameServerTests {
    typealias Answer = Result<[IPAddress], NameFailure>
    typealias Server = HostileNameServer

    private func stage(
        _ servers: Server..., patience: Duration = .seconds(1), resolv: String = "options attempts:2"
    ) throws -> TransferStage {
        var options = TransferEngine.Options()
        options.resolver.patience = patience
        var configuration = ResolverConfiguration(resolv: resolv, hosts: "")
        configuration.servers = servers.map { ResolverConfiguration.Server("127.0.0.1", port: $0.port) }
        options.resolver.configuration = configuration
        return try TransferStage(options: options)
    }

    private func resolve(
        _ host: String, family: IPAddress.Family? = .ipv4, on stage: TransferStage, within limit: Duration = .seconds(5)
    ) async throws -> Answer {
        let log = EventLog<Answer>()
        stage.perform { room in
            let question = NameQuestion(host, family: family)
            _ = room.engine.resolver.resolve(question, within: limit) { log.append($0) }
        }
        return try await log.wait(for: 1, within: limit + .seconds(5))[0]
    }

    @Test func `a datagram that is no response to the query is skipped`() async throws {
        let server = try Server { query in
            let others: [UInt8] = [1, 98] + query.question.dropFirst(2)
            return [
                query.answer(answers: 1, Server.address(66), id: [query.id[0], query.id[1] ^ 1]),
                query.answer(answers: 1, Server.address(66), question: others),
                // The query itself, an empty datagram, and less than a header.
                query.bytes, [], [1, 2, 3],
                query.answer(answers: 1, Server.address(7)),
            ]
        }
        defer { server.stop() }
        #expect(try await resolve("a.example", on: try stage(server)) == .success(["192.0.2.7"]))
        #expect(server.received.count == 1)
    }

    @Test func `an answer from another port is not accepted`() async throws {
        let forger = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        defer { close(forger) }
        let server = try Server { query in
            let client = SocketAddress(address: "127.0.0.1", port: query.port)
            let forged = query.answer(answers: 1, Server.address(66))
            _ = client.withPointer {
                sendto(forger, forged, forged.count, 0, $0.assumingMemoryBound(to: sockaddr.self), $1)
            }
            return [query.answer(answers: 1, Server.address(7))]
        }
        defer { server.stop() }
        #expect(try await resolve("a.example", on: try stage(server)) == .success(["192.0.2.7"]))
    }

    @Test func `a flood of wrong answers delays neither the query nor the loop`() async throws {
        let server = try Server { query in
            let wrong = query.answer(answers: 1, Server.address(66), id: [query.id[0], query.id[1] ^ 1])
            return Array(repeating: wrong, count: 100) + [query.answer(answers: 1, Server.address(7))]
        }
        defer { server.stop() }
        #expect(try await resolve("a.example", on: try stage(server)) == .success(["192.0.2.7"]))
    }

    @Test func `a truncated answer is not used, and the query is repeated by TCP`() async throws {
        let server = try Server { query in
            query.isStream
                ? [query.answer(answers: 1, Server.address(7))]
                : [query.answer(flags: 0x83, answers: 1, Server.address(66))]
        }
        defer { server.stop() }
        #expect(try await resolve("a.example", on: try stage(server)) == .success(["192.0.2.7"]))
        #expect(server.received.map(\.isStream) == [false, true])
    }

    @Test func `the largest possible answer is read, and sixteen of its addresses are used`() async throws {
        let server = try Server { query in
            guard query.isStream else { return [query.answer(flags: 0x83)] }
            let count = (65535 - 12 - query.question.count) / 16
            return [query.answer(answers: count, (0..<count).flatMap { Server.address(UInt8($0 & 127)) })]
        }
        defer { server.stop() }
        #expect(try await resolve("a.example", on: try stage(server)).map(\.count) == .success(16))
    }

    @Test func `a chain of aliases ends, even in a loop`() async throws {
        let server = try Server { query in
            switch query.firstLabel {
            // To itself, sixty times.
            case "loop":
                return [query.answer(answers: 60, (0..<60).flatMap { _ in Server.record(type: 5, [0xc0, 12]) })]
            // To a name without a record.
            case "open": return [query.answer(answers: 1, Server.record(type: 5, [1, 98, 0xc0, 17]))]
            default:
                let alias = Server.record(type: 5, seconds: [0, 0, 0, 30], [1, 98, 0xc0, 17])
                let end: [UInt8] = [1, 98, 0xc0, 17, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9]
                return [query.answer(answers: 2, alias + end)]
            }
        }
        defer { server.stop() }
        let stage = try stage(server)
        for host in ["loop.example", "open.example"] {
            guard case .failure(.notFound) = try await resolve(host, on: stage) else {
                Issue.record("\(host) has no address")
                continue
            }
        }
        #expect(try await resolve("good.example", on: stage) == .success(["192.0.2.9"]))
        #expect(server.received.count == 3)
    }

    @Test func `an answer that cannot be parsed is the server's failure`() async throws {
        let server = try Server { query in
            [query.answer(answers: 2, Server.address(66) + Server.address(66).dropLast())]
        }
        defer { server.stop() }
        guard case .failure(.serverFailure) = try await resolve("a.example", on: try stage(server)) else {
            Issue.record("half an answer was believed")
            return
        }
    }

    @Test(arguments: [true, false])
    func `a server without EDNS is queried without it`(repeatsQuestion: Bool) async throws {
        let server = try Server { query in
            guard query.hasExtensions else { return [query.answer(answers: 1, Server.address(7))] }
            return [
                repeatsQuestion ? query.answer(code: 1) : query.id + [0x81, 0x81] + [UInt8](repeating: 0, count: 8)
            ]
        }
        defer { server.stop() }
        #expect(
            try await resolve("a.example", on: try stage(server, resolv: "options edns0")) == .success(["192.0.2.7"]))
        #expect(server.received.map(\.hasExtensions) == [true, false])
    }

    @Test func `questions have no EDNS where the machine's resolver sends none`() async throws {
        let server = try Server { query in
            // Longer than 512 bytes, as servers answer that ignore the limit.
            query.hasExtensions ? [] : [query.answer(answers: 40, (0..<40).flatMap { Server.address(UInt8($0)) })]
        }
        defer { server.stop() }
        #expect(try await resolve("a.example", on: try stage(server)).map(\.count) == .success(16))
        #expect(server.received.map(\.hasExtensions) == [false])
    }

    @Test func `a server that drops questions with EDNS gets the second one without it, and the next names' first`()
        async throws
    {
        let server = try Server { query in
            query.hasExtensions ? [] : [query.answer(answers: 1, Server.address(7))]
        }
        defer { server.stop() }
        let stage = try stage(server, patience: .milliseconds(200), resolv: "options edns0")
        for host in ["a.example", "b.example"] {
            #expect(try await resolve(host, on: stage) == .success(["192.0.2.7"]))
        }
        #expect(server.received.map { "\($0.firstLabel) \($0.hasExtensions)" } == ["a true", "a false", "b false"])
    }

    @Test func `also by TCP no question has EDNS unless the machine's resolver sends it`() async throws {
        let server = try Server { query in
            query.hasExtensions ? [] : [query.answer(answers: 1, Server.address(7))]
        }
        defer { server.stop() }
        let stage = try stage(server, resolv: "options use-vc")
        #expect(try await resolve("a.example", on: stage) == .success(["192.0.2.7"]))
        #expect(server.received.map(\.isStream) == [true])
    }

    @Test func `a server that sends another's cookie is believed, and gets none`() async throws {
        let server = try Server { query in
            let cookie: [UInt8] = [0, 10, 0, 16] + [UInt8](repeating: 0xab, count: 16)
            let options: [UInt8] = [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, UInt8(cookie.count)] + cookie
            var answer = query.answer(answers: 1, Server.address(7) + options)
            answer[11] = 1
            return [answer]
        }
        defer { server.stop() }
        let stage = try stage(server, resolv: "options edns0")
        #expect(try await resolve("a.example", on: stage) == .success(["192.0.2.7"]))
        // A header, the question, and EDNS without options.
        #expect(server.received.map { $0.bytes.count - $0.question.count } == [12 + 11])
    }

    @Test func `where one of several servers refuses, the next is queried; a single server's refusal is the answer`()
        async throws
    {
        let refusing = try Server { query in [query.answer(code: 5)] }
        let good = try Server { query in [query.answer(answers: 1, Server.address(7))] }
        defer {
            refusing.stop()
            good.stop()
        }
        #expect(try await resolve("a.example", on: try stage(refusing, good)) == .success(["192.0.2.7"]))
        #expect(refusing.received.count == 1)
        for servers in [[refusing], [refusing, refusing]] {
            let stage = servers.count == 1 ? try stage(refusing) : try stage(refusing, refusing)
            guard case .failure(.serverFailure(let text)) = try await resolve("b.example", on: stage) else {
                Issue.record("a refusal is a server's failure")
                continue
            }
            #expect(text.contains("code 5"))
        }
        // Where all refuse, all are asked once more.
        #expect(refusing.received.count == 1 + 2 + 4)
    }

    @Test func `a server that fails once is asked again, and rotation begins with each server in turn`() async throws {
        let first = ThreadCounter()
        let failing = try Server { query in
            first.next() == 0 ? [query.answer(code: 2)] : [query.answer(answers: 1, Server.address(7))]
        }
        defer { failing.stop() }
        #expect(try await resolve("a.example", on: try stage(failing)) == .success(["192.0.2.7"]))
        let servers = try (1...3).map { number in
            try Server { query in [query.answer(answers: 1, Server.address(UInt8(number)))] }
        }
        defer { servers.forEach { $0.stop() } }
        let stage = try stage(servers[0], servers[1], servers[2], resolv: "options rotate")
        for name in 0..<6 { _ = try await resolve("name\(name).example", on: stage) }
        #expect(servers.map(\.received.count) == [2, 2, 2])
    }

    @Test func `a server that refuses is queried once, however often the silent one after it is`() async throws {
        let refusing = try Server { query in [query.answer(code: 5)] }
        let silent = try Server { _ in [] }
        defer {
            refusing.stop()
            silent.stop()
        }
        let stage = try stage(refusing, silent, patience: .milliseconds(200))
        guard case .failure = try await resolve("a.example", on: stage) else {
            Issue.record("nobody answered")
            return
        }
        #expect(refusing.received.count == 1)
        #expect(silent.received.count > 1)
    }

    @Test func `a silent server delays only its own query`() async throws {
        let server = try Server { query in
            query.firstLabel == "silent" ? [] : [query.answer(answers: 1, Server.address(7))]
        }
        defer { server.stop() }
        let stage = try stage(server)
        let log = EventLog<String>()
        stage.perform { room in
            for host in ["silent.example", "a.example", "b.example"] {
                let question = NameQuestion(host, family: .ipv4)
                _ = room.engine.resolver.resolve(question, within: .milliseconds(700)) { answer in
                    if case .failure(.silent) = answer { log.append("silent: \(host)") } else { log.append(host) }
                }
            }
        }
        let order = try await log.wait(for: 3)
        #expect(Set(order.prefix(2)) == ["a.example", "b.example"] && order.last == "silent: silent.example")
    }

    @Test func `a forged address is passed on: the caller that asks for a public name checks it`() async throws {
        let server = try Server { query in
            let lies: [[UInt8]] = [[127, 0, 0, 1], [169, 254, 0, 1]]
            return [query.answer(answers: 2, lies.flatMap { Server.record(type: 1, $0) })]
        }
        defer { server.stop() }
        let answer = try await resolve("www.example.com", on: try stage(server))
        #expect(answer.map(Set.init) == .success(["127.0.0.1", "169.254.0.1"]))
    }

    @Test func `ports and identifiers differ from query to query`() async throws {
        let server = try Server { query in [query.answer(answers: 1, Server.address(7))] }
        defer { server.stop() }
        let stage = try stage(server)
        for number in 0..<20 { _ = try await resolve("name\(number).example", on: stage) }
        // Two of twenty may be equal by chance; most of them may not.
        #expect(Set(server.received.map(\.port)).count >= 17)
        #expect(Set(server.received.map(\.id)).count >= 17)
    }

    @Test func `an answer is kept for its time to live, also a negative one`() async throws {
        let authority: [UInt8] = [0, 0] + [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 20]
        let server = try Server { query in
            switch query.firstLabel {
            case "none": [query.answer(code: 3, authorities: 1, Server.record(type: 6, authority))]
            case "empty": [query.answer(authorities: 1, Server.record(type: 6, authority))]
            case "brief": [query.answer(code: 3)]
            // RFC 2308 section 5: the record's own time to live counts too.
            case "gone":
                [query.answer(code: 3, authorities: 1, Server.record(type: 6, seconds: [0, 0, 0, 0], authority))]
            case "odd": [query.answer(answers: 1, Server.address(7, seconds: [0x80, 0, 0, 0]))]
            default: [query.answer(answers: 1, Server.address(7))]
            }
        }
        defer { server.stop() }
        // A question is repeated after the patience. On a busy machine that would count as a second question.
        let stage = try stage(server, patience: .seconds(5))
        for (host, questions) in [("none", 1), ("empty", 1), ("brief", 2), ("gone", 2), ("odd", 2), ("good", 1)] {
            for _ in 0..<2 { _ = try await resolve(host + ".example", on: stage, within: .seconds(20)) }
            #expect(server.received.count { $0.firstLabel == host } == questions, "\(host)")
        }
    }

    @Test(arguments: [
        "a..example", ".a", String(repeating: "a", count: 64) + ".example",
        Array(repeating: "abc", count: 64).joined(separator: "."), "hidden.onion", "hidden.Onion.",
    ])
    func `a name that is not valid in DNS is not queried`(name: String) async throws {
        let server = try Server { query in [query.answer(answers: 1, Server.address(66))] }
        defer { server.stop() }
        guard case .failure(.notFound) = try await resolve(name, on: try stage(server)) else {
            Issue.record("'\(name)' was found")
            return
        }
        #expect(server.received.isEmpty)
    }

    @Test func `random bytes never trap`() throws {
        var generator = SeededGenerator(seed: 1035)
        let question: [UInt8] = [1, 97, 7] + "example".utf8 + [0, 0, 1, 0, 1]
        let header: [UInt8] = [0, 7, 0x81, 0x80, 0, 1, 0, 3, 0, 1, 0, 0]
        let soa = Server.record(type: 6, [0, 0] + [UInt8](repeating: 1, count: 20))
        let whole =
            header + question + Server.address(1) + Server.record(type: 5, [1, 98, 0xc0, 14])
            + Server.record(type: 16, [3, 97, 98, 99, 1, 100]) + soa
        let types: [DNSType] = [.a, .ns, .cname, .ptr, .mx, .txt, .aaaa, .srv]
        func read(_ bytes: [UInt8]) {
            guard let reply = DNSReply(bytes) else { return }
            for family in [IPAddress.Family.ipv4, .ipv6] { _ = DNSAnswer(reply, family: family) }
            for type in types { _ = reply.texts(type) }
        }
        for count in 0...whole.count { read(Array(whole.prefix(count))) }
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: .min ... .max, using: &generator)
            }
            read(bytes)
        }
    }
}
