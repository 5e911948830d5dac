package import ReachCore
internal import ReachLoop

/// A part of the configured probes' reports, in the order of the configuration.
package struct ProbePage: Sendable {
    package let reports: [ProbeReport]
    /// Whether no probe follows.
    package let isLast: Bool

    package init(reports: [ProbeReport], isLast: Bool) {
        self.reports = reports
        self.isLast = isLast
    }

    /// The parameter of Probes by which a client asks for a page. Older daemons refuse it.
    static let afterParameter = "after"
    /// The longest page in probes; a page also ends after ``bytes``.
    static let longest = 256
    static let bytes = 256 << 10
}

extension MonitorInterface {
    /// The methods for probes.
    static func probeMethods(_ service: any ControlService) -> [String: VarlinkInterface.Method] {
        [
            "Probe": .init(["target", "interface", "timeout_ms"]) { request throws(VarlinkError) in
                guard let target = try request.text("target") else { throw .invalidParameter("target") }
                let interface = try request.text("interface")
                // A name has no colon; a URL has one. A configured probe goes only where its conditions allow it,
                // unless somebody who may change something names the interface.
                guard !target.unicodeScalars.contains(":") && interface == nil || request.mayChange else {
                    throw MonitorError.permissionDenied(method: name + ".Probe").varlink
                }
                let order = ProbeOrder(
                    target: target, interface: interface,
                    timeout: try request.milliseconds("timeout_ms"))
                service.probe(order, for: request.caller) { result in
                    request.reply(result) { json, answer in
                        json.key("result")
                        json.probeResult(answer.result, of: answer.target, named: answer.name)
                    }
                }
            },
            "Probes": .init([ProbePage.afterParameter, "limit"]) { request throws(VarlinkError) in
                let after = try request.count(ProbePage.afterParameter)
                let limit = try request.count("limit")
                let isPage = after != nil || limit != nil
                let start = after ?? 0
                let most = isPage ? min(limit ?? ProbePage.longest, ProbePage.longest) : .max
                service.probes(after: start, limit: most, for: request.caller) { result in
                    request.reply(result) { json, page in
                        json.probePage(page, after: start, bytes: isPage ? ProbePage.bytes : .max)
                    }
                }
            },
        ]
    }
}

extension JSONWriter {
    /// As many reports as there is room for; the rest are on the next page.
    fileprivate mutating func probePage(_ page: ProbePage, after start: Int, bytes: Int) {
        let now = SystemClock.now
        var written = 0
        field(
            "probes",
            array: { json in
                for report in page.reports where json.count < bytes {
                    json.probeReport(report, at: now, hasBeats: true)
                    written += 1
                }
            })
        let isWhole = written == page.reports.count && page.isLast
        field("next", isWhole ? nil : (start + written).wide)
    }
}

extension ControlRequest {
    /// A number of probes, at least 0; `nil` if it is missing.
    fileprivate func count(_ name: String) throws(VarlinkError) -> Int? {
        guard let number = try natural(name) else { return nil }
        guard number <= Int32.max else { throw .invalidParameter(name) }
        return Int(number)
    }

    /// A parameter in milliseconds, above zero; `nil` if it is missing.
    fileprivate func milliseconds(_ name: String) throws(VarlinkError) -> Duration? {
        guard let value = call.parameters[name], value != .null else { return nil }
        guard let number = value.integer, 1...86_400_000 ~= number else { throw .invalidParameter(name) }
        return .milliseconds(number)
    }
}
