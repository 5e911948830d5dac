internal import ReachCore
internal import ReachLoop
package import ReachTransfer

/// An attempt by HTTP, or a bare TCP or TLS connection. libcurl makes the connection, and never reuses one.
final class TransferAttempt: ProbeAttempt {
    private let plan: ProbePlan
    private let runner: ProbeRunner
    private var completion: ProbeRunner.Completion?
    private var id: TransferID?

    /// Most bytes of a body that are read: enough for any condition, and a common bound on the transfer time of large
    /// bodies.
    private static let bodyLimit: UInt64 = 1 << 20

    init(_ plan: ProbePlan, _ runner: ProbeRunner, _ completion: @escaping ProbeRunner.Completion) {
        self.plan = plan
        self.runner = runner
        self.completion = completion
        switch plan.terms.request {
        case .success(var request)?:
            // Mostly it is the same, and then the request is not copied.
            if request.interface != plan.binding { request.interface = plan.binding }
            id = runner.transfers.start(
                request,
                handler: TransferHandler(
                    route: plan.followsRoutes || plan.specification.refusesLocalAddresses
                        ? { [unowned runner] in runner.ways(to: $0, for: plan) } : nil
                ) { [weak self] event in
                    if case .finished(let report) = event { self?.finish(report) }
                })
        case .failure(let fault)?:
            let ending = ProbeObservation.Ending.failed(.protocolError, fault.description)
            runner.loop.afterEvents { [self] in complete(plan.observation(ending, ProbePhases())) }
        case nil: preconditionFailure("\(plan.specification.target.kind) makes no request")
        }
    }

    func cancel() {
        completion = nil
        id.map(runner.transfers.cancel)
    }

    private func finish(_ report: TransferReport) { complete(Self.observation(report, plan)) }

    private func complete(_ observation: ProbeObservation) {
        let completion = completion
        self.completion = nil
        completion?(observation)
    }

    // MARK: - Request

    /// The request of every attempt, but for the interface.
    static func request(for specification: ProbeSpecification) throws -> TransferRequest {
        let target = specification.target
        var request = TransferRequest(specification.method.rawValue, url: try target.transferURL)
        request.headers = specification.headers
        if !specification.headers.contains(where: { $0.isNamed("User-Agent") }) {
            request.headers.append(HeaderField("User-Agent", "reach"))
        }
        request.owner = .probes
        request.family = specification.family
        if case .address(let address, _) = target.host { request.addresses = [address] }
        let limit = specification.effectiveTimeout
        request.timeouts = TransferTimeouts(connect: limit, total: limit)
        request.limit = ResponseLimit(bodyBytes: bodyLimit, action: .stop)
        request.sink = specification.expected.needsBody ? .memory : .none
        request.version = .http1
        request.connection = target.kind == .tcp || target.kind == .tls ? .connectOnly : .fresh
        if specification.redirects > 0 { request.redirects = .follow(limit: specification.redirects) }
        if specification.acceptsAnyCertificate {
            request.security = try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false)
        }
        return request
    }

    // MARK: - Observation

    static func observation(_ report: TransferReport, _ plan: ProbePlan) -> ProbeObservation {
        var ending = ProbeObservation.Ending.answered
        if let failure = report.failure { ending = ProbeObservation.Ending(failure) }
        var observation = plan.observation(ending, phases(of: report.hops))
        let last = report.hops.last
        if let first = report.hops.first?.phases.started, let end = last?.phases.finished {
            observation.duration = end - first
        }
        observation.address = last?.remoteAddress
        observation.httpStatus = report.response?.status
        observation.headers = report.response?.fields ?? []
        observation.body = report.body
        // With redirects there are several servers: the one whose certificate ends first fails first.
        observation.certificateEnd = report.hops.compactMap { $0.certificate?.validUntil }.min()
        return observation
    }

    /// The sum of each phase over all hops.
    static func phases(of hops: [TransferHop]) -> ProbePhases {
        var phases = ProbePhases()
        func add(_ phase: ProbePhase, from start: BootTime?, to end: BootTime?) {
            guard let start, let end, end >= start else { return }
            phases[phase] = (phases[phase] ?? .zero) + (end - start)
        }
        for hop in hops.map(\.phases) {
            add(.resolve, from: hop.started, to: hop.resolved)
            add(.connect, from: hop.resolved ?? hop.started, to: hop.connected)
            add(.tls, from: hop.connected, to: hop.secured)
            add(.processing, from: hop.requestStarted ?? hop.secured ?? hop.connected, to: hop.firstByte)
            add(.transfer, from: hop.firstByte, to: hop.finished)
        }
        return phases
    }
}

extension ProbeTarget {
    /// The URL for libcurl. For tcp and tls it is that of an HTTP server at the same host and port, of which only the
    /// connection is made.
    ///
    /// - Throws: Why libcurl would refuse the URL.
    package var transferURL: TransferURL {
        get throws(TransferURL.ValidationError) {
            guard kind == .tcp || kind == .tls else { return try TransferURL(description) }
            let scheme = kind == .tls ? "https" : "http"
            switch host {
            case .address(let address, let zone) where address.family == .ipv6:
                return try TransferURL("\(scheme)://[\(address)\(zone.map { "%25" + $0 } ?? "")]:\(port)/")
            case .address(let address, _): return try TransferURL("\(scheme)://\(address):\(port)/")
            default: return try TransferURL("\(scheme)://\(hostText):\(port)/")
            }
        }
    }
}
