internal import Glibc
internal import ReachCore
package import ReachLoop
package import ReachTransfer

/// Makes attempts, each of the kind that its target asks for. Nothing here waits: everything is a descriptor or a timer of
/// the loop, to whose thread it is confined.
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

    /// Begins an attempt.
    ///
    /// - Parameters:
    ///   - binding: The interface that every packet of it must go by; `nil` leaves that to the kernel.
    ///   - completion: Called once, later, unless the attempt is cancelled.
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

/// An attempt that is under way.
package protocol ProbeAttempt: AnyObject {
    /// Ends it; its completion is not called.
    func cancel()
}

/// What an attempt is told to do.
struct ProbePlan {
    let specification: ProbeSpecification
    let binding: InterfaceBinding?
    /// Tells the attempts of this process apart, as far as 16 bits go.
    let number: UInt16
    let started = SystemClock.now

    var deadline: BootTime { started.boot + specification.effectiveTimeout }

    func observation(_ ending: ProbeObservation.Ending, _ phases: ProbePhases) -> ProbeObservation {
        var observation = ProbeObservation(ending, started: started, duration: SystemClock.boot - started.boot)
        observation.phases = phases
        observation.interface = binding?.name
        return observation
    }

    /// How it ends that time is over.
    var timedOut: ProbeObservation.Ending {
        .failed(.timeout, "no answer within \(DurationText.describe(specification.effectiveTimeout))")
    }
}
