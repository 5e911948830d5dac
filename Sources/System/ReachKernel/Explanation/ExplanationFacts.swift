package import ReachCore

/// The facts about a target from which an ``ExplanationBuilder`` builds its explanation.
package struct ExplanationFacts: Sendable {
    /// Details of the decisive lookup in one family.
    package struct Lookup: Sendable {
        /// The links as they were when the path was judged.
        package var stack: LinkStack
        /// The matching route (RTM_F_FIB_MATCH). The answer of the lookup has neither its metric nor all its hops.
        package var matched: Route?
        /// All routes that refuse packets with the same error as the lookup, for any destination.
        package var refusing: [Route] = []
        /// What keeps the packets from a route, where the kernel has none for them.
        package var hindrance: Rule.Hindrance?
        /// The source that a first lookup chose, where a rule is for some sources of IPv4 only: with it the kernel
        /// looks up again.
        package var source: IPAddress?
        /// What WireGuard says of the link, if it is one and this process may ask.
        package var wireGuard: WireGuardDevice?
        /// The hardware address of the first hop, once it has answered.
        package var neighbourDevice: HardwareAddress?
        /// Whether its far ends agree on no keys.
        package var tunnelSilence: TunnelSilence?

        package init(stack: LinkStack, matched: Route? = nil, refusing: [Route] = []) {
            self.stack = stack
            self.matched = matched
            self.refusing = refusing
        }
    }

    package var target: Target
    package var verdict: Verdict
    /// The result of resolving the name, if the target is one.
    package var resolution: NameAnswer?
    /// The lookups from which the verdict follows.
    package var findings: [PathFinding] = []
    /// The reference addresses for the Internet. Not all of them have a finding: lookups stop once the result is
    /// decided.
    package var anchors: [IPAddress] = []
    package var table: NetworkTable
    package var rules: [Rule] = []
    /// The names of routing tables, by number. A table without one is shown by its number.
    package var tableNames: [UInt32: String] = [:]
    /// The names of what creates routes (`RTPROT_*`), by number. A route's creator without one is not shown.
    package var originNames: [UInt8: String] = [:]
    /// The firewall mark of the lookups.
    package var mark: UInt32?
    /// The user who made the lookups.
    package var user: UInt32?
    package var lookups: [IPAddress.Family: Lookup] = [:]
    /// What probes have proved about the target; `nil` if no probes run, and for targets that they do not concern.
    package var proved: ConnectivityReport?
    /// The state that is reported of the target; `nil` if none is.
    package var reported: ReachabilityState?
    /// The last check of each family's path, and now; without a daemon there is none.
    package var checks: [IPAddress.Family: ConnectivityCheck] = [:]
    package var now = BootTime(nanoseconds: 0)

    /// All routes that the explanation may show.
    package var routes: [Route] {
        let answers = findings.compactMap { if case .route(let route) = $0.answer { route } else { nil } }
        return answers + lookups.values.flatMap { [$0.matched].compactMap { $0 } + $0.refusing }
    }
}
