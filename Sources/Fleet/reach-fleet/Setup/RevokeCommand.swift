internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachTerminal

struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Shut hosts' keys out at once, where hosts have tokens.",
        discussion: """
            The server ends the connections of these keys at once and refuses them from then on, also after a restart; \
            other hosts stay connected. A host gets in again with a new key: `reach-fleet enroll`. Without hosts and \
            keys it gives the server the accounts' tokens again, such as after an older store was restored.

            Exit status: 0 the server has it, 3 no such host.

            Example: reach fleet revoke --accounts /etc/fleet till-7
            """)

    @Option(help: ArgumentHelp("The folder that `reach-fleet config --accounts` made.", valueName: "directory"))
    var accounts: String

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp("A key instead of all keys of a host. May be repeated.", valueName: "key"))
    var keys: [String] = []

    @Argument(help: "The hosts' identities.", transform: { try FleetArgument.host($0) })
    var hosts: [String] = []

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        for key in keys where (try? NKeyText.readUserPublic(key)) == nil {
            throw ValidationError("'\(key)' is not the public half of a user's key")
        }
    }

    func run() throws {
        let folder = AccountFolder(path: accounts)
        let known = try folder.accounts()
        let session = try OperatorSession(engine)
        var revoked = keys.map { (name: $0, key: $0) }
        for host in hosts {
            try session.check([host])
            let value = try session.jetStream.entry(host, in: HostList.bucket)?.value
            guard let entry = value.flatMap({ HostList.entry(host, $0) }) else {
                throw FleetFailure(.unknown, "the list of hosts has no key of '\(host)'")
            }
            revoked += entry.keys.map { (name: host, key: $0) }
        }
        _ = try folder.update(.hosts, of: known, revoke: revoked.map(\.key))
        try push(revoked.isEmpty ? FleetAccounts.Account.allCases : [.hosts], folder, known)
        for (name, key) in revoked {
            session.record(OperatorAction(.revoke, on: name, text: "key \(key)"))
            StandardOutput.write(lines: name == key ? "\(key): revoked\n" : "\(name): revoked, key \(key)\n")
        }
        if revoked.isEmpty { StandardOutput.write(lines: "the server has the accounts' tokens\n") }
    }

    /// Gives the server accounts' tokens. It keeps them in its folder, and hands them to the other servers of a
    /// cluster.
    private func push(_ accounts: [FleetAccounts.Account], _ folder: AccountFolder, _ known: FleetAccounts) throws {
        var settings = try engine.settings()
        settings.identity = try folder.systemIdentity()
        let link: NATSLink
        do throws(NATSError) {
            link = try NATSLink.connect(settings)
        } catch {
            throw FleetFailure(
                FleetFailure(error).status, "the server does not have it yet; run this again: \(error.description)")
        }
        for account in accounts {
            let token = try folder.update(account, of: known)
            let reply = try link.request(FleetAccounts.updateSubject, Array(token.text.utf8), within: .seconds(30))
            let answer = try? JSONReader.read(reply.payload)
            guard answer?["data"]?["code"]?.integer == 200 else {
                let words = answer?["error"]?["description"]?.string ?? "it does not say why"
                throw FleetFailure(
                    .unavailable,
                    "the server does not accept the token of \(account.rawValue): \(DisplayText.sanitized(words))")
            }
        }
    }
}
