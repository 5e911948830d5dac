/// How soon a request starts where several could.
///
/// Nobody starves: while all four wait, they start in shares of 8:4:2:1.
package enum RequestPriority: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    case urgent = 0
    case high = 1
    case normal = 2
    case low = 3

    /// Its share of the starts.
    package var weight: Int { 8 >> Int(rawValue) }

    package static func < (left: RequestPriority, right: RequestPriority) -> Bool { left.rawValue < right.rawValue }
}
