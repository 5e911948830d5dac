package import ReachCore

/// Turns an attempt's observation into a result: ok, fail or inconclusive.
package enum ProbeJudge {
    /// - Parameter evidence: What happened to the path meanwhile. An attempt during which the path was lost or changed
    ///   proves nothing, however it ended: it may have used the old path, and readers would take its result for the
    ///   current one.
    /// - Parameter hasPath: Whether the kernel has a path to an address, or without one to each family of the target.
    ///   Then "network unreachable" came from a router on the way.
    package static func result(
        of observation: ProbeObservation, _ expected: ExpectedAnswer, evidence: PathContinuity,
        hasPath: (IPAddress?) -> Bool = { _ in false }
    ) -> ProbeResult {
        var (outcome, detail) = verdict(on: observation, expected, evidence)
        if outcome == .inconclusive(.noPath), hasPath(observation.address) { outcome = .fail(.unreachable) }
        var result = observation.result
        (result.outcome, result.detail) = (outcome, detail)
        return result
    }

    private typealias Verdict = (ProbeResult.Outcome, String)

    private static func verdict(
        on observation: ProbeObservation, _ expected: ExpectedAnswer, _ evidence: PathContinuity
    ) -> Verdict {
        switch evidence {
        case .lost: return (.inconclusive(.pathLost), "the path went away during the attempt")
        case .changed: return (.inconclusive(.pathChanged), "the path changed during the attempt")
        case .slept: return (.inconclusive(.slept), "the machine slept during the attempt")
        case .same: break
        }
        switch observation.ending {
        case .failed(let failure, let detail): return (.fail(failure), detail)
        case .doubtful(let doubt, let detail): return (.inconclusive(doubt), detail)
        case .answered: break
        }
        let checks = [status, header, body, json, responseCode, answer, certificate, loss, latency]
        for check in checks {
            if let (failure, detail) = check(observation, expected) { return (.fail(failure), detail) }
        }
        return (.ok, "")
    }

    private typealias Objection = (ProbeFailure, String)

    private static func status(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard let status = observation.httpStatus, !expected.status.contains(status) else { return nil }
        return (.status, "HTTP \(status), expected \(expected.status)")
    }

    private static func header(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard let wanted = expected.header, observation.httpStatus != nil else { return nil }
        let values = observation.headers.filter { $0.isNamed(wanted.name) }.map(\.value)
        guard let value = values.first else { return (.header, "there is no header \(wanted.name)") }
        guard !values.contains(where: { Bytes.find(Array(wanted.value.utf8), in: Array($0.utf8)) }) else { return nil }
        return (.header, "\(wanted.name) is \"\(value)\", expected \"\(wanted.value)\"")
    }

    private static func body(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard observation.httpStatus != nil else { return nil }
        if let prefix = expected.bodyPrefix, !observation.body.starts(with: prefix.utf8) {
            return (.body, "the body does not begin with \"\(prefix)\"")
        }
        if let wanted = expected.bodyContains, !Bytes.find(Array(wanted.utf8), in: observation.body) {
            return (.body, "the body does not contain \"\(wanted)\"")
        }
        return nil
    }

    /// The most values of a body, so that reading it takes no longer than other bodies do.
    private static let jsonValues = 100_000

    private static func json(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard observation.httpStatus != nil, !expected.json.isEmpty else { return nil }
        do throws(JSONError) {
            let limits = JSONReader.Limits(values: jsonValues)
            let document = try JSONReader.outline(observation.body, .asFoundation, limits: limits)
            return expected.json.lazy.compactMap { $0.fault(in: document) }.first.map { (.body, $0) }
        } catch {
            return (.body, "the body is not JSON: \(error)")
        }
    }

    private static func loss(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard let limit = expected.lossPercent, let burst = observation.burst, burst.lost * 100 > limit * burst.sent
        else { return nil }
        return (.loss, "\(burst.lost) of \(burst.sent) requests were lost, expected \(limit) % or fewer")
    }

    private static func responseCode(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard let code = observation.responseCode, code != expected.responseCode.number else { return nil }
        let word = DNSResponseCode.allCases.first { $0.number == code }?.rawValue ?? "code \(code)"
        return (.responseCode, "the name server answered \(word), expected \(expected.responseCode.rawValue)")
    }

    private static func answer(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard let code = observation.responseCode, code == DNSResponseCode.noError.number else { return nil }
        guard !observation.answers.isEmpty else { return (.answer, "the name server knows no such record") }
        guard !expected.answers.isEmpty else { return nil }
        let wanted = Set(expected.answers.map { $0.lowercased() })
        guard !observation.answers.contains(where: { wanted.contains($0.lowercased()) }) else { return nil }
        let found = observation.answers.prefix(4).joined(separator: ", ")
        return (.answer, "the name server answered \(found); expected \(expected.answers.joined(separator: " or "))")
    }

    private static func certificate(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard let wanted = expected.certificateDays, let days = observation.result.certificateDays, days < wanted
        else { return nil }
        return (.certificateEnding, "the certificate ends in \(days) days, expected \(wanted) or more")
    }

    private static func latency(_ observation: ProbeObservation, _ expected: ExpectedAnswer) -> Objection? {
        guard let limit = expected.latency, observation.duration > limit else { return nil }
        let (took, most) = (DurationText.describe(observation.duration), DurationText.describe(limit))
        return (.latency, "it took \(took), expected \(most) or less")
    }
}

/// What happened to the path to a probe's target during an attempt.
package enum PathContinuity: Hashable, Sendable {
    case same
    case lost
    case changed
    /// The machine slept during the attempt.
    case slept
}

/// Byte search, which the standard library lacks without Foundation.
enum Bytes {
    static func find(_ needle: [UInt8], in hay: [UInt8]) -> Bool {
        guard let first = needle.first else { return true }
        guard hay.count >= needle.count else { return false }
        for start in 0...hay.count - needle.count
        where hay[start] == first && hay[start...].prefix(needle.count).elementsEqual(needle) {
            return true
        }
        return false
    }
}

extension ProbeResult {
    /// Whether the Internet, and not the target, may be the cause of a failure, so that connectivity should be
    /// validated again.
    ///
    /// This includes wrong answers, since a portal may have given them. It excludes right answers that were late, were
    /// not all of them, or came with a certificate that ends soon. It also excludes hosts of the local network, except
    /// name servers, which forward questions to the Internet.
    ///
    /// - Parameter target: The probe's target.
    package func suggestsOutage(for target: ProbeTarget) -> Bool {
        guard case .fail(let failure) = outcome, failure != .latency, failure != .certificateEnding,
            failure != .loss
        else {
            return false
        }
        if target.kind == .dns { return true }
        return peer(of: target).map { !PublicName.isPrivate($0) } ?? true
    }

    /// Whether a host beyond the local networks answered, so that a lost Internet may be back. An answer by DNS does
    /// not count, since portals let names be resolved.
    package func suggestsInternet(for target: ProbeTarget) -> Bool {
        guard outcome == .ok, target.kind != .dns, let peer = peer(of: target) else { return false }
        return !PublicName.isPrivate(peer)
    }

    /// The family in which a host of the Internet answered that is named by its address, and by the kernel's path: it
    /// needs no name server. Echoes do not count, which pass where nothing else does.
    package func witness(of specification: ProbeSpecification) -> IPAddress.Family? {
        guard case .address(let literal, _) = specification.target.host, specification.target.kind != .icmp,
            specification.condition.interface == nil, suggestsInternet(for: specification.target)
        else { return nil }
        return literal.family
    }

    /// The address the attempt used, or the one the target names.
    private func peer(of target: ProbeTarget) -> IPAddress? {
        if let address { return address }
        guard case .address(let literal, _) = target.host else { return nil }
        return literal
    }
}
