internal import ReachCore

/// The request of a metrics client, from its HTTP head (RFC 9112).
enum MetricsRequest: Hashable {
    /// The head is not complete yet.
    case incomplete
    case metrics(hasBody: Bool)
    case index
    case notFound
    case badMethod
    case bad

    /// The limit of the head's bytes. Prometheus sends a few hundred.
    static let longestHead = 8192

    init(_ bytes: [UInt8]) {
        guard let end = Self.headEnd(bytes) else {
            self = bytes.count > Self.longestHead ? .bad : .incomplete
            return
        }
        let line = bytes[..<end].prefix { $0 != 0x0d && $0 != 0x0a }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard words.count == 3, words[2].hasUTF8Prefix("HTTP/1.") else {
            self = .bad
            return
        }
        guard words[0] == "GET" || words[0] == "HEAD" else {
            self = .badMethod
            return
        }
        switch words[1].prefixScalars(while: { $0 != "?" }) {
        case "/metrics": self = .metrics(hasBody: words[0] == "GET")
        case "/": self = .index
        default: self = .notFound
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        let blank = Array("\r\n\r\n".utf8)
        guard bytes.count >= blank.count else { return nil }
        return (0...bytes.count - blank.count).first { bytes[$0...].prefix(blank.count).elementsEqual(blank) }
    }
}
