internal import ReachCore

/// The request of a metrics client, from its HTTP head (RFC 9112).
enum MetricsRequest: Hashable {
    /// The head is not complete yet.
    case incomplete
    case metrics(hasBody: Bool, MetricWriter.Format = .prometheus)
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
        case "/metrics":
            let accepted = Self.header("accept", in: head).map(Self.format)
            self = .metrics(hasBody: words[0] == "GET", accepted ?? .prometheus)
        case "/probe":
            let query = words[1].dropFirst(path.count + 1)
            let order = ScrapeOrder(query: query, seconds: Self.header("x-prometheus-scrape-timeout-seconds", in: head))
            self = words[0] == "HEAD" ? .badMethod : order.map { .probe($0) } ?? .bad
        case "/": self = .index
        default: self = .notFound
        }
    }

    /// The format that a client prefers (RFC 9110, section 12.5.1). One that accepts anything gets the older format,
    /// which people read as well.
    private static func format(accept: Substring) -> MetricWriter.Format {
        var (plain, open) = (0.0, 0.0)
        for range in accept.split(scalar: ",") {
            let parts = range.split(scalar: ";").map { $0.trimmed.lowercased() }
            let weight = parts.dropFirst().compactMap { $0.after("q=").flatMap { Double(String($0)) } }.first ?? 1
            switch parts.first {
            case "application/openmetrics-text": open = max(open, weight)
            case "text/plain", "text/*": plain = max(plain, weight)
            default: break
            }
        }
        return open > 0 && open >= plain ? .openMetrics : .prometheus
    }

    /// - Parameter name: In lower case.
    private static func header(_ name: String, in head: some Collection<UInt8>) -> Substring? {
        for line in head.split(separator: 0x0a).dropFirst() {
            // Each line but the last has its CR still.
            let text = String(decoding: line.prefix { $0 != 0x0d }, as: UTF8.self)
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
