internal import ReachCore

/// A value that was made of others, at a generation of these: from the next one on it is empty, so no one has to throw
/// it away.
struct Derived<Value> {
    private let empty: Value
    private var value: Value
    private var generation = 0

    /// - Parameter empty: What there is until something was found in a generation.
    init(_ empty: Value) {
        self.empty = empty
        value = empty
    }

    /// What was found in this generation.
    subscript(generation: Int) -> Value {
        get { self.generation == generation ? value : empty }
        _modify {
            if self.generation != generation { (self.generation, value) = (generation, empty) }
            yield &value
        }
    }
}

/// The generations of what a view knows, by part: the number of the change by which a part changed last. What is
/// derived from several parts has the generation of the youngest of them.
struct ViewAge {
    enum Part: Int, CaseIterable {
        case links
        /// What identifies the networks behind links: gateways, prefixes, domains, Wi-Fi networks and leases.
        case networks
        /// The routes, of which many change without a notice: they hold for one evaluation.
        case routes
        case rules
        /// The routes of the type `throw`, of which each new one that covers a watched address comes with a notice.
        case throwRoutes
        /// What the kernel reports: it was read from the beginning, or there is a notice of more from now on.
        case reports
    }

    private var changes = 1
    private var last = [Int](repeating: 1, count: Part.allCases.count)

    private subscript(part: Part) -> Int { last[part.rawValue] }

    /// The conditions of links that no route decides.
    var conditions: Int { max(self[.links], self[.networks]) }
    /// The conditions of links that rest on what carries a tunnel.
    var routedConditions: Int { max(conditions, self[.routes]) }
    /// What carries tunnels.
    var carriers: Int { max(self[.links], self[.routes]) }
    var rules: Int { self[.rules] }
    var throwRoutes: Int { max(self[.throwRoutes], self[.reports]) }
    var reports: Int { self[.reports] }

    mutating func raise(_ part: Part) {
        changes += 1
        last[part.rawValue] = changes
    }

    /// Everything was read from the beginning.
    mutating func raiseAll() { for part in Part.allCases { raise(part) } }

    /// Counts a notice that was applied.
    ///
    /// - Parameters:
    ///   - hasEffect: Whether it changed the table.
    ///   - identifies: Whether an address may identify a network.
    mutating func count(_ notice: Notice, hasEffect: Bool, _ identifies: (InterfaceAddress) -> Bool) {
        switch notice {
        case .link, .linkRemoved: if hasEffect { raise(.links) }
        case .address(let address), .addressRemoved(let address):
            if hasEffect, identifies(address) { raise(.networks) }
        case .route(let route, _): if route.type == .throw { raise(.throwRoutes) }
        case .rule, .ruleRemoved: raise(.rules)
        case .routeRemoved, .neighbour, .neighbourRemoved, .nexthop, .nexthopRemoved, .portal, .setting: break
        }
    }
}
