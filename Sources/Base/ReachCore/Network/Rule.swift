/// A policy rule, which selects the routing table for some packets (ip-rule(8)).
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
    /// Routes with prefixes up to this length are ignored; 0 hides default routes.
    package var suppressedPrefixLength: Int?
    /// For `goto`: the priority of the rule at which processing continues.
    package var gotoPriority: UInt32?
    /// Whether the rule matches only packets of a VRF, and uses that VRF's table (`l3mdev`).
    package var isForVRFs = false
    /// The only users whose packets it matches (`uidrange`); `nil` for all.
    package var users: ClosedRange<UInt32>?
    /// Whether the rule also matches on properties not listed here, such as a protocol or a port.
    package var hasOtherSelectors = false

    /// Whether it applies to some sources of IPv4 only.
    package var selectsIPv4Source: Bool { family == .ipv4 && from.map { $0.length > 0 } == true }

    package init(family: IPAddress.Family, priority: UInt32, action: Action = .table, table: UInt32 = 254) {
        self.family = family
        self.priority = priority
        self.action = action
        self.table = table
    }
}
