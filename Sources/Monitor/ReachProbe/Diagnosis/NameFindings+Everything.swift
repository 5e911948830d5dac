internal import ReachCore
internal import ReachRecords

/// Name servers that answer everything, as those of login pages do.
extension DiagnosisFinding {
    mutating func examineCanary(of destination: DiagnosisDestination) {
        let own = Set(evidence.addresses(of: destination).map(\.address))
        for server in evidence.servers {
            let question = NameServerQuestion(server: server, name: evidence.canary, family: .ipv4)
            guard case .addresses(let addresses)? = evidence.asked(question), let first = addresses.first else {
                continue
            }
            let blame = complaint(server, "answers even for a name that cannot exist, with \(first)")
            steps.append(blame.step)
            if own.isEmpty || !own.isSubset(of: addresses) || evidence.isProved(destination.nextHost) {
                minor.append(blame)
            } else if evidence.isInternetProved {
                fail(missingName(destination.shownHost, server, addresses))
            } else {
                fatal.append(
                    Blame(
                        .localNetwork, .portal, .portal,
                        "the name server \(server.host) leads every name to \(first), as login pages do"))
            }
        }
    }

    /// No login page, where pages answer: a page for names that do not exist. A name that the server knows shows that
    /// it gives this page not for all.
    private func missingName(_ name: String, _ server: NameServerAddress, _ page: [IPAddress]) -> Blame {
        let clause: Clause =
            "there is no name \(name): the name server \(server.host) gives \(page[0]) for every name that does not exist"
        let knowsOthers = evidence.names.contains { other in
            evidence.answers(of: server, about: other).contains {
                if case .addresses(let found) = $0 { Set(found).isDisjoint(with: page) } else { false }
            }
        }
        guard !knowsOthers else { return Blame(.server, .name, .name, clause) }
        return Blame(
            .undecided, .name, .name, "\(clause), or for every name", between: [.server, .nameServer])
    }
}
