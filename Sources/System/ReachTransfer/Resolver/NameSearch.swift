internal import ReachCore

/// What the servers answered about a name, in one family.
struct FamilyOutcome {
    let family: IPAddress.Family
    let outcome: AddressLookupOutcome
}

extension [FamilyOutcome] {
    /// The outcomes that count where none has an address: as for the C library, a server that failed in one family, or
    /// was silent about IPv6, is outweighed by its answer in the other one.
    fileprivate var counting: [AddressLookupOutcome] {
        let hasAnswer = contains { $0.outcome.isAnswer }
        return compactMap { entry in
            if entry.outcome.isAnswer || !hasAnswer { return entry.outcome }
            switch entry.outcome {
            case .silent, .notAsked: return entry.family == .ipv6 ? nil : entry.outcome
            default: return nil
            }
        }
    }
}

/// Goes through the names that stand for a host, as the C library does (`__res_context_search`): a value.
///
/// The name as it was written decides what is reported where it comes first. Otherwise a name that exists without
/// addresses counts more than a failure, and that more than names that do not exist. Where no server answers about a
/// name with a domain of the search list, the other domains are not tried.
struct NameSearch {
    private let host: String
    private let names: [String]
    private var place = 0
    /// What the answers so far report, where none has an address.
    private(set) var outcomes: [AddressLookupOutcome] = []

    /// - Parameter names: At least one.
    init(_ host: String, names: [String]) {
        (self.host, self.names) = (host, names)
    }

    /// The name to ask for.
    var name: String { names[place] }

    /// Handles the answers about the present name, which have no address.
    ///
    /// - Returns: Whether there is another name to ask for.
    mutating func advance(after answers: [FamilyOutcome]) -> Bool {
        let outcomes = answers.counting
        if place == 0 || (names[0] != host && Self.rank(outcomes) >= Self.rank(self.outcomes)) {
            self.outcomes = outcomes
        }
        let isUnanswered = name != host && outcomes.contains(where: \.endsSearch)
        // The name as it was written is tried in any case.
        guard let next = names.indices.first(where: { $0 > place && (!isUnanswered || names[$0] == host) }) else {
            return false
        }
        place = next
        return true
    }

    private static func rank(_ outcomes: [AddressLookupOutcome]) -> Int {
        outcomes.map { outcome in
            switch outcome {
            case .answer(.none): 2
            case .answer(.failure(DNSReply.Code.serverFailure)): 1
            default: 0
            }
        }.max() ?? 0
    }
}

extension AddressLookupOutcome {
    /// Whether a server said what it knows of the name.
    fileprivate var isAnswer: Bool {
        switch self {
        case .answer(.addresses), .answer(.none), .answer(.noSuchName): true
        default: false
        }
    }

    /// Whether other names of the search list would hardly be answered.
    fileprivate var endsSearch: Bool {
        switch self {
        case .answer(.failure(let code)): code != DNSReply.Code.serverFailure
        case .answer, .notAName: false
        case .silent, .notAsked: true
        }
    }
}
