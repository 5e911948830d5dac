package import ReachClient
package import ReachCore
internal import ReachLoop

/// Calls of io.reach.Monitor besides the status, which every monitor asks for.
extension ControlClient {
    /// Gets the names of the configured targets; none from a daemon that is too old to say.
    package mutating func targetNames() throws(ControlError) -> [String] {
        (try configuredNames()?["targets"]?.array ?? []).compactMap { $0["name"]?.string }
    }

    /// Gets the names of the configured networks.
    ///
    /// - Returns: `nil` from a daemon that is too old to say.
    package mutating func networkNames() throws(ControlError) -> [String]? {
        try configuredNames()?["networks"]?.array?.compactMap(\.string)
    }

    private mutating func configuredNames() throws(ControlError) -> JSONValue? {
        do throws(ControlError) {
            return .object(try call("Targets", [:]))
        } catch {
            if case .refused(let refused) = error, refused.name == "org.varlink.service.MethodNotFound" { return nil }
            throw error
        }
    }

    package mutating func links() throws(ControlError) -> [LinkReport] {
        try list("links", of: try call("Links", [:]), LinkReport.init(reading:))
    }

    package mutating func explanation(of target: Target) throws(ControlError) -> Explanation {
        let answer = try call("Explain", ["target": .string(target.description)])
        return try read("explanation", of: answer, Explanation.init(reading:))
    }

    /// Gets the configured probes, in the order of the configuration, page by page.
    package mutating func probes() throws(ControlError) -> [ProbeReport] {
        var reports: [ProbeReport] = []
        var next: Int64? = 0
        while let after = next {
            let answer = try probePage(after: after)
            reports += try list("probes", of: answer, ProbeReport.init(reading:))
            // A page that does not advance is a fault of the daemon.
            next = answer["next"]?.integer.flatMap { $0 > after ? $0 : nil }
        }
        return reports
    }

    private mutating func probePage(after count: Int64) throws(ControlError) -> [String: JSONValue] {
        do throws(ControlError) {
            return try call("Probes", [ProbePage.afterParameter: .integer(count)])
        } catch {
            // A daemon that is too old for pages gives all at once.
            guard case .refused(let refusal) = error, refusal == .invalidParameter(ProbePage.afterParameter) else {
                throw error
            }
            return try call("Probes", [:])
        }
    }

    /// Orders one attempt now. The patience must exceed the time that the attempt may take.
    package mutating func probe(_ order: ProbeOrder) throws(ControlError) -> ProbeAnswer {
        var parameters: [String: JSONValue] = ["target": .string(order.target)]
        if let interface = order.interface { parameters["interface"] = .string(interface) }
        if let timeout = order.timeout {
            parameters["timeout_ms"] = .integer(max(1, timeout.nanoseconds / 1_000_000))
        }
        return try read("result", of: try call("Probe", parameters), ProbeAnswer.init(reading:))
    }

    /// Whether the daemon watches the network namespace of the calling thread, and runs in the same VRF, if any.
    /// Answers about another network do not apply.
    package mutating func isInThisNamespace() throws(ControlError) -> Bool {
        let question = VarlinkCall(MonitorInterface.name + ".NetworkNamespace", [:])
        let reply = try callBriefly(question)
        guard let inode = reply["inode"]?.integer else { return false }
        return UInt64(exactly: inode) == NetworkNamespace.inode
            && reply["vrf"]?.integer == ProcessVRF.binding().map(Int64.init)
    }

    /// Runs the hooks with a sample event. The patience must exceed their time limit.
    package mutating func testHooks() throws(ControlError) -> HookTestReport {
        guard let report = HookTestReport(reading: try call("TestHooks", [:])) else {
            throw .notUnderstood("there is no report")
        }
        return report
    }

    package mutating func reload() throws(ControlError) { _ = try call("Reload", [:]) }
}
