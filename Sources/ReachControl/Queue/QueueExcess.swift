/// A limit of the queue, and what would pass it.
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

    /// A sentence for people, with both numbers and the key.
    package var description: String {
        let isOneUsers = limit.hasSuffix("_per_user")
        let whose = isOneUsers ? "your limit" : "the limit"
        guard limit.hasPrefix("queue.bytes") else {
            let what = isOneUsers ? "too many requests" : "the queue is full: too many requests"
            return "\(what): \(wanted); \(whose) is \(allowed) (\(limit))"
        }
        let what = isOneUsers ? "requests and uploads too large" : "the queue is full: requests and uploads too large"
        return "\(what): \(amounts.wanted); \(whose) is \(amounts.allowed) (\(limit))"
    }

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
