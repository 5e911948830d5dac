internal import ReachCore
internal import ReachLoop

/// The combined result of the answers about a name's families.
struct NameVerdict {
    /// The known addresses, IPv6 and IPv4 in turn (RFC 8305 section 4); the system's resolver decides which comes
    /// first.
    let addresses: [IPAddress]
    private let outcomes: [AddressLookupOutcome]

    init(_ outcomes: [AddressLookupOutcome]) {
        self.outcomes = outcomes
        var found: [IPAddress] = []
        for case .answer(let answer) in outcomes {
            // The servers and the system may both have answered.
            if case .addresses(let addresses, _) = answer { found += addresses.filter { !found.contains($0) } }
        }
        let leading = outcomes.count == 1 ? found.first?.family ?? .ipv6 : .ipv6
        let (first, second) = (found.filter { $0.family == leading }, found.filter { $0.family != leading })
        addresses = (0..<max(first.count, second.count)).flatMap {
            first.dropFirst($0).prefix(1) + second.dropFirst($0).prefix(1)
        }
    }

    /// Why there is no address; only where there is none, and all lookups have ended: some servers say of a name that
    /// has no address of one family that it does not exist, so the other family's answer counts.
    func failure(of host: String) -> NameFailure {
        for case .answer(.failure(let code)) in outcomes {
            // As for the C library: such a server answers no later question either.
            if code == DNSReply.Code.formatError {
                return .notFound("\(host): the name servers cannot read the question (code \(code))")
            }
            return .serverFailure("\(host): the name servers failed (code \(code))")
        }
        for case .notAName in outcomes { return .notFound("'\(host)' is not a name") }
        for case .silent in outcomes { return .silent("\(host): no name server answered") }
        for case .notAsked(let number) in outcomes {
            return .notAsked("\(host): no name server can be asked: \(SystemError.text(number))", systemError: number)
        }
        let isUnknown = outcomes.allSatisfy { if case .answer(.noSuchName) = $0 { true } else { false } }
        return .notFound(isUnknown ? "\(host): there is no such name" : "\(host) has no address")
    }
}

extension NameService {
    static func result(_ verdict: NameVerdict, _ question: NameQuestion) -> Result<[IPAddress], NameFailure> {
        guard !verdict.addresses.isEmpty else { return .failure(verdict.failure(of: question.host)) }
        return result(verdict.addresses, question)
    }

    /// The addresses of the family asked for: files and the system's resolver return both.
    static func result(_ addresses: [IPAddress], _ question: NameQuestion) -> Result<[IPAddress], NameFailure> {
        let wanted = addresses.filter { question.family == nil || $0.family == question.family }
        guard wanted.isEmpty else { return .success(wanted) }
        return .failure(.notFound("\(question.host) has no address of that family"))
    }
}
