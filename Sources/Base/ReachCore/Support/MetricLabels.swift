/// Labels in the text format. Many samples share them, so that values are escaped only once.
package struct MetricLabels: ExpressibleByArrayLiteral {
    private(set) var bytes: [UInt8] = []

    package init(arrayLiteral labels: (StaticString, String)...) {
        for (name, value) in labels { append(name, value) }
    }

    private mutating func append(_ name: StaticString, _ value: String) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes += "=\"".utf8
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    package static func + (left: MetricLabels, right: MetricLabels) -> MetricLabels {
        guard !left.bytes.isEmpty, !right.bytes.isEmpty else { return left.bytes.isEmpty ? right : left }
        var both = left
        both.bytes.append(UInt8(ascii: ","))
        both.bytes += right.bytes
        return both
    }
}
