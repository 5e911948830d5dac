internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop

/// The folder with the keys that sign tokens, and with the tokens of the operator and the accounts. Whoever can read it
/// can let anybody in.
///
/// `operator.nk` is needed only when the folder is made. `operator-signing.nk` signs the accounts' tokens, and
/// `sign-ROLE.nk` the tokens of users: a machine that only enrols hosts needs `HOSTS.jwt`, `sign-host.nk` and
/// `sign-token.nk`.
struct AccountFolder {
    let path: String

    /// Makes keys and tokens that are not there.
    static func open(orMake path: String) throws -> AccountFolder {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw FleetFailure(.cannotCreate, "\(DisplayText.sanitized(path)): \(SystemError.text(errno))")
        }
        let folder = AccountFolder(path: path)
        guard !folder.exists("operator.jwt") else { return folder }
        guard folder.exists("operator.nk") || !folder.exists("HOSTS.jwt") else {
            throw FleetFailure(
                .cannotRead, DisplayText.sanitized("\(path): it has a part of a fleet's accounts, without operator.jwt")
            )
        }
        try folder.make()
        return folder
    }

    private func make() throws {
        let owner = try keyOrNew("operator", .operator)
        let signer = try keyOrNew("operator-signing", .operator)
        var signers: [FleetAccounts.Role: String] = [:]
        for role in FleetAccounts.Role.allCases {
            signers[role] = try keyOrNew("sign-\(role.rawValue)", .account).publicKey
        }
        var keys: [FleetAccounts.Account: String] = [:]
        // Nobody signs with an account's own key, so its seed is not kept.
        for account in FleetAccounts.Account.allCases {
            keys[account] = try token(account)?.subject ?? NKeyPair.generate(.account).publicKey
        }
        let accounts = FleetAccounts(
            owner: owner.publicKey, signer: signer.publicKey, accounts: keys, signers: signers)
        let now = Self.now
        for account in FleetAccounts.Account.allCases where !exists("\(account.rawValue).jwt") {
            try write("\(account.rawValue).jwt", signer.sign(accounts.claims(of: account, issued: now)).text)
        }
        // The last one says that all are there.
        try write("operator.jwt", owner.sign(accounts.operatorClaims(issued: now)).text)
    }

    /// Seconds since 1970, as tokens have them.
    static var now: Int64 { SystemClock.now.wall.nanosecondsSince1970 / 1_000_000_000 }

    // MARK: - Accounts

    /// The public halves of all keys.
    func accounts() throws -> FleetAccounts {
        let owner = try requiredToken("operator")
        var keys: [FleetAccounts.Account: String] = [:]
        for account in FleetAccounts.Account.allCases { keys[account] = try requiredToken(account.rawValue).subject }
        var signers: [FleetAccounts.Role: String] = [:]
        for role in FleetAccounts.Role.allCases { signers[role] = try signer(of: role).publicKey }
        return FleetAccounts(
            owner: owner.subject, signer: try key("operator-signing", .operator).publicKey, accounts: keys,
            signers: signers)
    }

    /// What the server's configuration needs. Tokens whose rights another version of this program wrote are signed
    /// again.
    func serverTokens() throws -> ServerConfiguration.Tokens {
        let accounts = try accounts()
        var list: [ServerConfiguration.Tokens.Account] = []
        for account in FleetAccounts.Account.allCases {
            let token = try update(account, of: accounts)
            list.append(.init(name: account.rawValue, key: token.subject, token: token.text))
        }
        return .init(operatorToken: try requiredToken("operator").text, accounts: list)
    }

    /// Signs an account's token again if it would say something else.
    ///
    /// - Parameter revoke: Keys that are no longer let in.
    func update(
        _ account: FleetAccounts.Account, of accounts: FleetAccounts, revoke: [String] = []
    ) throws -> NATSToken {
        let lock = try locked()
        defer { withExtendedLifetime(lock) {} }
        let old = try requiredToken(account.rawValue)
        // The server keeps the newer of two tokens.
        let issued = max(Self.now, old.issued + 1)
        let revoked = FleetAccounts.revoking(revoke, in: FleetAccounts.revoked(in: old), at: issued)
        let claims = accounts.claims(of: account, revoked: revoked, issued: issued)
        guard JSONValue.object(claims.body) != JSONValue.object(old.body) || old.issuer != claims.issuer else {
            return old
        }
        let token = try key("operator-signing", .operator).sign(claims)
        guard token.text.utf8.count < Self.longestToken else {
            throw FleetFailure(
                .unavailable,
                "\(revoked.count) revoked keys are more than a server accepts: "
                    + "make new accounts, and enrol the hosts again")
        }
        try write("\(account.rawValue).jwt", token.text)
        return token
    }

    /// The server's `max_payload` is 1 MB.
    private static let longestToken = 1_000_000

    /// Keys of hosts that are no longer let in.
    func revoked() throws -> Set<String> {
        Set(FleetAccounts.revoked(in: try requiredToken(FleetAccounts.Account.hosts.rawValue)).keys)
    }

    // MARK: - Users

    func signer(of role: FleetAccounts.Role) throws -> NKeyPair { try key("sign-\(role.rawValue)", .account) }

    /// Signs users' tokens of one role.
    func issuer(of role: FleetAccounts.Role) throws -> TokenIssuer {
        let signer = try signer(of: role)
        let account = try requiredToken(role.account.rawValue).subject
        let accounts = FleetAccounts(
            owner: "", signer: "", accounts: [role.account: account], signers: [role: signer.publicKey])
        return TokenIssuer(role: role, accounts: accounts, signer: signer)
    }

    /// Who gives the server new tokens, for a few minutes.
    func systemIdentity() throws -> NATSIdentity {
        let key = try NKeyPair.generate()
        let token = try issuer(of: .system).token(for: key.publicKey, name: "system", life: .seconds(600))
        return .token(token, key)
    }

    // MARK: - Files

    /// Keeps other programs from changing the tokens of accounts until it ends: what one of them revoked must not be
    /// lost.
    private func locked() throws -> FileDescriptor {
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw unreadable("", SystemError.text(errno)) }
        let directory = FileDescriptor(owning: number)
        guard flock(number, LOCK_EX) == 0 else { throw unreadable("", SystemError.text(errno)) }
        return directory
    }

    private func file(_ name: String) -> String { "\(path)/\(name)" }

    private func exists(_ name: String) -> Bool { access(file(name), F_OK) == 0 }

    private func write(_ name: String, _ text: String) throws {
        do throws(SystemError) {
            try AtomicFile.replace(file(name), with: Array((text + "\n").utf8), mode: 0o600)
        } catch {
            throw FleetFailure(.cannotCreate, DisplayText.sanitized("\(error)"))
        }
    }

    private func token(_ account: FleetAccounts.Account) throws -> NATSToken? {
        exists("\(account.rawValue).jwt") ? try requiredToken(account.rawValue) : nil
    }

    private func requiredToken(_ name: String) throws -> NATSToken {
        guard let text = SmallFile.text(file("\(name).jwt"), limit: NATSToken.sizeLimit) else {
            throw unreadable("\(name).jwt", SystemError.text(errno))
        }
        guard let token = text.textWords.first.flatMap({ try? NATSToken(String($0)) }) else {
            throw unreadable("\(name).jwt", "it is no token")
        }
        return token
    }

    private func keyOrNew(_ name: String, _ kind: NKeyKind) throws -> NKeyPair {
        guard !exists("\(name).nk") else { return try key(name, kind) }
        let pair = try NKeyPair.generate(kind)
        try write("\(name).nk", pair.seed)
        return pair
    }

    private func key(_ name: String, _ kind: NKeyKind) throws -> NKeyPair {
        let name = "\(name).nk"
        var status = stat()
        guard stat(file(name), &status) == 0, let text = SmallFile.text(file(name), limit: 4096) else {
            throw unreadable(name, SystemError.text(errno))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw unreadable(name, "others may read or change it; chmod 600 '\(file(name))'")
        }
        do throws(NATSError) {
            return try NKeyPair(seed: text.textWords.first.map(String.init) ?? "", kind)
        } catch {
            throw unreadable(name, error.description)
        }
    }

    private func unreadable(_ name: String, _ why: String) -> FleetFailure {
        FleetFailure(
            .cannotRead,
            "\(DisplayText.sanitized(file(name))): \(why); `reach-fleet config --accounts` makes such a folder")
    }
}

/// Signs users' tokens of one role.
struct TokenIssuer {
    let role: FleetAccounts.Role
    let accounts: FleetAccounts
    let signer: NKeyPair

    func token(for key: String, name: String, groups: [String] = [], life: Duration) throws(NATSError) -> NATSToken {
        try signer.sign(
            accounts.userClaims(role, key: key, name: name, groups: groups, issued: SystemClock.now.wall, life: life))
    }
}
