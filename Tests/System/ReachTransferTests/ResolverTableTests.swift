import Glibc
import ReachCore
import ReachTesting
import Testing

/// The same questions to the same odd servers, by the C library and by a question that is bound to a link: both have
/// the same addresses, or the same kind of error.
///
/// There is one exception: where a server is silent about IPv4, the C library drops what it said about IPv6.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(5)))
struct ResolverTableTests {
    typealias Server = HostileNameServer

    /// What the servers do wrong, and the lines of resolv.conf besides those of the servers.
    struct Oddity: Sendable, CustomTestStringConvertible {
        let name: String
        var resolv = ""
        var delay = Duration.zero
        /// Whether the C library may know less.
        var mayKnowMore = false
        /// One for each server.
        var servers: [@Sendable (Server.Query) -> [[UInt8]]] = [Self.answer]

        var testDescription: String { name }

        static let answer: @Sendable (Server.Query) -> [[UInt8]] = { [Zone.answer(to: $0)] }

        static func code(
            _ code: UInt8, where applies: @escaping @Sendable (Server.Query) -> Bool = { _ in true }
        ) -> [@Sendable (Server.Query) -> [[UInt8]]] {
            [{ query in [applies(query) ? query.answer(code: code) : Zone.answer(to: query)] }]
        }

        static func silent(
            where applies: @escaping @Sendable (Server.Query) -> Bool
        ) -> [@Sendable (Server.Query) -> [[UInt8]]] {
            [{ query in applies(query) ? [] : [Zone.answer(to: query)] }]
        }
    }

    /// What exists: hosts by their first label, in a few domains.
    enum Zone {
        static let hosts = ["four", "six", "both", "empty", "none", "alias"]

        static func labels(of query: Server.Query) -> [String] {
            var rest = query.question.dropLast(5)[...]
            var labels: [String] = []
            while let count = rest.popFirst() {
                labels.append(String(decoding: rest.prefix(Int(count)), as: UTF8.self).lowercased())
                rest = rest.dropFirst(Int(count))
            }
            return labels
        }

        static func answer(to query: Server.Query) -> [UInt8] {
            let labels = labels(of: query)
            let domain = labels.dropFirst().joined(separator: ".")
            guard ["example", "corp.example", "prod.corp.example", "prod.b.example", "deep.prod"].contains(domain)
            else {
                return query.answer(code: 3)
            }
            // The address shows the domain.
            let last = UInt8(domain.utf8.count)
            let four = Server.record(type: 1, [192, 0, 2, last])
            let six = Server.record(type: 28, [0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [last])
            switch (labels[0], query.type) {
            case ("four", 1), ("both", 1): return query.answer(answers: 1, four)
            case ("six", 28), ("both", 28): return query.answer(answers: 1, six)
            case ("alias", 1):
                // To a name in its domain, whose address follows.
                let place = UInt8(12 + query.question.count + 12)
                let alias = Server.record(type: 5, [1, 97, 0xc0, 18])
                return query.answer(answers: 2, alias + [0xc0, place] + four.dropFirst(2))
            case ("four", _), ("six", _), ("both", _), ("empty", _), ("alias", _): return query.answer()
            default: return query.answer(code: 3)
            }
        }
    }

    private static let names = Zone.hosts.flatMap { host in
        [
            ".example", ".example.", ".EXAMPLE", "", ".prod", ".prod.", ".deep.prod", ".corp", ".nowhere",
            ".b.example.corp",
        ]
        .map { host + $0 }
    }

    private static func isBelowCorp(_ query: Server.Query) -> Bool {
        Zone.labels(of: query).suffix(2) == ["corp", "example"]
    }

    private static let brief = "options timeout:1 attempts:2"
    private static let oddities: [Oddity] = [
        Oddity(name: "none"),
        Oddity(name: "EDNS is dropped", servers: Oddity.silent { $0.hasExtensions }),
        Oddity(name: "EDNS is an error of format", servers: Oddity.code(1) { $0.hasExtensions }),
        Oddity(name: "fails", servers: Oddity.code(2)), Oddity(name: "refuses", servers: Oddity.code(5)),
        Oddity(name: "knows no queries", servers: Oddity.code(4)),
        Oddity(name: "finds an error of format", servers: Oddity.code(1)),
        Oddity(name: "is silent", resolv: brief, servers: Oddity.silent { _ in true }),
        Oddity(name: "is silent about IPv6", resolv: brief, servers: Oddity.silent { $0.type == 28 }),
        Oddity(name: "is silent about IPv4", resolv: brief, mayKnowMore: true, servers: Oddity.silent { $0.type == 1 }),
        Oddity(name: "fails for IPv6", servers: Oddity.code(2) { $0.type == 28 }),
        Oddity(name: "fails for IPv4", servers: Oddity.code(2) { $0.type == 1 }),
        Oddity(name: "knows no name for IPv6", servers: Oddity.code(3) { $0.type == 28 }),
        Oddity(name: "fails below the search list", servers: Oddity.code(2, where: isBelowCorp)),
        Oddity(name: "refuses below the search list", servers: Oddity.code(5, where: isBelowCorp)),
        Oddity(name: "is silent below the search list", resolv: brief, servers: Oddity.silent(where: isBelowCorp)),
        Oddity(
            name: "truncates",
            servers: [{ query in [query.isStream ? Zone.answer(to: query) : query.answer(flags: 0x83)] }]),
        Oddity(name: "is slow", resolv: "", delay: .seconds(1)),
        Oddity(name: "the first refuses", servers: Oddity.code(5) + [Oddity.answer]),
        Oddity(name: "the first is silent", resolv: brief, servers: Oddity.silent { _ in true } + [Oddity.answer]),
        Oddity(name: "many dots", resolv: "options ndots:5", servers: [Oddity.answer]),
        Oddity(name: "no dots", resolv: "options ndots:0", servers: [Oddity.answer]),
        Oddity(
            name: "many dots, and silent below the search list", resolv: "options ndots:5 timeout:1 attempts:1",
            servers: Oddity.silent(where: isBelowCorp)),
        Oddity(name: "only IPv4 is asked for", resolv: "options no-aaaa", servers: [Oddity.answer]),
        Oddity(name: "only by TCP", resolv: "options use-vc", servers: [Oddity.answer]),
        Oddity(name: "the root alone is searched", resolv: "search .", servers: [Oddity.answer]),
    ]

    @Test func `sixty questions to each odd server end as the C library's do`() async throws {
        let namespace = try TestNamespace()
        let peer = try namespace.vethPair()
        let files = try TemporaryDirectory()
        var servers: [Server] = []
        defer {
            servers.forEach { $0.stop() }
            namespace.remove()
        }
        _ = try files.file("nsswitch.conf", "hosts: files dns\n")
        for (place, oddity) in Self.oddities.enumerated() {
            var lines = ["search corp.example b.example", oddity.resolv]
            for (number, answers) in oddity.servers.enumerated() {
                let address = try #require(IPAddress("192.0.2.\(20 + place * 4 + number)"))
                try peer.run("ip", "address", "add", "\(address)/32", "dev", "up1")
                servers.append(
                    try await peer.perform { try Server(on: address, port: 53, delay: oddity.delay, answers) })
                lines.append("nameserver \(address)")
            }
            _ = try files.file("resolv.conf", lines.joined(separator: "\n") + "\n")
            let script = """
                for file in nsswitch.conf resolv.conf; do mount --bind "$0/$file" "/etc/$file"; done
                exec "$@"
                """
            let arguments = [BuiltProgram(named: "fetch").path, "--compare", "up0"] + Self.names
            let program = try BuiltProgram(named: "unshare").start(
                ["--mount", "sh", "-c", script, files.path] + arguments, in: namespace.name)
            compare(try program.finish(within: .seconds(60)).lines, oddity)
        }
    }

    private func compare(_ lines: [String], _ oddity: Oddity) {
        #expect(lines.count == Self.names.count, "\(oddity.name)")
        for line in lines {
            let parts = line.split(separator: " ", maxSplits: 1)
            let answers = (parts.last ?? "").split(separator: "|").map(String.init)
            let isAllowed = oddity.mayKnowMore && answers.first == "unanswered"
            #expect(answers.count == 2 && (answers[0] == answers[1] || isAllowed), "\(oddity.name): \(line)")
        }
    }
}
