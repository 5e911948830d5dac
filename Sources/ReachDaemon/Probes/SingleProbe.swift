internal import ReachControl
package import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachTransfer

/// One attempt by a process that is there for nothing else: `reachd --probe`.
package enum SingleProbe {
    /// - Returns: The attempt's line of JSON.
    /// - Throws: A sentence on why there was none: about the URL, or about this machine.
    package static func run(_ url: String, by interface: String?, timeout: Duration?) throws -> (ProbeResult, [UInt8]) {
        var specification = ProbeSpecification(name: "", target: try ProbeTarget(url))
        if let timeout { specification.timeout = timeout }
        let binding = interface.map { InterfaceBinding(name: $0) }
        let loop = try EventLoop()
        let runner = ProbeRunner(loop: loop, transfers: try TransferEngine(loop: loop))
        var observation: ProbeObservation?
        let attempt = runner.start(specification, binding: binding) { seen in
            observation = seen
            loop.stop()
        }
        loop.run()
        attempt.cancel()
        guard let observation else { throw TargetError(description: "the attempt ended without a result") }
        let result = ProbeJudge.result(of: observation, specification.conditions, evidence: .same)
        var json = JSONWriter()
        json.probeResult(result, of: url, named: nil)
        json.newline()
        return (result, json.bytes)
    }
}
