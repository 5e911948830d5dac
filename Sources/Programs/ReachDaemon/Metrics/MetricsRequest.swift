internal import ReachCore

/// The request of a metrics client, from its HTTP head (RFC 9112).
enum MetricsRequest: Hashable {
    /// The head is not complete yet.
    case incomplete
    case metrics(hasBody: Bool)
    case index
    /// An attempt, as prometheus-blackbox-exporter makes it.
    case probe(ScrapeOrder)
    case notFound
    case badMethod
    case bad

    /// The limit of the head's bytes. Prometheus sends a few hundred.
    static let longestHead = 8192

    /// Reads a head without its end.
    fileprivate init(head: some Collection<UInt8>) {
        let line = head.prefix { $0 != 0x0d && $0 != 0x0a }
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
        let path = words[1].prefixScalars { $0 != "?" }
        switch path {
        case "/metrics": self = .metrics(hasBody: words[0] == "GET")
        case "/probe":
            let query = words[1].dropFirst(path.count + 1)
            let order = ScrapeOrder(query: query, seconds: Self.header("x-prometheus-scrape-timeout-seconds", in: head))
            self = words[0] == "HEAD" ? .badMethod : order.map { .probe($0) } ?? .bad
        case "/": self = .index
        default: self = .notFound
        }
    }

    /// - Parameter name: In lower case.
    private static func header(_ name: String, in head: some Collection<UInt8>) -> Substring? {
        for line in head.split(separator: 0x0a).dropFirst() {
            let text = String(decoding: line, as: UTF8.self)
            guard let (key, value) = text.cut(at: ":"), key.lowercased() == name else { continue }
            return value.trimmed
        }
        return nil
    }
}

/// Collects the head of a metrics client's request. Looks at each byte once, in however many pieces the head arrives.
struct MetricsHead {
    private var bytes: [UInt8] = []
    /// How many bytes of the end of a head (CR LF CR LF) the last bytes are.
    private var matched = 0

    /// Adds the next bytes, and returns what the request is so far.
    mutating func append(_ piece: some Collection<UInt8>) -> MetricsRequest {
        for byte in piece {
            bytes.append(byte)
            let isReturn = byte == 0x0d
            if isReturn == (matched % 2 == 0), isReturn || byte == 0x0a {
                matched += 1
            } else {
                matched = isReturn ? 1 : 0
            }
            if matched == 4 { return MetricsRequest(head: bytes.dropLast(4)) }
            if bytes.count > MetricsRequest.longestHead { return .bad }
        }
        return .incomplete
    }
}
