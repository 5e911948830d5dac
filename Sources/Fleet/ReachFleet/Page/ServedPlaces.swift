package import ReachCore

/// The connections of a server, by their descriptors: which one has to go when all places are taken, and which have had
/// their time.
///
/// A client sends its request at once and reads what it asked for. Whoever does not could otherwise keep everybody else
/// out with a byte now and then. So nobody is refused, and the one goes that has been at it for longest.
package struct ServedPlaces: Sendable {
    private enum Phase: Hashable, Sendable {
        /// Its request is not complete.
        case asking
        case answered
        /// It follows the news, without an end.
        case following
        /// It was told to go.
        case leaving
    }

    private struct Place: Sendable {
        let number: UInt64
        let begun: BootTime
        var phase = Phase.asking
    }

    /// What one client may need for its request and the answer, together: the page of 100,000 hosts has 10 MB.
    package static let patience: Duration = .seconds(120)
    package static let limit = 240
    /// Of ``limit``: what follows the news leaves room for the rest.
    package static let followerLimit = 192

    private var places: [Int32: Place] = [:]
    private var opened: UInt64 = 0

    package init() {}

    /// A connection was accepted.
    ///
    /// - Returns: One that has to be closed for it.
    package mutating func open(_ descriptor: Int32, at now: BootTime) -> Int32? {
        opened += 1
        places[descriptor] = Place(number: opened, begun: now)
        guard places.values.count(where: { $0.phase != .leaving }) > Self.limit else { return nil }
        return dismiss(oldest(.asking, but: descriptor) ?? oldest(.answered))
    }

    /// A connection's request is complete, and is the only one.
    package mutating func answer(_ descriptor: Int32) { places[descriptor]?.phase = .answered }

    /// A connection follows the news from now on.
    ///
    /// - Returns: One whose stream has to end for it.
    package mutating func follow(_ descriptor: Int32) -> Int32? {
        places[descriptor]?.phase = .following
        guard places.values.count(where: { $0.phase == .following }) > Self.followerLimit else { return nil }
        return dismiss(oldest(.following))
    }

    package mutating func close(_ descriptor: Int32) { places[descriptor] = nil }

    /// - Returns: Those that have had their time. They keep alive what they do not read.
    package mutating func overdue(at now: BootTime) -> [Int32] {
        let late = places.filter {
            ($0.value.phase == .asking || $0.value.phase == .answered) && now - $0.value.begun > Self.patience
        }
        return late.keys.sorted().compactMap { dismiss($0) }
    }

    private func oldest(_ phase: Phase, but other: Int32? = nil) -> Int32? {
        places.filter { $0.value.phase == phase && $0.key != other }.min { $0.value.number < $1.value.number }?.key
    }

    private mutating func dismiss(_ descriptor: Int32?) -> Int32? {
        descriptor.map { places[$0]?.phase = .leaving }
        return descriptor
    }
}
