package import ReachCore

/// Why the Internet does not answer as it should, in the order in which attempts get further: the last one tells most.
package enum ValidationTrouble: String, Hashable, Sendable, CaseIterable, Comparable {
    /// No name could be resolved.
    case nameNotResolved = "name-not-resolved"
    /// Names of the public DNS were answered with private addresses.
    case privateAddress = "private-address"
    /// Nothing came back, or not to the end.
    case noAnswer = "no-answer"
    /// Something else than expected came, and it is no portal.
    case wrongAnswer = "wrong-answer"
    /// Somebody answers with a certificate that is not the endpoint's.
    case certificate
    /// HTTP works and HTTPS does not.
    case onlyInsecure = "only-insecure"

    package static func < (left: ValidationTrouble, right: ValidationTrouble) -> Bool { left.place < right.place }

    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// For people.
    package var sentence: String {
        switch self {
        case .nameNotResolved: "no name can be resolved"
        case .privateAddress: "names are answered with private addresses"
        case .noAnswer: "nothing answers"
        case .wrongAnswer: "the endpoints do not answer as expected"
        case .certificate: "somebody answers in the endpoints' place, without their certificate"
        case .onlyInsecure: "HTTP gets through and HTTPS does not"
        }
    }
}

/// What one round of asking the endpoints proved of a path.
package enum ValidationResult: Hashable, Sendable {
    case full
    case portal(url: String)
    case limited(ValidationTrouble)
    /// Nothing that could be believed.
    case inconclusive

    /// What the findings of a round amount to.
    ///
    /// - Proof by HTTPS decides alone: no portal and no rewriting proxy has the endpoint's key.
    /// - Otherwise HTTP decides, by the majority of those that answered; one endpoint that is blocked, down or rewritten
    ///   does not outweigh others, and a portal wins a tie.
    /// - Where HTTP proves and HTTPS was asked for, and failed everywhere, only a part of the Internet gets through.
    ///
    /// - Parameter findings: What was found of each endpoint, and whether it is one of HTTPS.
    package init(_ findings: [(finding: EndpointFinding, isSecure: Bool)]) {
        let secure = findings.filter(\.isSecure).map(\.finding)
        let plain = findings.filter { !$0.isSecure }.map(\.finding)
        if secure.contains(.proof) {
            self = .full
            return
        }
        let proofs = plain.count { $0 == .proof }
        let portals = plain.compactMap(\.portal)
        let secureTrouble = secure.compactMap(\.trouble)
        if let portal = portals.first, portals.count >= proofs {
            self = .portal(url: portal)
        } else if proofs > 0 {
            self = secureTrouble.isEmpty ? .full : .limited(.onlyInsecure)
        } else if let trouble = (secureTrouble + plain.compactMap(\.trouble)).max() {
            self = .limited(trouble)
        } else {
            self = .inconclusive
        }
    }

    /// `nil` for a result that proves nothing.
    package var connectivity: Connectivity? {
        switch self {
        case .full: .full
        case .portal: .portal
        case .limited: .limited
        case .inconclusive: nil
        }
    }

    package var portal: String? {
        guard case .portal(let url) = self else { return nil }
        return url
    }

    package var trouble: ValidationTrouble? {
        guard case .limited(let trouble) = self else { return nil }
        return trouble
    }

    /// Whether findings that are still missing could change the result: no, once HTTPS has proved it.
    package static func isDecided(by findings: [(finding: EndpointFinding, isSecure: Bool)]) -> Bool {
        findings.contains { $0.isSecure && $0.finding == .proof }
    }
}

extension EndpointFinding {
    fileprivate var portal: String? {
        guard case .portal(let url) = self else { return nil }
        return url
    }

    fileprivate var trouble: ValidationTrouble? {
        guard case .failure(let trouble) = self else { return nil }
        return trouble
    }
}
