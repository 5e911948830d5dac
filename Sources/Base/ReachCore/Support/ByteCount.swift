/// Amounts of bytes for people.
package enum ByteCount {
    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// Three digits and a unit: `512 B`, `1.5 KiB`, `98 MiB`.
    package static func describe(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
        var unit = 0
        // In tenths, so that an amount that rounds to 1024 becomes 1 of the next unit.
        var tenths = (bytes / 1024 * 10) + (bytes % 1024 * 10 + 512) / 1024
        while tenths >= 10_235, unit + 1 < units.count {
            tenths = (tenths + 512) / 1024
            unit += 1
        }
        let amount = tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
        return "\(amount) \(units[unit])"
    }
}

/// The progress of an exchange, in bytes of bodies. A repeated attempt starts at zero, except for a download that
/// resumes.
public struct ByteProgress: Hashable, Sendable {
    /// Bytes of the request's body sent.
    public var sent: Int64
    /// The length of the request's body in bytes; `nil` if there is no body.
    public var toSend: Int64?
    /// Bytes of the answer's body received.
    public var received: Int64
    /// The length of the answer's body in bytes; `nil` before the answer begins, and if the server does not send a
    /// length.
    public var toReceive: Int64?

    /// No progress, unless some is given.
    public init(sent: Int64 = 0, toSend: Int64? = nil, received: Int64 = 0, toReceive: Int64? = nil) {
        self.sent = sent
        self.toSend = toSend
        self.received = received
        self.toReceive = toReceive
    }

    /// The sent share of the request's body, from 0 to 1; `nil` if there is no body.
    public var fractionSent: Double? { Self.fraction(sent, of: toSend) }

    /// The received share of the answer's body, from 0 to 1; `nil` if its length is unknown.
    public var fractionReceived: Double? { Self.fraction(received, of: toReceive) }

    private static func fraction(_ count: Int64, of total: Int64?) -> Double? {
        total.map { $0 > 0 ? min(Double(count) / Double($0), 1) : 1 }
    }
}

/// Shares as percentages with two decimals: `99.95 %`.
package enum PercentText {
    /// Rounded down, so that only what was always up has 100 %.
    package static func roundedDown(_ share: Double) -> String { hundredths(Int((share * 10_000).rounded(.down))) }

    /// Rounded up, so that only what lost nothing has 0 %.
    package static func roundedUp(_ share: Double) -> String { hundredths(Int((share * 10_000).rounded(.up))) }

    private static func hundredths(_ number: Int) -> String {
        let number = min(max(0, number), 10_000)
        if number == 0 || number == 10_000 { return "\(number / 100) %" }
        let fraction = number % 100
        return "\(number / 100).\(fraction < 10 ? "0" : "")\(fraction) %"
    }
}
