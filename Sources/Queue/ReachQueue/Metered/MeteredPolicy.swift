package import ReachCore

/// The budgets for what requests move over metered links. Without any, nothing is counted.
package struct MeteredPolicy: Hashable, Sendable {
    /// The budget of the links whose names match a pattern: of a modem, also when it comes back with another number.
    package struct Link: Hashable, Sendable {
        package let match: Glob
        package let budget: MeteredBudget

        package init(_ match: Glob, _ budget: MeteredBudget) {
            self.match = match
            self.budget = budget
        }
    }

    /// Of all requests together.
    package var all: MeteredBudget?
    /// Of each user but root.
    package var perUser: MeteredBudget?
    /// In order: the first that matches counts.
    package var links: [Link] = []
    /// The day of the week or month on which periods begin.
    package var begins = 1
    /// A clock that shows an earlier time is not set.
    package var earliest = Timestamp(nanosecondsSince1970: 1_704_067_200_000_000_000)

    package init() {}

    package var isEmpty: Bool { all == nil && perUser == nil && links.isEmpty }

    func budget(of scope: MeteredScope) -> MeteredBudget? {
        switch scope {
        case .all: all
        case .user: perUser
        case .link(let pattern): links.first { $0.match.pattern == pattern }?.budget
        }
    }

    func begins(in period: MeteredPeriod) -> Int { min(begins, period.beginnings.upperBound) }

    /// What counts the bytes of a path.
    func scopes(of owner: UInt32, by path: QueuePath) -> [MeteredScope] {
        guard path.traits.isMetered else { return [] }
        var scopes: [MeteredScope] = all == nil ? [] : [.all]
        if perUser != nil, owner != 0 { scopes.append(.user(owner)) }
        if let link = link(of: path) { scopes.append(.link(link.match.pattern)) }
        return scopes
    }

    private func link(of path: QueuePath) -> Link? { links.first { $0.match.matches(path.interface) } }
}

/// Whose bytes are counted together.
package enum MeteredScope: Hashable, Sendable {
    case all
    case user(UInt32)
    /// The links that match a pattern.
    case link(String)

    /// `all`, `user:1000`, `link:wwan*`: the name in the queue's file and for programs.
    package var text: String {
        switch self {
        case .all: "all"
        case .user(let user): "user:\(user)"
        case .link(let pattern): "link:" + pattern
        }
    }

    /// Reads what ``text`` writes.
    package init?(_ text: String) {
        if text == "all" {
            self = .all
        } else if let user = text.after("user:").flatMap({ UInt32($0) }) {
            self = .user(user)
        } else if let pattern = text.after("link:"), !pattern.isEmpty {
            self = .link(String(pattern))
        } else {
            return nil
        }
    }

    package var owner: UInt32? { if case .user(let user) = self { user } else { nil } }
}

/// Which budgets a request's bytes must be within. They count for all of them anyway.
enum MeteredPayer: Hashable, Sendable {
    /// For none: it may go beyond.
    case exempt
    /// For those of all users and of links.
    case anyone
    case user(UInt32)
}

/// The links that a request must not use, since a budget is used up.
package struct MeteredBar: Hashable, Sendable {
    /// All that are metered.
    fileprivate(set) var isOfAll = false
    /// Those whose rule has one of these patterns.
    fileprivate(set) var patterns: Set<String> = []
    /// All rules, if one of them bars.
    fileprivate(set) var rules: [Glob] = []

    package init() {}

    package var isEmpty: Bool { !isOfAll && patterns.isEmpty }

    package func bars(_ path: QueuePath) -> Bool {
        guard !isEmpty, path.traits.isMetered else { return false }
        return isOfAll || rules.first { $0.matches(path.interface) }.map { patterns.contains($0.pattern) } ?? false
    }
}

extension MeteredPolicy {
    /// - Parameter isUsedUp: Whether the budget of a scope is used up.
    func bar(for payer: MeteredPayer, isUsedUp: (MeteredScope) -> Bool) -> MeteredBar {
        var bar = MeteredBar()
        switch payer {
        case .exempt: return bar
        case .anyone: bar.isOfAll = isUsedUp(.all)
        case .user(let user): bar.isOfAll = isUsedUp(.all) || isUsedUp(.user(user))
        }
        for link in links where isUsedUp(.link(link.match.pattern)) { bar.patterns.insert(link.match.pattern) }
        if !bar.patterns.isEmpty { bar.rules = links.map(\.match) }
        return bar
    }
}
