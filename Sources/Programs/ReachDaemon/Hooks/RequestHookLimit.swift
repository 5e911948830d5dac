package import ReachCore

/// Limits the events of hooks about dead requests by their owner: hooks send mails, and any user can make requests die.
package struct RequestHookLimit: Sendable {
    /// The events of one user in a day.
    package static let eventsPerDay = 50
    private static let day: Duration = .seconds(86_400)

    private struct Account {
        let begin: BootTime
        var count = 0
    }

    private var accounts: [UInt32: Account] = [:]

    package enum Answer: Hashable, Sendable {
        case admitted
        /// The first one that is left out, until this time.
        case beginsToLeaveOut(until: BootTime)
        case leftOut
    }

    package init() {}

    /// Counts an event of a user's request. Root has no limit.
    package mutating func admit(of owner: UInt32, at now: BootTime) -> Answer {
        if owner == 0 { return .admitted }
        accounts = accounts.filter { now < $0.value.begin + Self.day }
        var account = accounts[owner] ?? Account(begin: now)
        account.count += 1
        accounts[owner] = account
        if account.count <= Self.eventsPerDay { return .admitted }
        return account.count == Self.eventsPerDay + 1 ? .beginsToLeaveOut(until: account.begin + Self.day) : .leftOut
    }
}
