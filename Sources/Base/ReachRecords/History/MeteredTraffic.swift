package import ReachCore

/// The bytes that metered links carried, by hour. A value: it is given the kernel's counters from time to time.
///
/// What a link carried between the last sample and its removal is not counted, nor what it carried while no daemon ran.
package struct MeteredTraffic: Equatable, Sendable {
    /// The counters of a link (if_link.h, IFLA_STATS64) since it was made.
    package struct Sample: Hashable, Sendable {
        package let index: InterfaceIndex
        package let interface: String
        package let linkClass: String
        package let isMetered: Bool
        package let received: UInt64
        package let sent: UInt64

        package init(
            index: InterfaceIndex, interface: String, linkClass: String, isMetered: Bool, received: UInt64, sent: UInt64
        ) {
            self.index = index
            self.interface = interface
            self.linkClass = linkClass
            self.isMetered = isMetered
            self.received = received
            self.sent = sent
        }
    }

    /// What one link carried in one hour.
    package struct Hour: Hashable, Sendable {
        /// The hour's beginning, in hours since 1970.
        package let number: Int64
        package let interface: String
        package let linkClass: String
        /// Bytes.
        package var received: Int64
        package var sent: Int64

        package init(number: Int64, interface: String, linkClass: String, received: Int64, sent: Int64) {
            self.number = number
            self.interface = interface
            self.linkClass = linkClass
            self.received = received
            self.sent = sent
        }
    }

    /// Oldest first.
    package private(set) var hours: [Hour]
    private var last: [InterfaceIndex: Sample]?

    /// Three months of one link that carries something in each hour; the oldest go first.
    package static let mostHours = 2232
    /// The most bytes that one hour counts: more than a link of 1 Tbit/s carries, and few enough that sums do not
    /// overflow.
    package static let mostBytes: Int64 = 1 << 50
    static let nanosecondsOfHour: Int64 = 3_600_000_000_000

    package init(_ hours: [Hour] = []) { self.hours = Array(hours.suffix(Self.mostHours)) }

    /// The links of the last sample.
    package var knownLinks: Set<InterfaceIndex> { last.map { Set($0.keys) } ?? [] }

    /// Counts what links carried since the sample before. The first one only has the beginnings.
    ///
    /// - Parameter samples: The links that are counted, each as long as it exists: see ``knownLinks``.
    /// - Returns: Whether anything was counted.
    @discardableResult
    package mutating func add(_ samples: [Sample], at time: Timestamp) -> Bool {
        let before = last
        last = Dictionary(samples.map { ($0.index, $0) }) { first, _ in first }
        guard let before else { return false }
        var hasCounted = false
        for sample in samples where sample.isMetered {
            let previous = before[sample.index]
            let received = Self.difference(previous?.received, sample.received)
            let sent = Self.difference(previous?.sent, sample.sent)
            guard received > 0 || sent > 0 else { continue }
            hasCounted = true
            count(received, sent, of: sample, at: time)
        }
        return hasCounted
    }

    /// A counter that went back began again. A driver's counter may jump anywhere.
    private static func difference(_ before: UInt64?, _ now: UInt64) -> Int64 {
        let before = before ?? 0
        return min(Int64(clamping: now >= before ? now - before : now), mostBytes)
    }

    private mutating func count(_ received: Int64, _ sent: Int64, of sample: Sample, at time: Timestamp) {
        let number = time.nanosecondsSince1970 / Self.nanosecondsOfHour
        let place = hours.lastIndex {
            $0.number == number && $0.interface == sample.interface && $0.linkClass == sample.linkClass
        }
        if let place {
            hours[place].received = min(hours[place].received + received, Self.mostBytes)
            hours[place].sent = min(hours[place].sent + sent, Self.mostBytes)
        } else {
            // A machine without a clock of its own begins in 1970.
            let next = hours.lastIndex { $0.number <= number }.map { $0 + 1 } ?? 0
            hours.insert(
                Hour(
                    number: number, interface: sample.interface, linkClass: sample.linkClass, received: received,
                    sent: sent), at: next)
            hours = hours.suffix(Self.mostHours)
        }
    }

    /// What each link carried in the hours of a period, most first.
    package func sums(from: Timestamp, to: Timestamp) -> [Hour] {
        let numbers =
            from.nanosecondsSince1970 / Self.nanosecondsOfHour...max(
                from.nanosecondsSince1970, to.nanosecondsSince1970) / Self.nanosecondsOfHour
        var sums: [Hour] = []
        for hour in hours where numbers.contains(hour.number) {
            if let place = sums.firstIndex(where: {
                $0.interface == hour.interface && $0.linkClass == hour.linkClass
            }) {
                sums[place].received += hour.received
                sums[place].sent += hour.sent
            } else {
                sums.append(hour)
            }
        }
        return sums.sorted { ($1.received + $1.sent, $0.interface) < ($0.received + $0.sent, $1.interface) }
    }
}
