/// The number of a queued request: given in the order in which requests are stored, and never given twice.
package struct RequestID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Reads what ``description`` writes.
    ///
    /// - Returns: `nil` for anything but a positive number in decimal digits.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int64(text), number > 0 else { return nil }
        rawValue = number
    }

    package static func < (left: RequestID, right: RequestID) -> Bool { left.rawValue < right.rawValue }

    package var description: String { String(rawValue) }
}
