import Glibc
import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// `contrib/fleet/asn`, which makes the file of `--asn` from a table of routes.
@Suite struct RoutingTableTests {
    private static func number(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ((bytes - 1 - $0) * 8)) }
    }

    private static func record(_ subtype: Int, _ body: [UInt8], kind: Int = 13) -> [UInt8] {
        number(0, 4) + number(kind, 2) + number(subtype, 2) + number(body.count, 4) + body
    }

    /// A route with the paths of its peers; a path that ends with a set of systems has a negative number there.
    private static func route(_ text: String, _ paths: [[Int]]) throws -> [UInt8] {
        let prefix = try #require(IPPrefix(text))
        let isIPv4 = prefix.address.family == .ipv4
        let halves = isIPv4 ? [prefix.address.low << 32] : [prefix.address.high, prefix.address.low]
        let address = halves.flatMap { number(Int(truncatingIfNeeded: $0), 8) }
        var body = number(7, 4) + [UInt8(prefix.length)] + address.prefix((prefix.length + 7) / 8)
        body += number(paths.count, 2)
        for path in paths {
            let (set, sequence) = (path.filter { $0 < 0 }, path.filter { $0 >= 0 })
            var segments = [UInt8(2), UInt8(sequence.count)] + sequence.flatMap { number($0, 4) }
            if !set.isEmpty { segments += [1, UInt8(set.count)] + set.flatMap { number(-$0, 4) } }
            let attributes = [0x40, 1, 1, 0] + [0x50, 2] + number(segments.count, 2) + segments
            body += number(0, 2) + number(0, 4) + number(attributes.count, 2) + attributes
        }
        return record(isIPv4 ? 2 : 4, body)
    }

    private static func convert(_ dump: [UInt8], packedBy packer: String? = nil) throws -> String {
        let directory = try TemporaryDirectory()
        try directory.file("names", "64500 Example Telecom\nAS64501 Example Cable\nnonsense\n")
        let file = try #require(fopen(directory.path + "/dump", "w"))
        fwrite(dump, 1, dump.count, file)
        fclose(file)
        if let packer {
            try ChildProcess.run([
                "sh", "-c", "\(packer) \(directory.path)/dump && mv \(directory.path)/dump.* \(directory.path)/dump",
            ])
        }
        return try ChildProcess.run(
            [ProjectFile.path("contrib/fleet/asn"), "--names", directory.path + "/names", directory.path + "/dump"])
    }

    private static func table() throws -> [UInt8] {
        try record(1, number(0, 8)) + route("203.0.113.0/24", [[1, 2, 64500], [3, 64500], [4, 64502]])
            + route("203.0.113.0/25", [[1, 64500]]) + route("203.0.113.128/25", [[1, 64501]])
            + route("203.0.113.192/26", [[1, 64500]]) + route("0.0.0.0/0", [[1, 2]])
            + route("198.51.100.0/24", [[1, -64500, -64501]]) + route("2001:db8::/32", [[1, 64502]])
            + route("2001:db8:ffff::/48", [[1, 64502]])
    }

    @Test(arguments: [nil, "gzip"])
    func `a table of routes becomes a line for each prefix whose origin its larger one does not have`(
        _ packer: String?
    ) throws {
        let text = try Self.convert(try Self.table(), packedBy: packer)
        #expect(
            text.textLines.map(String.init).filter { !$0.isEmpty } == [
                "203.0.113.0/24 64500 Example Telecom", "203.0.113.128/25 64501 Example Cable",
                "203.0.113.192/26 64500 Example Telecom", "2001:db8::/32 64502",
            ])
        let systems = try ASNTable(text)
        let address = try #require(IPAddress("203.0.113.130"))
        #expect(systems.system(of: address)?.description == "AS64501 (Example Cable)")
    }

    @Test func `what is no such table, or ends within it, is an error`() throws {
        let table = try Self.table()
        for wrong in [Array(table.dropLast(3)), Self.record(4, [1, 2, 3], kind: 16), Array("hello".utf8), []] {
            #expect(throws: (any Error).self) { try Self.convert(wrong) }
        }
    }
}
