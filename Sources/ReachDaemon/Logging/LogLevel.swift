/// How much is logged: this level, and everything graver.
package enum LogLevel: String, Hashable, Comparable, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
