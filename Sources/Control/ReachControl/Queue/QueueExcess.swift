internal import ReachCore
package import ReachQueue

/// A limit of the queue, and what would exceed it.
package struct QueueExcess: Hashable, Sendable, CustomStringConvertible {
    /// The limit's key in reach.toml, such as `queue.bytes_per_user`.
    package var limit: String
    /// Requests or bytes, as the key says.
    package var allowed: Int64
    /// How many there would be.
    package var wanted: Int64

    package init(limit: String, allowed: Int64, wanted: Int64) {
        self.limit = limit
        self.allowed = allowed
        self.wanted = wanted
    }

    package init(_ excess: ByteExcess) {
        let key =
            switch excess.limit.setter {
            case .bytes: "bytes"
            case .ownerBytes: "bytes_per_user"
            case .diskShare: "disk_share"
            case .ownerDiskShare: "disk_share_per_user"
            case .keepFree: "keep_free"
            }
        self.init(limit: "queue." + key, allowed: excess.limit.bytes, wanted: excess.wanted)
    }

    /// A sentence for people, with both numbers and the key.
    package var description: String {
        guard limit.hasUTF8Prefix("queue.requests") else {
            let what =
                isOneUsers ? "requests and uploads too large" : "the queue is full: requests and uploads too large"
            return "\(what): \(amounts.wanted); \(whose) is \(amounts.allowed) (\(limit))"
        }
        let what = isOneUsers ? "too many requests" : "the queue is full: too many requests"
        return "\(what): \(wanted); \(whose) is \(allowed) (\(limit))"
    }

    private var isOneUsers: Bool { limit.hasUTF8Suffix("_per_user") }

    package var whose: String { isOneUsers ? "your limit" : "the limit" }

    /// In the same unit, and exact where rounding would make them equal.
    package var amounts: (wanted: String, allowed: String) {
        let texts = (Self.text(wanted), Self.text(allowed))
        return texts.0 == texts.1 ? ("\(wanted) bytes", "\(allowed) bytes") : texts
    }

    private static func text(_ bytes: Int64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB"]
        var (amount, unit) = (Double(bytes), "bytes")
        for larger in units where amount >= 1024 { (amount, unit) = (amount / 1024, larger) }
        let tenths = (amount * 10).rounded()
        let number = tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int64(tenths / 10))" : "\(tenths / 10)"
        return "\(number) \(unit)"
    }
}
