/// The policy rules that a packet of this machine meets, in the kernel's order (`fib_rules_lookup`).
///
/// The kernel reports the table with the route and not the rule that selected it, so this repeats the matching of
/// rules. Some rules match on properties that are not known here, such as ports. They are listed as uncertain.
package struct RuleTraversal {
    package struct Packet {
        var destination: IPAddress
        var source: IPAddress?
        var mark: UInt32
        /// The interface to which the sender is bound.
        var interface: String?
        /// The user who sends; `nil` if that is not known.
        var user: UInt32?

        package init(
            destination: IPAddress, source: IPAddress?, mark: UInt32, interface: String?, user: UInt32?
        ) {
            (self.destination, self.source, self.mark) = (destination, source, mark)
            (self.interface, self.user) = (interface, user)
        }
    }

    /// The known end of the traversal.
    package enum End: Equatable {
        /// In this table, by a route with a prefix of this length.
        case table(UInt32, prefixLength: Int)
        /// At a rule or route that refuses with this error, or at the end of the rules.
        case refusal(errno: Int32)
    }

    private enum Match { case yes, no, perhaps }

    /// The matching rules without effect: their table has no route for the packet, or only one that the rule ignores.
    package private(set) var passed: [Rule] = []
    /// The rule at which the traversal ended.
    package private(set) var last: Rule?
    /// Rules that may match this packet and may be the ones at which the traversal ended.
    package private(set) var uncertain: [Rule] = []

    /// Matches the rules against a packet.
    ///
    /// - Parameter rules: The rules in the kernel's order.
    package init(_ rules: [Rule], packet: Packet, end: End) {
        var start: UInt32 = 0
        for rule in rules where rule.family == packet.destination.family && rule.priority >= start {
            let match = Self.match(rule, packet)
            guard match != .no else { continue }
            if rule.action == .goto {
                if match == .yes { start = rule.gotoPriority ?? 0 }
            } else if Self.canEnd(at: rule, end) {
                if match == .yes {
                    last = rule
                    return
                }
                uncertain.append(rule)
            } else if rule.action == .table, match == .yes {
                passed.append(rule)
            }
        }
    }

    private static func canEnd(at rule: Rule, _ end: End) -> Bool {
        switch end {
        case .table(let table, let length):
            return rule.action == .table && rule.table == table && length > rule.suppressedPrefixLength ?? -1
        case .refusal(let number): return rule.action.errorNumber == number
        }
    }

    private static func match(_ rule: Rule, _ packet: Packet) -> Match {
        // The input interface of local packets is `lo`. They belong to no VRF unless their socket is bound to one.
        if rule.isForVRFs { return packet.interface == nil ? .no : .perhaps }
        let mask = rule.markMask ?? (rule.mark == nil ? 0 : .max)
        let fits =
            contains(rule.from, packet.source) && contains(rule.to, packet.destination)
            && (packet.mark ^ (rule.mark ?? 0)) & mask == 0
            && (rule.inputInterface ?? "lo") == "lo"
            && (rule.outputInterface == nil || rule.outputInterface == packet.interface)
            && packet.user.map { rule.users?.contains($0) ?? true } ?? true
        let isUncertain = rule.hasOtherSelectors || rule.users != nil && packet.user == nil
        if fits && isUncertain { return .perhaps }
        if !fits && isUncertain { return rule.isInverted ? .yes : .no }
        return fits != rule.isInverted ? .yes : .no
    }

    private static func contains(_ prefix: IPPrefix?, _ address: IPAddress?) -> Bool {
        guard let prefix, prefix.length > 0 else { return true }
        return address.map(prefix.contains) ?? false
    }
}

extension Rule.Action {
    /// The error of a lookup that such a rule refuses (`fib4_rule_action`, `fib6_rule_action`).
    package var errorNumber: Int32? {
        switch self {
        case .unreachable: LinuxError.networkUnreachable
        case .prohibit: LinuxError.accessDenied
        case .blackhole: LinuxError.invalidArgument
        case .unspecified, .table, .goto, .nop: nil
        }
    }
}
