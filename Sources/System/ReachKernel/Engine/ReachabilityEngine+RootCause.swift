package import ReachCore

extension ReachabilityEngine {
    /// The root cause of a verdict on a watched target.
    func rootCause(
        of verdict: Verdict, for watch: WatchedTarget, _ internet: Verdict, _ reader: RootCauseReader
    ) throws(NetlinkError) -> RootCause? {
        // The state is the last one that was reported, so while the target is reachable nothing has to be remembered.
        watch.memory.remember(watch.machine.state.ipv4, watch.machine.state.ipv6)
        return try reader.rootCause(
            of: verdict,
            on: RootCauseReader.Subject(
                target: watch.target.subject, names: watch.name.addresses, condition: watch.condition ?? .any),
            memory: memory(of: watch.target, watch)
        ) { () throws(NetlinkError) in internet }
    }

    /// Why no default route satisfies a condition now; `nil` if one does, and while the kernel cannot be observed.
    package func rootCause(where condition: NetworkCondition) -> RootCause? {
        guard observationError == nil, let view = observer?.view, let internet = internet.verdict else { return nil }
        // What probes and names prove does not bear on links.
        var condition = condition
        (condition.isValidated, condition.isTargetReachable) = (false, false)
        condition.quality = nil
        do throws(NetlinkError) {
            let verdict = try PathFinder(view: view, mark: options.mark).choose(
                internet, on: .internet, internet: internet, names: [], anchors: options.anchors, where: condition)
            let memory = RootCauseMemory(paths: self.internet.memory, admissions: view.admissions)
            return try RootCauseReader(view: view, options: options).rootCause(
                of: verdict, on: RootCauseReader.Subject(target: .internet, condition: condition), memory: memory
            ) { () throws(NetlinkError) in internet }
        } catch {
            observer?.recover(from: error)
            return nil
        }
    }

    /// What this engine remembers that bears on root causes of a target.
    package func memory(of target: Target) -> RootCauseMemory {
        memory(of: target, watches[WatchKey(target: target, condition: nil)])
    }

    /// A target that was not reachable yet most likely lacks the link that carried the Internet, unless it names a link
    /// itself.
    private func memory(of target: Target, _ watch: WatchedTarget?) -> RootCauseMemory {
        let own = watch?.memory ?? PathMemory()
        let namesLink =
            switch target.subject {
            case .interface, .address(_, zone: _?): true
            case .internet, .name, .address, .prefix: false
            }
        return RootCauseMemory(
            paths: own.carriers.isEmpty && !namesLink ? internet.memory : own,
            admissions: observer?.view?.admissions ?? AdmissionCounter(),
            links: observer?.view?.observed ?? ObservedLinks())
    }
}
