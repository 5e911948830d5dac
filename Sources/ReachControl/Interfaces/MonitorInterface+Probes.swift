internal import ReachCore
internal import ReachLoop

extension MonitorInterface {
    /// The methods for probes.
    static func probeMethods(_ service: any ControlService) -> [String: VarlinkInterface.Method] {
        [
            "Probe": .init(["target", "interface", "timeout_ms"]) { request throws(VarlinkError) in
                guard let target = try request.text("target") else { throw .invalidParameter("target") }
                // A name has no colon; a URL has one.
                guard !target.contains(":") || request.mayChange else {
                    throw MonitorError.permissionDenied(method: name + ".Probe").varlink
                }
                let order = ProbeOrder(
                    target: target, interface: try request.text("interface"),
                    timeout: try request.milliseconds("timeout_ms"))
                service.probe(order, for: request.caller) { result in
                    request.reply(result) { json, answer in
                        json.key("result")
                        json.probeResult(answer.result, of: answer.target, named: answer.name)
                    }
                }
            },
            "Probes": .init([]) { request throws(VarlinkError) in
                service.probes(for: request.caller) { result in
                    request.reply(result) { json, reports in
                        let now = SystemClock.now
                        json.field(
                            "probes",
                            array: { for report in reports { $0.probeReport(report, at: now, hasBeats: true) } })
                    }
                }
            },
        ]
    }
}

extension ControlRequest {
    /// A parameter in milliseconds, above zero; `nil` if it is missing.
    fileprivate func milliseconds(_ name: String) throws(VarlinkError) -> Duration? {
        guard let value = call.parameters[name], value != .null else { return nil }
        guard let number = value.integer, 1...86_400_000 ~= number else { throw .invalidParameter(name) }
        return .milliseconds(number)
    }
}
