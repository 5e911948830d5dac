internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachTerminal

struct EnrollCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Print what hosts need to enrol once, or let them in.",
        discussion: """
            Prints a line HOST TOKEN for each host. `reach-fleet join` on the host makes the host's key and redeems \
            the token, while `reach-fleet enroll --serve` runs somewhere with the folder of the accounts. A token is \
            good once, for one host, and for the time of --valid. Without --serve nothing is connected to.

            Example: reach fleet enroll --accounts /etc/fleet till-7 till-8
            """)

    @Option(help: ArgumentHelp("The folder that `reach-fleet config --accounts` made.", valueName: "directory"))
    var accounts: String

    @Flag(help: "Answer hosts until it is stopped, with the rights of an administrator.")
    var serve = false

    @Option(
        name: .customLong("group"), help: ArgumentHelp("A group of these hosts. May be repeated.", valueName: "group"),
        transform: { try FleetArgument.host($0) })
    var groups: [String] = []

    @Option(
        help: ArgumentHelp("How long a token may be redeemed.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var valid: Duration = .seconds(86_400)

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long a host is let in by what it gets, with --serve.", valueName: "duration"),
        transform: { try FleetArgument.life($0) })
    var life: Duration = FleetArgument.standardLife

    @Argument(help: "The hosts' identities.", transform: { try FleetArgument.host($0) })
    var hosts: [String] = []

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        guard serve == hosts.isEmpty else {
            throw ValidationError(serve ? "--serve needs no hosts" : "hosts are missing, or --serve")
        }
        guard !serve || groups.isEmpty else { throw ValidationError("a token has its groups: --group is for tokens") }
    }

    func run() throws {
        let folder = AccountFolder(path: accounts)
        guard !serve else {
            let desk = try EnrolmentDesk(folder, life: life)
            return try desk.serve(engine)
        }
        let issuer = try folder.issuer(of: .token)
        for host in hosts {
            let key = try NKeyPair.generate()
            let token = try issuer.token(for: key.publicKey, name: host, groups: groups, life: valid)
            StandardOutput.write("\(host) \(EnrolmentTicket(token: token, key: key).text)\n")
        }
    }
}

/// What `enroll` prints for a host: a token and the seed of its key, with a dot between.
struct EnrolmentTicket {
    let token: NATSToken
    let key: NKeyPair

    init(token: NATSToken, key: NKeyPair) {
        self.token = token
        self.key = key
    }

    /// Reads what `enroll` printed: the last word of the last line.
    init?(_ text: String) {
        guard let word = text.textWords.last, let dot = word.unicodeScalars.lastIndex(of: "."),
            let token = try? NATSToken(String(word[..<dot])),
            let key = try? NKeyPair(seed: String(word[word.unicodeScalars.index(after: dot)...])),
            key.publicKey == token.subject
        else { return nil }
        self.init(token: token, key: key)
    }

    var text: String { "\(token.text).\(key.seed)" }
}

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Print a token for a key whose public half is known.",
        discussion: """
            For people, and for hosts whose public half is at hand. The token is no secret: `reach-fleet key FILE \
            --token TOKENFILE` puts it into the file of the key. Nothing is connected to, so a host of the list of \
            hosts (`setup --hosts`) is let in, and readers know it.

            Example: reach fleet sign --accounts /etc/fleet --role reader alice KEY
            """)

    @Option(help: ArgumentHelp("The folder that `reach-fleet config --accounts` made.", valueName: "directory"))
    var accounts: String

    @Option(
        help: ArgumentHelp("What it is: host, reader, operator or admin.", valueName: "role"),
        transform: { text in
            guard let role = FleetAccounts.Role(rawValue: text), role.isSigned else {
                throw ValidationError("'\(text)' is not host, reader, operator or admin")
            }
            return role
        })
    var role: FleetAccounts.Role = .host

    @Option(
        name: .customLong("group"),
        help: ArgumentHelp(
            "A group of the host, or one that the operator is limited to. May be repeated.", valueName: "group"),
        transform: { try FleetArgument.host($0) })
    var groups: [String] = []

    @Option(
        name: .customLong("for"), help: ArgumentHelp("How long it is let in.", valueName: "duration"),
        transform: { try FleetArgument.life($0) })
    var life: Duration = FleetArgument.standardLife

    @Argument(help: "The name: a host's identity.", transform: { try FleetArgument.host($0) })
    var name: String

    @Argument(help: "The public half of its key.")
    var key: String

    func validate() throws {
        guard (try? NKeyText.readUserPublic(key)) != nil else {
            throw ValidationError("KEY is not the public half of a user's key, which `reach-fleet key` prints")
        }
        guard groups.isEmpty || role == .host || role == .controller else {
            throw ValidationError("--group is for hosts and operators")
        }
    }

    func run() throws {
        let folder = AccountFolder(path: accounts)
        if role == .host, try folder.revoked().contains(key) { throw FleetFailure(.found, "the key was revoked") }
        let role: FleetAccounts.Role = self.role == .controller && !groups.isEmpty ? .groupController : self.role
        let token = try folder.issuer(of: role).token(for: key, name: name, groups: groups, life: life)
        StandardOutput.write(token.text + "\n")
    }
}
