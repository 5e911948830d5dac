internal import Glibc
internal import ReachCore
package import ReachLoop
package import ReachTransfer

/// Makes attempts, each of the kind that its target needs. Confined to the loop's thread, and never blocks it:
/// everything is a descriptor or a timer of the loop.
package final class ProbeRunner {
    package typealias Completion = (ProbeObservation) -> Void

    let loop: EventLoop
    let transfers: TransferEngine
    private var lastNumber: UInt16 = 0

    package init(loop: EventLoop, transfers: TransferEngine) {
        self.loop = loop
        self.transfers = transfers
    }

    var resolver: NameService { transfers.resolver }

    /// Starts an attempt.
    ///
    /// - Parameters:
    ///   - binding: The interface that all packets of the attempt must use; `nil` lets the kernel choose.
    ///   - completion: Called once, after this returns, unless the attempt is cancelled.
    package func start(
        _ specification: ProbeSpecification, binding: InterfaceBinding?, completion: @escaping Completion
    ) -> any ProbeAttempt {
        lastNumber &+= 1
        let plan = ProbePlan(specification: specification, binding: binding, number: lastNumber)
        let target = specification.target
        if let question = target.question { return QuestionAttempt(plan, question, self, completion) }
        return target.kind == .icmp
            ? PingAttempt(plan, self, completion) : TransferAttempt(plan, self, completion)
    }
}

/// An attempt in progress.
package protocol ProbeAttempt: AnyObject {
    /// Ends the attempt without calling its completion.
    func cancel()
}

/// The parameters of one attempt.
struct ProbePlan {
    let specification: ProbeSpecification
    let binding: InterfaceBinding?
    /// Number of the attempt within this process, modulo 2^16.
    let number: UInt16
    let started = SystemClock.now

    var deadline: BootTime { started.boot + specification.effectiveTimeout }

    func observation(_ ending: ProbeObservation.Ending, _ phases: ProbePhases) -> ProbeObservation {
        var observation = ProbeObservation(ending, started: started, duration: SystemClock.boot - started.boot)
        observation.phases = phases
        observation.interface = binding?.name
        return observation
    }

    /// The ending of an attempt that reached its deadline.
    var timedOut: ProbeObservation.Ending {
        .failed(.timeout, "no answer within \(DurationText.describe(specification.effectiveTimeout))")
    }
}
