internal import ReachCore
internal import ReachLoop

/// What the answers about a name's families come to together.
struct NameVerdict {
    /// IPv6 and IPv4 in turn (RFC 8305 section 4), as far as they are known.
    let addresses: [IPAddress]
    /// Another family's answer could not change it.
    let isFinal: Bool
    private let outcomes: [DNSLookup.Outcome]

    init(_ outcomes: [DNSLookup.Outcome]) {
        self.outcomes = outcomes
        var byFamily: [IPAddress.Family: [IPAddress]] = [:]
        var hasNoName = false
        for case .answer(let answer) in outcomes {
            if case .addresses(let found, _) = answer, let family = found.first?.family { byFamily[family] = found }
            if case .noSuchName = answer { hasNoName = true }
        }
        let (six, four) = (byFamily[.ipv6] ?? [], byFamily[.ipv4] ?? [])
        addresses = (0..<max(six.count, four.count)).flatMap {
            six.dropFirst($0).prefix(1) + four.dropFirst($0).prefix(1)
        }
        isFinal = hasNoName && addresses.isEmpty
    }

    /// Why there is no address; only where there is none.
    func failure(of host: String) -> NameFailure {
        for case .answer(.failure(let code)) in outcomes {
            return .serverFailure("\(host): the name servers cannot tell (code \(code))")
        }
        for case .silent in outcomes { return .silent("\(host): no name server answered") }
        for case .notAsked(let number) in outcomes where !isFinal {
            return .notAsked("\(host): no name server can be asked: \(SystemError.text(number))", systemError: number)
        }
        return .notFound(isFinal ? "\(host): there is no such name" : "\(host) has no address")
    }
}

extension Resolver {
    static func result(_ verdict: NameVerdict, _ question: NameQuestion) -> Result<[IPAddress], NameFailure> {
        verdict.addresses.isEmpty ? .failure(verdict.failure(of: question.host)) : .success(verdict.addresses)
    }

    static func result(_ addresses: [IPAddress], _ question: NameQuestion) -> Result<[IPAddress], NameFailure> {
        addresses.isEmpty ? .failure(.notFound("\(question.host) has no address of that family")) : .success(addresses)
    }
}
