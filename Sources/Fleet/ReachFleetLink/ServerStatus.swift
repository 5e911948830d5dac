package import ReachCore
package import ReachFleet
internal import ReachLoop

/// What the servers say about themselves, where the configuration lets readers ask (`reach.v1.sys.varz`).
package struct ServerStatus: Hashable, Sendable {
    package let name: String
    package let version: ServerVersion?
    /// When the server started, and its present, by its clock.
    package let started: Timestamp?
    package let now: Timestamp?
    /// The server's clock minus this machine's. It is exact to half of the time to the server and back.
    package let clockOffset: Duration?
    /// Whether every message is on the disk before its acknowledgement.
    package let syncsAlways: Bool?
    package let syncInterval: Duration?
    /// The most bytes that streams may fill on its disk; `nil` if it does not say.
    package let storeBytes: Int64?

    /// Asks the server that answers first.
    ///
    /// - Returns: `nil` if no one answers there, or this user may not ask.
    package static func ask(_ link: NATSLink, within limit: Duration = .seconds(5)) throws(NATSError) -> ServerStatus? {
        let sent = SystemClock.now
        let reply: NATSMessage
        do throws(NATSError) {
            reply = try link.request(FleetRights.serverSubject, [], within: limit)
        } catch {
            switch error.kind {
            case .noResponders, .notPermitted, .timedOut: return nil
            default: throw error
            }
        }
        let arrived = SystemClock.now
        guard let json = try? JSONReader.read(reply.payload, .asFoundation), let data = json["data"] else { return nil }
        return ServerStatus(data, between: sent, arrived)
    }

    /// The present by the engine's clock; by this machine's where the engine does not say.
    package static func present(_ link: NATSLink) throws(NATSError) -> Timestamp {
        let status = try ask(link, within: .seconds(2))
        return SystemClock.now.wall + (status?.clockOffset ?? .zero)
    }

    private init(_ data: JSONValue, between sent: Instant, _ arrived: Instant) {
        name = DisplayText.sanitized(data["server_name"]?.string ?? "")
        version = data["version"]?.string.flatMap { ServerVersion($0) }
        started = data["start"]?.string.flatMap { Timestamp($0) }
        now = data["now"]?.string.flatMap { Timestamp($0) }
        let middle = sent.wall + (arrived.boot - sent.boot) / 2
        clockOffset = now.map { middle.duration(to: $0) }
        let settings = data["jetstream"]?["config"]
        syncsAlways = settings.map { $0["sync_always"]?.bool ?? false }
        storeBytes = settings?["max_storage"]?.integer.flatMap { $0 > 0 ? $0 : nil }
        syncInterval = settings?["sync_interval"]?.integer.map { .nanoseconds($0) }
    }
}
