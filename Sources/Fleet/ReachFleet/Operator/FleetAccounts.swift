package import ReachCore

/// The accounts of a fleet whose users have signed tokens instead of lines in the server's configuration, and what the
/// tokens say.
///
/// The rights stand in the accounts' tokens, once for each role, with a place for the user's name, key and groups. So a
/// user's token is small, and a right is changed in one place.
package struct FleetAccounts: Hashable, Sendable {
    /// An account of the server.
    package enum Account: String, CaseIterable, Hashable, Sendable {
        case system = "SYS"
        case streams = "REACH"
        case hosts = "HOSTS"
        case readers = "READERS"
        case controllers = "OPERATORS"

        fileprivate var listed: ServerConfiguration.Account? { ServerConfiguration.Account(rawValue: rawValue) }
    }

    /// What a user is. Each role has a key of its own that signs its tokens.
    package enum Role: String, CaseIterable, Hashable, Sendable {
        case host
        /// Whoever enrols as a host, once.
        case token
        case reader
        case controller = "operator"
        /// An operator of some groups only.
        case groupController = "group-operator"
        case administrator = "admin"
        /// Whoever gives the server the accounts' tokens.
        case system

        /// Whether `reach-fleet sign` makes a token for it.
        package var isSigned: Bool {
            switch self {
            case .host, .reader, .controller, .administrator: true
            case .token, .groupController, .system: false
            }
        }

        package var account: Account {
            switch self {
            case .host, .token: .hosts
            case .reader: .readers
            case .controller, .groupController: .controllers
            case .administrator: .streams
            case .system: .system
            }
        }
    }

    static let groupTag = "group:"
    /// The longest life of a user's token. What was revoked for longer need not be listed any more.
    package static let longestLife: Duration = .seconds(400 * 86_400)
    /// Clocks of those who sign and revoke may differ by this.
    private static let clockTolerance: Int64 = 86_400

    /// The operator's own key, and the one that signs the accounts' tokens.
    package let owner: String
    package let signer: String
    /// The accounts' own keys, which only name them.
    package let accounts: [Account: String]
    package let signers: [Role: String]

    package init(owner: String, signer: String, accounts: [Account: String], signers: [Role: String]) {
        (self.owner, self.signer, self.accounts, self.signers) = (owner, signer, accounts, signers)
    }

    private func key(_ account: Account) -> String { accounts[account] ?? "" }

    // MARK: - The operator and the accounts

    package func operatorClaims(issued: Int64) -> NATSClaims {
        NATSClaims(
            subject: owner, name: "reach", issuer: owner, issued: issued,
            body: [
                "type": .string("operator"), "version": .integer(2), "signing_keys": .array([.string(signer)]),
                "system_account": .string(key(.system)), "strict_signing_key_usage": .bool(true),
            ])
    }

    /// - Parameter revoked: Keys that are no longer let in, each with the time before which its tokens were signed.
    package func claims(of account: Account, revoked: [String: Int64] = [:], issued: Int64) -> NATSClaims {
        var body: [String: JSONValue] = [
            "type": .string("account"), "version": .integer(2), "limits": limits(account),
            "exports": .array(exports(account)),
            "imports": .array(imports(account)),
            "signing_keys": .array(Role.allCases.filter { $0.account == account }.map(scope)),
        ]
        if !revoked.isEmpty { body["revocations"] = .object(revoked.mapValues { .integer($0) }) }
        return NATSClaims(
            subject: key(account), name: account.rawValue, issuer: signer, issued: issued, body: body)
    }

    /// The revoked keys in an account's token.
    package static func revoked(in token: NATSToken) -> [String: Int64] {
        (token.body["revocations"]?.object ?? [:]).compactMapValues(\.integer)
    }

    /// Adds keys, and leaves out those whose tokens have all ended.
    package static func revoking(_ keys: [String], in revoked: [String: Int64], at now: Int64) -> [String: Int64] {
        let oldest = now - longestLife.nanoseconds / 1_000_000_000 - clockTolerance
        var revoked = revoked.filter { $0.value >= oldest }
        for key in keys { revoked[key] = now + clockTolerance }
        return revoked
    }

    private func limits(_ account: Account) -> JSONValue {
        var limits: [String: JSONValue] = [
            "subs": Self.unlimited, "data": Self.unlimited, "imports": Self.unlimited, "exports": Self.unlimited,
            "wildcards": .bool(true), "conn": Self.unlimited,
            // The accounts' own tokens may be longer than what anybody else sends.
            "payload": account == .system ? Self.unlimited : .integer(ServerConfiguration.longestMessage),
        ]
        if account == .streams {
            for name in ["mem_storage", "disk_storage", "streams", "consumer"] {
                limits[name] = Self.unlimited
            }
        }
        return .object(limits)
    }

    private func exports(_ account: Account) -> [JSONValue] {
        switch account {
        case .system:
            ["$SYS.ACCOUNT.*.CONNECT", "$SYS.ACCOUNT.*.DISCONNECT"].map { Self.export(stream: $0) }
                + [Self.export(service: Self.status, isStreamed: true)]
        case .streams: Self.services.map { Self.export(service: $0.subject, isStreamed: $0.isStreamed) }
        case .controllers: [Self.export(stream: FleetNames.announcementSubject(ofKey: ">"))]
        case .hosts, .readers: []
        }
    }

    private func imports(_ account: Account) -> [JSONValue] {
        let services = (account.listed?.services ?? []).map { importing(service: $0, from: .streams) }
        let status = importing(service: Self.status, from: .system, to: FleetRights.serverSubject)
        switch account {
        case .system: return []
        case .streams:
            let reports = [("CONNECT", "up"), ("DISCONNECT", "down")].map { event, word in
                importing(
                    stream: "$SYS.ACCOUNT.\(key(.hosts)).\(event)", from: .system,
                    to: "reach.v1.conn.\(word).HOSTS")
            }
            return reports + [status]
        case .hosts:
            return services + [
                importing(service: Enrolment.subject(host: "*", key: "*"), from: .streams),
                importing(
                    stream: FleetNames.announcementSubject(ofKey: ">"), from: .controllers,
                    to: FleetNames.subject(ofKey: ">", in: FleetNames.desired)),
            ]
        case .readers, .controllers: return services + [status]
        }
    }

    private static let unlimited = JSONValue.integer(-1)

    private static let status = "$SYS.REQ.SERVER.PING.VARZ"

    /// What the streams' account answers. The server refuses an export that another contains; an import may be narrower
    /// than its export, and each account's token says what it imports.
    private static var services: [(subject: String, isStreamed: Bool)] {
        let asked =
            Set(ServerConfiguration.Account.allCases.flatMap(\.services)).union([
                Enrolment.subject(host: "*", key: "*")
            ])
        return asked.filter { subject in !asked.contains { $0 != subject && SubjectPattern.contains($0, subject) } }
            .sorted().map { ($0, ServerConfiguration.isStreamed($0)) }
    }

    private static func export(stream subject: String) -> JSONValue {
        .object(["name": .string(subject), "subject": .string(subject), "type": .string("stream")])
    }

    private static func export(service subject: String, isStreamed: Bool) -> JSONValue {
        .object([
            "name": .string(subject), "subject": .string(subject), "type": .string("service"),
            "response_type": .string(isStreamed ? "Stream" : "Singleton"),
        ])
    }

    private func importing(service subject: String, from account: Account, to local: String? = nil) -> JSONValue {
        imported(subject, from: account, to: local, "service")
    }

    private func importing(stream subject: String, from account: Account, to local: String) -> JSONValue {
        imported(subject, from: account, to: local, "stream")
    }

    private func imported(_ subject: String, from account: Account, to local: String?, _ type: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(subject), "subject": .string(subject), "account": .string(key(account)),
            "type": .string(type),
        ]
        if let local { members["local_subject"] = .string(local) }
        return .object(members)
    }

    // MARK: - Roles

    /// What the users of a role may do.
    private func scope(_ role: Role) -> JSONValue {
        let rights = role.rights
        var template: [String: JSONValue] = [
            "pub": Self.allowing(rights.publish), "sub": Self.allowing(rights.subscribe),
            "subs": Self.unlimited, "data": Self.unlimited, "payload": Self.unlimited,
        ]
        // Whoever enrols answers each request once.
        if role == .administrator { template["resp"] = .object(["max": .integer(1), "ttl": .integer(60_000_000_000)]) }
        return .object([
            "kind": .string("user_scope"), "key": .string(signers[role] ?? ""), "role": .string(role.rawValue),
            "description": .string(""), "template": .object(template),
        ])
    }

    private static func allowing(_ subjects: [String]) -> JSONValue {
        .object(["allow": .array(subjects.map { .string($0) })])
    }

    // MARK: - Users

    package func userClaims(
        _ role: Role, key: String, name: String, groups: [String] = [], issued: Timestamp, life: Duration
    ) -> NATSClaims {
        var body: [String: JSONValue] = [
            "type": .string("user"), "version": .integer(2), "issuer_account": .string(self.key(role.account)),
        ]
        if !groups.isEmpty { body["tags"] = .array(groups.map { .string(Self.groupTag + $0) }) }
        let seconds = issued.nanosecondsSince1970 / 1_000_000_000
        return NATSClaims(
            subject: key, name: name, issuer: signers[role] ?? "", issued: seconds, issuedExactly: issued,
            expires: seconds + life.nanoseconds / 1_000_000_000, body: body)
    }
}

extension FleetAccounts.Role {
    /// The server puts the user's name, key and groups into these places.
    private static let name = "{{name()}}"
    private static let key = "{{subject()}}"
    private static let group = "{{tag(group)}}"

    fileprivate var rights: FleetRights {
        let enrolment = Enrolment.subject(host: Self.name, key: Self.key)
        switch self {
        case .host:
            let rights = FleetRights.host(Self.name, desired: ["host.\(Self.name)", "group.\(Self.group)", "all"])
            return FleetRights(publish: rights.publish + [enrolment], subscribe: rights.subscribe)
        case .token: return FleetRights(publish: [enrolment], subscribe: ["\(Enrolment.inbox(of: Self.key)).>"])
        case .reader: return .reader
        case .controller: return .controller(Self.key)
        case .groupController: return .controller(Self.key, groups: [Self.group])
        case .administrator:
            let rights = FleetRights.administrator(Self.key)
            return FleetRights(
                publish: rights.publish, subscribe: rights.subscribe + [Enrolment.subject(host: "*", key: "*")])
        case .system:
            return FleetRights(
                publish: [FleetAccounts.updateSubject], subscribe: FleetRights.reader.subscribe)
        }
    }
}

extension FleetAccounts {
    /// Where the servers receive an account's token.
    package static let updateSubject = "$SYS.REQ.CLAIMS.UPDATE"
}

/// Subjects with wildcards.
package enum SubjectPattern {
    /// Whether all subjects of `narrow` are subjects of `wide`.
    package static func contains(_ wide: String, _ narrow: String) -> Bool {
        let (wide, narrow) = (wide.split(scalar: "."), narrow.split(scalar: "."))
        for (index, token) in wide.enumerated() {
            guard index < narrow.count else { return false }
            if token == ">" { return true }
            guard token == "*" ? narrow[index] != ">" : token == narrow[index] else { return false }
        }
        return wide.count == narrow.count
    }
}
