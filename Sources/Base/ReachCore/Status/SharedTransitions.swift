/// The transitions that the targets of one evaluation make. Targets in the same state with the same verdict make the same
/// one: it is determined once, and their states share their storage afterwards.
///
/// A thousand targets behind one default route mostly are such targets. What tells them apart is when they were first
/// watched, and what happened to them since.
package struct SharedTransitions {
    /// A class, since looking for one among structures would copy them.
    private final class Transition {
        let verdict: SharedVerdict
        let before: StatusMachine
        /// Of ``before``, which would be copied for each look at it.
        let situation: StatusMachine.Situation
        let after: StatusMachine
        let cause: Cause
        let change: ReachabilityChange?

        init(
            verdict: SharedVerdict, before: StatusMachine, after: StatusMachine, cause: Cause,
            change: ReachabilityChange?
        ) {
            self.verdict = verdict
            self.before = before
            situation = before.situation
            self.after = after
            self.cause = cause
            self.change = change
        }
    }

    private var transitions: [Transition] = []
    private let epoch: UInt64
    private let moment: Instant

    /// The most transitions that are remembered. Where targets differ, looking for an equal one must not cost more than
    /// determining the transition again.
    private static let limit = 8

    /// - Parameters:
    ///   - epoch: The Internet's epoch.
    ///   - moment: When the verdicts were made.
    package init(epoch: UInt64, at moment: Instant) {
        self.epoch = epoch
        self.moment = moment
    }

    /// Makes a target's machine process a verdict.
    ///
    /// - Parameter cause: Returns the cause of a change. It must follow from the verdict and from the paths of the state
    ///   before.
    /// - Returns: The change to report; `nil` if nothing differs, or if the change is held back.
    package mutating func observe(
        _ verdict: SharedVerdict, by machine: inout StatusMachine, cause: () -> Cause
    ) -> ReachabilityChange? {
        let situation = machine.situation
        for known in transitions
        where known.verdict === verdict && known.situation == situation && known.before.report == machine.report {
            machine.adopt(known.after)
            return known.change?.of(machine.state.target)
        }
        let before = machine
        let cause = cause()
        let change = machine.observe(verdict, cause: cause, epoch: epoch, at: moment)
        for known in transitions where known.verdict === verdict && known.cause == cause {
            guard known.change?.aspects == change?.aspects, machine.isEqual(to: known.after) else { continue }
            guard known.change?.previous == change?.previous.map({ $0.of(known.before.state.target) }) else { continue }
            // Equal by other ways: from now on they share their storage, too.
            machine.adopt(known.after)
            return known.change?.of(machine.state.target)
        }
        if transitions.count < Self.limit {
            transitions.append(
                Transition(verdict: verdict, before: before, after: machine, cause: cause, change: change))
        }
        return change
    }
}

extension ReachabilityState {
    /// The same state of another target.
    fileprivate func of(_ target: Target) -> ReachabilityState {
        var copy = self
        copy.target = target
        return copy
    }
}
