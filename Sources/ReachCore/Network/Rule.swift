/// A policy rule: which routing table is asked, for which packets (`ip rule`).
package struct Rule: Hashable, Sendable {
    /// `FR_ACT_*` of linux/fib_rules.h.
    package enum Action: UInt8, Hashable, Sendable {
        case unspecified = 0
        case table, goto, nop
        case blackhole = 6
        case unreachable, prohibit
    }

    package var family: IPAddress.Family
    package var priority: UInt32
    package var action: Action
    package var table: UInt32
    package var from: IPPrefix?
    package var to: IPPrefix?
    package var mark: UInt32?
    package var markMask: UInt32?
    package var inputInterface: String?
    package var outputInterface: String?
    package var isInverted = false
    /// Routes with prefixes up to this length are passed over; 0 hides default routes.
    package var suppressedPrefixLength: Int?
    /// Of a `goto`: the priority of the rule where it goes on.
    package var goal: UInt32?
    /// It asks the table of the VRF that a packet belongs to, and is for no other packets (`l3mdev`).
    package var isForDomains = false
    /// It looks at more than is held here: a user, a protocol, a port.
    package var hasOtherSelectors = false

    package init(family: IPAddress.Family, priority: UInt32, action: Action = .table, table: UInt32 = 254) {
        self.family = family
        self.priority = priority
        self.action = action
        self.table = table
    }
}
