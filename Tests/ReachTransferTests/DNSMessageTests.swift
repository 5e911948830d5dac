package import ReachCore
import ReachTesting
package import ReachTransfer
import Testing

extension IPAddress: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = IPAddress(text) ?? IPAddress(ipv4: 0) }
}

extension DNSName: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = DNSName(text) ?? "invalid" }
}

/// DNS messages by their bytes (RFC 1035 section 4, RFC 6891).
struct DNSMessageTests {
    /// Builds answers: a name server in a few lines.
    struct Builder {
        var bytes: [UInt8] = []

        mutating func number(_ value: Int) { bytes += [UInt8(value >> 8 & 255), UInt8(value & 255)] }

        mutating func name(_ text: String) {
            for label in text.split(separator: ".") { bytes += [UInt8(label.utf8.count)] + label.utf8 }
            bytes.append(0)
        }

        mutating func header(id: Int = 7, flags: Int = 0x8180, questions: Int = 1, answers: Int, authorities: Int = 0) {
            for value in [id, flags, questions, answers, authorities, 0] { number(value) }
        }

        mutating func question(_ text: String = "a.example", type: Int = 1) {
            name(text)
            number(type)
            number(1)
        }

        /// A record about the name at an offset: 12 is the question's.
        mutating func record(at offset: Int = 12, type: Int, seconds: Int = 60, networkClass: Int = 1, _ data: [UInt8])
        {
            number(0xc000 | offset)
            number(type)
            number(networkClass)
            number(seconds >> 16)
            number(seconds & 0xffff)
            number(data.count)
            bytes += data
        }
    }

    private static let query = DNSQuery(id: 7, name: "A.example", type: .a)

    private func answer(_ build: (inout Builder) -> Void) throws -> DNSAnswer {
        var builder = Builder()
        build(&builder)
        let response = try DNSResponse(builder.bytes)
        #expect(response.answers(Self.query))
        return DNSAnswer(response, to: Self.query)
    }

    @Test func `a question is the bytes that RFC 1035 says`() {
        #expect(
            DNSQuery(id: 0x1234, name: "a.Example.", type: .aaaa).encoded == [
                0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 97, 7, 101, 120, 97, 109, 112, 108, 101, 0, 0, 28, 0, 1,
                0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0,
            ])
        #expect(DNSQuery(id: 0, name: "a", type: .a, hasExtensions: false).encoded.count == 19)
    }

    @Test(arguments: [
        "", "a..b", ".a", String(repeating: "a", count: 64), Array(repeating: "abc", count: 64).joined(separator: "."),
    ])
    func `what is no name is refused`(text: String) { #expect(DNSName(text) == nil) }

    @Test func `the longest name and label there can be are names`() {
        #expect(DNSName(String(repeating: "a", count: 63)) != nil)
        #expect(DNSName(Array(repeating: "a", count: 127).joined(separator: ".")) != nil)
        #expect(DNSName(Array(repeating: "a", count: 128).joined(separator: ".")) == nil)
    }

    @Test func `addresses come with the shortest time they hold`() throws {
        let answer = try answer {
            $0.header(answers: 2)
            $0.question()
            $0.record(type: 1, seconds: 60, [192, 0, 2, 1])
            $0.record(type: 1, seconds: 50, [192, 0, 2, 2])
        }
        #expect(answer == .addresses(["192.0.2.1", "192.0.2.2"], seconds: 50))
    }

    @Test func `aliases are followed, in whatever order they stand`() throws {
        let answer = try answer {
            $0.header(answers: 2)
            $0.question()
            $0.name("b.example")
            for value in [1, 1, 0, 90, 4] { $0.number(value) }
            $0.bytes += [192, 0, 2, 9]
            // "example" is at 14.
            $0.record(type: 5, seconds: 30, [1, 98, 0xc0, 14])
        }
        #expect(answer == .addresses(["192.0.2.9"], seconds: 30))
    }

    @Test func `a loop of aliases ends`() throws {
        let answer = try answer {
            $0.header(answers: 1)
            $0.question()
            $0.record(type: 5, [0xc0, 12])
        }
        #expect(answer == .none(seconds: 0))
    }

    @Test func `there is no such name, and for how long`() throws {
        let soa: [UInt8] = [0, 0] + [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 20]
        let none = try answer {
            $0.header(flags: 0x8183, answers: 0, authorities: 1)
            $0.question()
            $0.record(type: 6, seconds: 100, soa)
        }
        #expect(none == .noSuchName(seconds: 20))
        let empty = try answer {
            $0.header(answers: 0, authorities: 1)
            $0.question()
            $0.record(type: 6, seconds: 10, soa)
        }
        #expect(empty == .none(seconds: 10))
    }

    @Test func `a server that cannot tell says so`() throws {
        let answer = try answer {
            $0.header(flags: 0x8182, answers: 0)
            $0.question()
        }
        #expect(answer == .failure(code: 2))
    }

    @Test func `a time to live of more than 31 bits is none`() throws {
        let answer = try answer {
            $0.header(answers: 1)
            $0.question()
            $0.record(type: 1, seconds: 0x8000_0000, [192, 0, 2, 1])
        }
        #expect(answer == .addresses(["192.0.2.1"], seconds: 0))
    }

    @Test func `records of another class do not count`() throws {
        let answer = try answer {
            $0.header(answers: 1)
            $0.question()
            $0.record(type: 1, networkClass: 3, [192, 0, 2, 1])
        }
        #expect(answer == .none(seconds: 0))
    }

    @Test func `a record cut by truncation ends the list, and without truncation it is a mistake`() throws {
        for (flags, isTaken) in [(0x8380, true), (0x8180, false)] {
            var builder = Builder()
            builder.header(flags: flags, answers: 2)
            builder.question()
            builder.record(type: 1, [192, 0, 2, 1])
            builder.record(type: 1, [192, 0, 2, 2])
            builder.bytes.removeLast()
            let response = try? DNSResponse(builder.bytes)
            #expect(response?.answers.count == (isTaken ? 1 : nil))
            #expect(response?.isTruncated == (isTaken ? true : nil))
        }
    }

    @Test func `the answer to another question is none of ours`() throws {
        for (id, name, type, isOurs) in [
            (7, "A.EXAMPLE", 1, true), (8, "a.example", 1, false), (7, "b.example", 1, false),
            (7, "a.example", 28, false),
        ] {
            var builder = Builder()
            builder.header(id: id, answers: 0)
            builder.question(name, type: type)
            #expect(try DNSResponse(builder.bytes).answers(Self.query) == isOurs)
        }
    }

    @Test(arguments: [
        ("itself", [0xc0, 12] as [UInt8]), ("ahead", [0xc0, 40]), ("a label and then itself", [1, 97, 0xc0, 12]),
        ("a reserved kind of label", [0x41, 0]), ("beyond the end", [0xff, 0xff]), ("nothing", []), ("half", [0xc0]),
    ])
    func `a pointer that does not lead back is a mistake`(what: String, name: [UInt8]) {
        var builder = Builder()
        builder.header(answers: 0)
        builder.bytes += name + [0, 1, 0, 1]
        if what == "nothing" { builder.bytes.removeLast(4) }
        #expect(throws: DNSResponse.Mistake.self) { try DNSResponse(builder.bytes) }
    }

    @Test func `bytes at random never trap, and what is cut anywhere is refused or taken`() {
        var generator = SeededGenerator(seed: 1035)
        var builder = Builder()
        builder.header(answers: 2)
        builder.question()
        builder.record(type: 1, [192, 0, 2, 1])
        builder.record(type: 5, [1, 98, 0xc0, 12])
        for count in 0...builder.bytes.count { _ = try? DNSResponse(Array(builder.bytes.prefix(count))) }
        for _ in 0..<20_000 {
            var bytes = builder.bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: .min ... .max, using: &generator)
            }
            if let response = try? DNSResponse(bytes) { _ = DNSAnswer(response, to: Self.query) }
        }
    }
}

struct ResolverConfigurationTests {
    @Test func `servers and hosts are read from the files' text`() {
        let configuration = ResolverConfiguration(
            resolv: """
                # comment
                search example
                nameserver 192.0.2.1 ; first
                nameserver fe80::1%eth0
                nameserver not-an-address
                \tnameserver\t2001:db8::1
                nameserver 192.0.2.4
                """,
            hosts: """
                127.0.0.1 localhost
                192.0.2.7 Seven seven.example # comment
                2001:db8::7 seven
                192.0.2.7 seven
                """)
        #expect(
            configuration.servers == [
                .init("192.0.2.1"), .init("fe80::1", zone: "eth0"),
                .init("2001:db8::1"),
            ])
        #expect(configuration.addresses(of: "SEVEN.") == ["192.0.2.7", "2001:db8::7"])
        #expect(configuration.addresses(of: "seven.example") == ["192.0.2.7"])
        #expect(configuration.addresses(of: "localhost") == ["127.0.0.1"])
        #expect(configuration.addresses(of: "a.localhost") == ["::1", "127.0.0.1"])
        #expect(configuration.addresses(of: "eight") == nil)
    }

    @Test func `without a server the machine itself is asked`() {
        #expect(ResolverConfiguration(resolv: "", hosts: "").servers == [.init("127.0.0.1")])
    }
}
