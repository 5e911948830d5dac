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
