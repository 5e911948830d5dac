package import ReachCore

/// Why the Internet does not answer as it should, ordered by how far the attempt got: the last one says most.
package enum ValidationTrouble: String, Hashable, Sendable, CaseIterable, Comparable {
    /// No name could be resolved.
    case nameNotResolved = "name-not-resolved"
    /// Names of the public DNS resolve to addresses of no host, as a filter answers.
    case privateAddress = "private-address"
    /// No answer came, or none that was complete.
    case noAnswer = "no-answer"
    /// The answer is neither the expected one nor a portal's.
    case wrongAnswer = "wrong-answer"
    /// Another host answers, with a certificate that is not the endpoint's.
    case certificate
    /// HTTP works, but HTTPS does not.
    case onlyInsecure = "only-insecure"

    package static func < (left: ValidationTrouble, right: ValidationTrouble) -> Bool { left.place < right.place }

    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The result of one check of a path: of a round of requests to the endpoints.
package enum ValidationResult: Hashable, Sendable {
    case full
    case portal(url: String)
    case limited(ValidationTrouble)
    /// The round proved nothing.
    case inconclusive

    /// Combines the findings of a round.
    ///
    /// - Proof by HTTPS decides alone: no portal and no rewriting proxy has the endpoint's key.
    /// - Otherwise HTTP decides, by the majority of the endpoints that answered, so that one that is blocked, down or
    ///   rewritten does not outweigh others. A portal wins a tie.
    /// - If HTTP gives proof, but all HTTPS endpoints failed, only part of the Internet gets through.
    ///
    /// - Parameter findings: The finding for each endpoint, and whether the endpoint uses HTTPS.
    package init(_ findings: [(finding: EndpointFinding, isSecure: Bool)]) {
        let secure = findings.filter(\.isSecure).map(\.finding)
        let plain = findings.filter { !$0.isSecure }.map(\.finding)
        if secure.contains(.proof) {
            self = .full
            return
        }
        let proofs = plain.count { $0 == .proof }
        // HTTPS shows a portal where the name has the portal's address.
        let portals = (plain + secure).compactMap(\.portal)
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

    /// The connectivity that the result proves; `nil` if it proves nothing.
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

    /// Whether missing findings can no longer change the result, since HTTPS has proved it.
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
