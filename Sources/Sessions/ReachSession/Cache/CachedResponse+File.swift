internal import ReachCore

/// A stored response as a file: a line of JSON with all but the body, the body, and before both their checksum.
extension CachedResponse {
    private static let magic = "reach-cache-3 "

    package var file: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.field("url", url)
            $0.field("status", Int64(status))
            $0.field("version", version)
            $0.field("requested_ns", requested.nanosecondsSince1970)
            $0.field("received_ns", received.nanosecondsSince1970)
            $0.field("authorization", authorization)
            $0.field(
                "fields",
                array: { list in
                    for field in fields {
                        list.value(field.name)
                        list.value(field.value)
                    }
                })
            $0.field(
                "selecting",
                array: { list in
                    for (name, value) in selecting.sorted(by: { $0.key < $1.key }) {
                        list.value(name)
                        list.value(value)
                    }
                })
        }
        writer.newline()
        let rest = writer.bytes + body
        return Array((Self.magic + "\(CyclicRedundancy.checksum(rest))\n").utf8) + rest
    }

    /// - Returns: `nil` for anything but a whole file: a write may have been interrupted, or the disk be damaged.
    package init?(file bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count == 3, lines[0].starts(with: Self.magic.utf8),
            let sum = UInt32(String(decoding: lines[0].dropFirst(Self.magic.utf8.count), as: UTF8.self)),
            CyclicRedundancy.checksum(Array(bytes[lines[1].startIndex...])) == sum,
            let json = try? JSONReader.read(Array(lines[1])), let url = json["url"]?.string,
            let status = json["status"]?.integer, let version = json["version"]?.string,
            let requested = json["requested_ns"]?.integer, let received = json["received_ns"]?.integer,
            let fields = json["fields"]?.array, let selecting = json["selecting"]?.array
        else { return nil }
        self.init(
            url: url, status: Int(status), version: version,
            fields: Self.pairs(fields).compactMap { name, value in
                value.map { HeaderField(name, $0) }
            },
            body: Array(lines[2]), requested: Timestamp(nanosecondsSince1970: requested),
            received: Timestamp(nanosecondsSince1970: received), authorization: json["authorization"]?.string)
        for (name, value) in Self.pairs(selecting) { self.selecting.updateValue(value, forKey: name) }
    }

    private static func pairs(_ list: [JSONValue]) -> [(String, String?)] {
        stride(from: 0, to: list.count - 1, by: 2).compactMap { index in
            list[index].string.map { ($0, list[index + 1].string) }
        }
    }
}
