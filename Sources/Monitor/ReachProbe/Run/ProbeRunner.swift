internal import Glibc
package import ReachCore
package import ReachLoop
package import ReachTransfer

/// Makes attempts, each of the kind that its target needs. Confined to the loop's thread, and never blocks it:
/// everything is a descriptor or a timer of the loop.
package final class ProbeRunner {
    package typealias Completion = (ProbeObservation) -> Void

    let loop: EventLoop
    let transfers: TransferEngine
    private var lastNumber: UInt16 = 0
    /// How the kernel would send to each of these addresses; `nil` while that is not known. Set it where attempts are
    /// bound to paths that conditions chose.
    package var routes: ([IPAddress]) -> [AddressRoute]? = { _ in nil }

    package init(loop: EventLoop, transfers: TransferEngine) {
        self.loop = loop
        self.transfers = transfers
    }

    var resolver: NameService { transfers.resolver }

    /// Starts an attempt.
    ///
    /// - Parameters:
    ///   - binding: The interface that all packets of the attempt must use; `nil` lets the kernel choose.
    ///   - followsRoutes: Whether an address of a name that has a route of its own is reached by that route and no
    ///     other, and only if it satisfies the probe's condition. Without a binding the kernel follows its routes
    ///     anyway.
    ///   - completion: Called once, after this returns, unless the attempt is cancelled.
    package func start(
        _ terms: ProbeTerms, binding: InterfaceBinding?, followsRoutes: Bool = false,
        completion: @escaping Completion
    ) -> any ProbeAttempt {
        lastNumber &+= 1
        let plan = ProbePlan(
            terms: terms, binding: binding, followsRoutes: followsRoutes && binding != nil,
            number: lastNumber)
        let target = terms.specification.target
        switch (target.kind, target.question) {
        case (.icmp, _): return PingAttempt(plan, self, completion)
        case (.dns, let question?): return QuestionAttempt(plan, question, self, completion)
        // The parser gives each DNS target a question.
        case (.http, _), (.https, _), (.tcp, _), (.tls, _), (.dns, nil): return TransferAttempt(plan, self, completion)
        }
    }
}

extension ProbeRunner {
    /// By which interface each address may be reached by an attempt. Addresses whose own route the condition does not
    /// allow are left out: no other route leads to them.
    func ways(to all: [IPAddress], for plan: ProbePlan) -> [TransferWay] {
        let addresses = plan.allowed(all)
        guard plan.followsRoutes, let found = routes(addresses) else {
            return addresses.map { TransferWay($0, by: plan.binding) }
        }
        let condition = plan.specification.pathCondition ?? .any
        return zip(addresses, found).compactMap { address, route in
            // The binding was chosen for the target's own address, with its zone. Link-local ones are on every link, so
            // their route says nothing without a zone.
            if plan.specification.target.host?.isAddress(address) == true
                || (address.family == .ipv6 && address.isLinkLocal)
            {
                return TransferWay(address, by: plan.binding)
            }
            return switch route {
            case .byDefault: TransferWay(address, by: plan.binding)
            case .local: TransferWay(address, by: nil)
            case .own(let host):
                condition.unmet(on: OwnPath(host)).isEmpty
                    ? TransferWay(
                        address, by: InterfaceBinding(name: host.name, index: UInt32(bitPattern: host.interface))) : nil
            case .none: nil
            }
        }
    }
}

extension ProbeTarget.Host {
    fileprivate func isAddress(_ other: IPAddress) -> Bool {
        if case .address(other, _) = self { true } else { false }
    }
}

/// A path by a route of a host's own, as a condition sees it.
private struct OwnPath: ConditionedPath {
    let interface: String
    let traits: PathTraits
    let families: Set<IPAddress.Family>
    var isValidated: Bool { false }
    var quality: LineQuality.Word? { nil }

    init(_ host: HostRoute) { (interface, traits, families) = (host.name, host.traits, [host.family]) }
}

/// An attempt in progress.
package protocol ProbeAttempt: AnyObject {
    /// Ends the attempt without calling its completion.
    func cancel()
}

/// The parameters of one attempt.
struct ProbePlan {
    let terms: ProbeTerms
    /// The interface that packets must use. Once the host's address is known, that of the address.
    var binding: InterfaceBinding?
    var followsRoutes = false
    /// Number of the attempt within this process, modulo 2^16.
    let number: UInt16
    let started = SystemClock.now

    var specification: ProbeSpecification { terms.specification }

    /// The addresses of the target that may be tested.
    func allowed(_ addresses: [IPAddress]) -> [IPAddress] {
        guard specification.refusesLocalAddresses else { return addresses }
        // An address that the target names itself is meant; a name's and a redirect's are not.
        return addresses.filter { specification.target.host?.isAddress($0) == true || $0.scope > .link }
    }

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
