package import ReachCore
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
            if name == "target" { target = target ?? value }
            if name == "module" { module = module ?? value }
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

/// Who asks for an attempt, as far as shares go: the address of an IPv4 client, the network of an IPv6 one, since a
/// machine there has any number of addresses, and one for all programs of this machine.
package struct ScrapeClient: Hashable, Sendable {
    private let network: [UInt8]

    package init(_ address: IPAddress?) {
        let address = address?.unmapped
        let bytes = address?.bytes ?? []
        network = address?.isLoopback == true ? [127] : Array(address?.family == .ipv6 ? bytes.prefix(8) : bytes[...])
    }
}

/// A connection's scrape. The attempt ends with the connection.
package final class ScrapeTicket: Sendable {
    package let client: ScrapeClient

    package init(_ client: ScrapeClient) { self.client = client }
}

/// How many attempts for scrapes run at a time. Refused ones have a reason, since Prometheus shows it.
package enum ScrapePlaces {
    package static let all = 64
    /// So that other clients find places, whatever one of them does.
    package static let ofClient = all / 4

    /// - Returns: Why there is no place; `nil` if there is one.
    package static func refusal(of client: ScrapeClient, beside running: [ScrapeClient]) -> String? {
        if running.count >= all { return "\(all) attempts are already running" }
        if running.count(where: { $0 == client }) >= ofClient {
            return "\(ofClient) attempts of this client are already running"
        }
        return nil
    }
}
