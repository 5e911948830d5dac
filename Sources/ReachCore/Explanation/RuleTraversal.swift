/// The policy rules that a packet of this machine meets on its way to a routing table, in the kernel's order
/// (`fib_rules_lookup`).
///
/// The kernel tells which table answered and not which rule led there, so the rules are gone through once more. Some
/// look at what is not known here, such as ports: what hangs on those is called uncertain.
struct RuleTraversal {
    struct Packet {
        var destination: IPAddress
        var source: IPAddress?
        var mark: UInt32 = 0
        /// The interface that the sender is bound to.
        var interface: String?
    }

    /// Where the walk ended.
    enum End: Equatable {
        /// In this table, by a route with a prefix of this length.
        case table(UInt32, prefixLength: Int)
        /// At a rule or route that refuses with this error, or at the end of the rules.
        case refusal(errno: Int32)
    }

    private enum Match { case yes, no, perhaps }

    /// Rules that were met and led no further: their table has no route for the packet, or one that they pass over.
    private(set) var passed: [Rule] = []
    /// The rule at which the walk ended.
    private(set) var last: Rule?
    /// Rules of which it is not known whether they are for this packet, and that may have been the last.
    private(set) var uncertain: [Rule] = []

    /// - Parameter rules: As the kernel lists them.
    init(_ rules: [Rule], packet: Packet, end: End) {
        var start: UInt32 = 0
        for rule in rules where rule.family == packet.destination.family && rule.priority >= start {
            let match = Self.match(rule, packet)
            guard match != .no else { continue }
            if rule.action == .goto {
                if match == .yes { start = rule.goal ?? 0 }
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
        // Packets made here come in by `lo`, and belong to no VRF unless their socket says so.
        if rule.isForDomains { return packet.interface == nil ? .no : .perhaps }
        let mask = rule.markMask ?? (rule.mark == nil ? 0 : .max)
        let fits =
            contains(rule.from, packet.source) && contains(rule.to, packet.destination)
            && (packet.mark ^ (rule.mark ?? 0)) & mask == 0
            && (rule.inputInterface ?? "lo") == "lo"
            && (rule.outputInterface == nil || rule.outputInterface == packet.interface)
        if fits && rule.hasOtherSelectors { return .perhaps }
        if !fits && rule.hasOtherSelectors { return rule.isInverted ? .yes : .no }
        return fits != rule.isInverted ? .yes : .no
    }

    private static func contains(_ prefix: IPPrefix?, _ address: IPAddress?) -> Bool {
        guard let prefix, prefix.length > 0 else { return true }
        return address.map(prefix.contains) ?? false
    }
}

extension Rule.Action {
    /// What a lookup is refused with by such a rule (`fib4_rule_action`, `fib6_rule_action`).
    var errorNumber: Int32? {
        switch self {
        case .unreachable: LinuxError.networkUnreachable
        case .prohibit: LinuxError.accessDenied
        case .blackhole: LinuxError.invalidArgument
        case .unspecified, .table, .goto, .nop: nil
        }
    }
}
