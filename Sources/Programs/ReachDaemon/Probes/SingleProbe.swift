internal import ReachControl
package import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachTransfer

/// A single attempt without a daemon: `reachd --probe`.
package enum SingleProbe {
    /// - Returns: The result, and its line of JSON.
    /// - Throws: Why no attempt was possible: a `TargetError` about the URL, or an error of this machine.
    package static func run(_ url: String, by interface: String?, timeout: Duration?) throws -> (ProbeResult, [UInt8]) {
        var specification = ProbeSpecification(name: "", target: try ProbeTarget(url))
        try specification.target.check(with: interface)
        if let timeout { specification.timeout = timeout }
        let kernel = interface == nil ? nil : try? KernelSnapshot()
        let binding = interface.map { kernel?.binding($0) ?? InterfaceBinding(name: $0) }
        let loop = try EventLoop()
        let transfers = try TransferEngine(loop: loop)
        if interface != nil {
            transfers.resolver.route = { (server, bound) throws(SystemError) in
                guard let snapshot = try? KernelSnapshot() else { return bound }
                return try snapshot.interface(for: server, boundTo: bound)
            }
        }
        let runner = ProbeRunner(loop: loop, transfers: transfers)
        var observation: ProbeObservation?
        let attempt = runner.start(ProbeTerms(specification), binding: binding) { result in
            observation = result
            loop.stop()
        }
        loop.run()
        attempt.cancel()
        guard let observation else { throw TargetError(description: "the attempt ended without a result") }
        let result = ProbeJudge.result(of: observation, specification.expected, evidence: .same)
        var json = JSONWriter()
        json.probeResult(result, of: url, named: nil)
        json.newline()
        return (result, json.bytes)
    }
}
