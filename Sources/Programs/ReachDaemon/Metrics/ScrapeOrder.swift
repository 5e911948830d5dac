internal import ReachCore
package import ReachProbe

/// What `GET /probe?target=...&module=...` asks for, as prometheus-blackbox-exporter is asked.
package struct ScrapeOrder: Hashable, Sendable {
    package var target: String?
    package var module: String?
    /// The time limit of the scrape, which Prometheus names (X-Prometheus-Scrape-Timeout-Seconds); `nil` without one.
    package var limit: Duration?

    /// What is asked for without the name of a module, as of the other exporter.
    package static let usualModule = "http_2xx"
    /// What the answer needs of Prometheus's time limit.
    private static let margin = Duration.milliseconds(500)
    /// No scrape has a longer limit.
    private static let longestLimit = 300.0

    /// - Parameters:
    ///   - query: The text after the `?`.
    ///   - seconds: The value of the header; `nil` without it.
    /// - Returns: `nil` if the header or the query cannot be read.
    package init?(query: Substring, seconds: Substring?) {
        for pair in query.split(scalar: "&") {
            let parts = pair.split(scalar: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                return nil
            }
            // The first of several counts.
            switch name {
            case "target": target = target ?? value
            case "module": module = module ?? value
            default: break
            }
        }
        guard let seconds else { return }
        guard let number = Double(String(seconds)), number.isFinite, number > 0 else { return nil }
        limit = .milliseconds(Int64(min(number, Self.longestLimit) * 1000))
    }

    /// The time limit of the attempt.
    ///
    /// - Parameter specification: The module's settings.
    package func timeout(of specification: ProbeSpecification) -> Duration {
        guard let limit else { return specification.effectiveTimeout }
        let rest = limit > Self.margin * 2 ? limit - Self.margin : limit / 2
        return min(specification.timeout ?? rest, rest)
    }

    /// Decodes `%41` and `+`; `nil` if that is damaged, or no UTF-8.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap({ Unicode.Scalar($0).hexDigit }),
                    let low = rest.popFirst().flatMap({ Unicode.Scalar($0).hexDigit })
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The response to a scrape.
package struct ScrapeAnswer: Hashable, Sendable {
    package let status: String
    package let text: [UInt8]

    /// The metrics of an attempt.
    package static func metrics(_ text: [UInt8]) -> ScrapeAnswer { ScrapeAnswer(status: "200 OK", text: text) }

    /// Why there is no attempt.
    package static func refusal(_ status: String, _ sentence: String) -> ScrapeAnswer {
        ScrapeAnswer(status: status, text: Array((DisplayText.sanitized(sentence) + "\n").utf8))
    }
}
