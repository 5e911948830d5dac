package import ReachCore

/// When the next page is written: soon after a change, seldom while nothing changes, and never so often that it takes
/// more than a fiftieth of a processor.
package struct PagePace: Hashable, Sendable {
    /// What a page may be written for.
    package enum Change: Int, Comparable, Sendable {
        /// Nothing but the time.
        case none
        /// A figure, such as the duration of an attempt.
        case figure
        /// What people look for: something was lost, or returned.
        case state

        package static func < (left: Change, right: Change) -> Bool { left.rawValue < right.rawValue }

        /// The least time between the beginnings of two pages.
        fileprivate var interval: Duration {
            switch self {
            case .none: .seconds(900)
            case .figure: .seconds(60)
            case .state: .seconds(5)
            }
        }
    }

    private var last: BootTime?
    private var duration: Duration = .zero

    /// How long a change waits, so that others which belong to it are on the same page, and the history has it.
    private static let settling: Duration = .seconds(1)

    package init() {}

    package mutating func begin(at now: BootTime) { last = now }

    /// - Parameter duration: What the page took of a processor.
    package mutating func end(after duration: Duration) { self.duration = duration }

    /// The time for a page about a change that happens now.
    package func time(of change: Change, at now: BootTime) -> BootTime {
        let soon = now + Self.settling
        guard let last else { return soon }
        return max(soon, last + max(change.interval, duration * 50))
    }
}
