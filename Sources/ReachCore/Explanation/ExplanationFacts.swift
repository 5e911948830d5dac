/// What was found out about a target, to be told by a ``ExplanationBuilder``.
package struct ExplanationFacts: Sendable {
    /// More about the lookup that decided in one family.
    package struct Way: Sendable {
        /// The links as they were judged, or none where no link came into it.
        package var stack: LinkStack
        /// The route that matched (RTM_F_FIB_MATCH): the lookup's own answer has neither its metric nor all its hops.
        package var matched: Route?
        /// The routes that refuse as the lookup was refused, whatever they are for.
        package var refusing: [Route] = []

        package init(stack: LinkStack, matched: Route? = nil, refusing: [Route] = []) {
            self.stack = stack
            self.matched = matched
            self.refusing = refusing
        }
    }

    package var target: Target
    package var verdict: Verdict
    /// What became of the name, if the target is one.
    package var resolution: NameAnswer?
    package var findings: [PathFinding] = []
    /// The addresses that stand for the Internet; only as many are asked about as it takes to decide.
    package var anchors: [IPAddress] = []
    package var table: NetworkTable
    package var rules: [Rule] = []
    package var mark: UInt32?
    package var ways: [IPAddress.Family: Way] = [:]

    package init(target: Target, verdict: Verdict, table: NetworkTable) {
        self.target = target
        self.verdict = verdict
        self.table = table
    }
}
