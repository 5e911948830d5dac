package import ReachCore

/// What a scope has moved over metered links in a period.
///
/// A period gives its budget once. While the clock shows a day shortly before the period, because it was set back, the
/// account stays. If it shows one long before, one of the two times is wrong: the account goes on with all its bytes in
/// the period that the clock shows now, and the period that it had is not given again. Until that has passed, only a
/// period that follows the present one gives its budget, as when the clock walks; a jump over several gives none.
package struct MeteredAccount: Hashable, Sendable {
    /// An earlier period: its first day and its bytes.
    package struct Earlier: Hashable, Sendable {
        package let first: Int64
        package let bytes: Int64

        package init(first: Int64, bytes: Int64) {
            self.first = first
            self.bytes = bytes
        }
    }

    package let scope: MeteredScope
    /// The first day of the period, in days from 1970-01-01; `nil` while the clock was never set.
    package var first: Int64?
    package var bytes: Int64 = 0
    /// The highest share that was reported in this period, in percent: 0, 80 or 100.
    package var reported = 0
    package var before: Earlier?
    /// The first day of the latest period that was given, if the clock was set back from it by more than a period.
    package var ahead: Int64?

    package init(_ scope: MeteredScope) { self.scope = scope }

    /// The shares that are reported, in percent.
    package static let shares = [80, 100]

    /// Whether nothing would be lost without it.
    var isBlank: Bool { bytes == 0 && before == nil && ahead == nil }

    func isUsedUp(_ budget: MeteredBudget) -> Bool { bytes >= budget.bytes }

    mutating func add(_ count: Int64) { bytes = min(max(0, bytes.addingUpToBounds(count)), MeteredBudget.most * 2) }

    /// Begins the period of a day, if that has not begun before.
    ///
    /// - Returns: Whether anything has changed.
    mutating func advance(to day: Int64, _ period: MeteredPeriod, begins: Int) -> Bool {
        let wanted = period.first(of: day, begins: begins)
        guard let present = first else {
            // What was moved before the clock was set counts in the first period that is known.
            first = wanted
            return true
        }
        if wanted > present {
            let isNew = ahead.map {
                wanted > $0 || wanted < $0 && wanted == period.next(after: present, begins: begins)
            }
            first = wanted
            if let ahead, wanted >= ahead { self.ahead = nil }
            guard isNew ?? true else { return true }
            before = bytes == 0 ? nil : Earlier(first: present, bytes: bytes)
            (bytes, reported) = (0, 0)
            return true
        }
        guard wanted < present, present - day > period.longestDays else { return false }
        if let before, before.first >= wanted { add(before.bytes) }
        (first, before, ahead) = (wanted, nil, max(ahead ?? present, present))
        return true
    }

    /// The shares that are reached and were not reported in this period.
    mutating func newShares(of budget: MeteredBudget) -> [Int] {
        let reached = Self.shares.filter { $0 > reported && isReached($0, of: budget) }
        reported = reached.last ?? reported
        return reached
    }

    private func isReached(_ percent: Int, of budget: MeteredBudget) -> Bool {
        // A budget is at most 2^50, so that this does not overflow.
        min(bytes, budget.bytes) * 100 >= budget.bytes * Int64(percent)
    }
}

/// A budget, and how much of it is left.
package struct MeteredReport: Hashable, Sendable {
    package var scope: MeteredScope
    package var budget: MeteredBudget
    package var used: Int64
    /// When the next period begins; `nil` while the clock is not set.
    package var renewed: Timestamp?

    package init(scope: MeteredScope, budget: MeteredBudget, used: Int64, renewed: Timestamp?) {
        self.scope = scope
        self.budget = budget
        self.used = used
        self.renewed = renewed
    }

    package var left: Int64 { max(0, budget.bytes - used) }

    /// Rounded down.
    package var percent: Int { Int(used * 100 / budget.bytes) }
}
