package import ReachCore

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
