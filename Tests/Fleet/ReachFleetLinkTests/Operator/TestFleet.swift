import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting

/// A fleet as an operator makes it with `reach-fleet` alone: keys, the printed configuration, a real nats-server,
/// streams.
final class TestFleet {
    static let program = BuiltProgram(named: "reach-fleet")

    let directory: TemporaryDirectory
    let server: NATSServerProcess
    /// The program that serves.
    let nats: String
    let version: String
    private let operators: Set<String>

    /// - Parameters:
    ///   - hosts: The hosts in the list.
    ///   - sharesAccount: Whether all are in the account of the streams, as earlier versions had it.
    ///   - store: The folder of the streams, if it is elsewhere.
    ///   - words: What follows a host's key in the list.
    ///   - renewing: Hosts with a second key, in `HOST-new.nk`.
    ///   - operators: Operators with names, and their groups.
    ///   - hasTokens: Whether users have signed tokens instead of lines in the server's configuration.
    init(
        hosts: [String] = ["till-1", "till-2"], nats: String = "nats-server", isSetUp: Bool = true,
        sharesAccount: Bool = false, storeSize: String = "10GB", in store: String? = nil,
        words: (String) -> String = { _ in "tills" }, renewing: Set<String> = [], operators: [String: String] = [:],
        hasTokens: Bool = false
    ) throws {
        directory = try TemporaryDirectory()
        self.nats = nats
        version = nats == "nats-server" ? "2.9.10" : "2.15.1"
        let path = directory.path
        var list = "# the tills\n"
        for host in hosts {
            let second = renewing.contains(host) ? "," + (try Self.key(path + "/\(host)-new.nk")) : ""
            list += "\(host) \(try Self.key(path + "/\(host).nk"))\(second) \(words(host))\n"
        }
        try directory.file("hosts", list)
        var named = ""
        for (name, groups) in operators.sorted(by: { $0.key < $1.key }) {
            named += "\(name) \(try Self.key(path + "/\(name).nk")) \(groups)\n"
        }
        try directory.file("operators", named)
        self.operators = Set(operators.keys)
        var text =
            try hasTokens
            ? Self.tokenConfiguration(path, version, storeSize)
            : Self.configuration(path, version, storeSize, store ?? path + "/store")
        if sharesAccount { text = Self.sharing(text) }
        server = try NATSServerProcess(text, program: nats, in: directory, listens: false)
        if hasTokens {
            for host in hosts { try addToken(host, ["--group", String(words(host).split(separator: " ")[0])]) }
            for role in ["admin", "operator", "reader"] { try addToken(role, ["--role", role]) }
            for (name, groups) in operators {
                try addToken(
                    name, ["--role", "operator"] + groups.split(separator: " ").flatMap { ["--group", String($0)] })
            }
        }
        if isSetUp {
            try expectSuccess(
                run("setup", as: "admin", ["--hosts", path + "/hosts", "--operators", path + "/operators"]))
        }
    }

    /// The folder of the accounts, of a fleet whose users have tokens.
    var accounts: String { directory.path + "/accounts" }

    private static func tokenConfiguration(_ path: String, _ version: String, _ storeSize: String) throws -> String {
        for name in ["admin", "operator", "reader"] { _ = try key(path + "/\(name).nk") }
        return try succeeding(
            program.run([
                "config", "--accounts", path + "/accounts", "--listen", "127.0.0.1:-1", "--store", path + "/store",
                "--store-size", storeSize, "--for", version,
            ])
        ).standardOutput
    }

    /// Signs a token for the key in a user's file, and puts it there.
    func addToken(_ name: String, _ options: [String] = []) throws {
        let file = "\(directory.path)/\(name).nk"
        let signed = try succeeding(
            Self.program.run(["sign", "--accounts", accounts, name, Self.key(file)] + options))
        try directory.file("\(name).jwt", signed.standardOutput)
        _ = try succeeding(Self.program.run(["key", file, "--token", "\(directory.path)/\(name).jwt"]))
    }

    private static func key(_ file: String) throws -> String {
        try firstLine(program.run(["key", file]))
    }

    /// One account: the users of all, without imports from each other.
    private static func sharing(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let separate = lines.firstIndex { $0.hasPrefix("  HOSTS {") } ?? lines.count
        let users = lines[separate...].filter {
            $0.hasPrefix("      { nkey:") || $0.hasPrefix("        publish:") || $0.hasPrefix("        subscribe:")
        }
        var shared = lines[..<separate].filter { !$0.contains("accounts: [") }
        if let index = shared.firstIndex(where: { $0.hasPrefix("    users: [") }) {
            shared.insert(contentsOf: users, at: index + 1)
        }
        return (shared.map { $0.replacing("ACCOUNT.HOSTS", with: "ACCOUNT.REACH") } + ["}", ""]).joined(separator: "\n")
    }

    private static func configuration(
        _ path: String, _ version: String, _ storeSize: String, _ store: String
    ) throws -> String {
        let keys = try ["admin", "operator", "reader"].map { try key(path + "/\($0).nk") }
        return try succeeding(
            program.run([
                "config", "--hosts", path + "/hosts", "--operators", path + "/operators", "--admin", keys[0],
                "--operator", keys[1], "--reader", keys[2],
                "--listen", "127.0.0.1:-1", "--store", store, "--store-size", storeSize,
                "--for", version,
            ])
        ).standardOutput
    }

    /// Runs a command with the key of somebody.
    @discardableResult
    func run(_ command: String, as user: String = "reader", _ arguments: [String] = []) throws -> BuiltProgram.Result {
        try Self.program.run(
            [command] + access(user) + arguments, environment: ["XDG_CACHE_HOME": cache], limit: .seconds(60))
    }

    func start(_ command: String, as user: String = "reader", _ arguments: [String] = []) throws -> RunningProgram {
        try Self.program.start([command] + access(user) + arguments, environment: ["XDG_CACHE_HOME": cache])
    }

    /// The lines that a command prints on a terminal.
    func lines(of command: String, columns: Int) throws -> [String] {
        let words = ([Self.program.path, command] + access("reader")).joined(separator: " ")
        let terminal = "stty cols \(columns) rows 50; env TERM=dumb XDG_CACHE_HOME=\(cache) \(words)"
        return try BuiltProgram(named: "/bin/sh").run(
            ["-c", "script -qc '\(terminal)' /dev/null </dev/null"], limit: .seconds(60)
        ).standardOutput.split(separator: "\r\n").map(String.init)
    }

    /// Where its readers keep what they read.
    var cache: String { directory.path + "/cache" }

    private func access(_ user: String) -> [String] {
        ["--server", "nats://127.0.0.1:\(server.port)", "--key-file", "\(directory.path)/\(user).nk"]
    }

    /// Connects as a host does, or as a reader.
    ///
    /// - Parameter file: The name of the key's file, if it is not the user's.
    func link(
        as user: String, with file: String? = nil, onEvent: @escaping @Sendable (NATSLink.Event) -> Void = { _ in }
    ) throws -> NATSLink {
        let isHost = !operators.union(["admin", "operator", "reader"]).contains(user)
        let identity = try NATSIdentity.read("\(directory.path)/\(file ?? user).nk")
        let settings = try server.settings {
            $0.identity = identity
            $0.inbox =
                isHost ? FleetRights.hostInbox(user) : "\(FleetRights.readerInbox).\(SubjectToken.random())"
        }
        return try NATSLink.connect(settings, onEvent: onEvent)
    }

    func expectSuccess(_ result: BuiltProgram.Result) throws {
        guard result.status == 0 else {
            throw NotInTime(description: "\(result.status): \(result.standardOutput)\(result.standardError)")
        }
    }
}

/// The result of a program that must end with 0.
func succeeding(_ result: BuiltProgram.Result) throws -> BuiltProgram.Result {
    guard result.status == 0 else { throw NotInTime(description: "\(result.status): \(result.standardError)") }
    return result
}

/// The first line of what a program printed, whatever its exit status.
func firstLine(_ result: BuiltProgram.Result) throws -> String {
    guard let line = result.lines.first else {
        throw NotInTime(description: "no output, status \(result.status): \(result.standardError)")
    }
    return line
}

/// A host as the agent would show it, by values alone.
struct FakeHost {
    let link: NATSLink
    let id: String
    var log = "log1"
    var n: UInt64 = 0
    var tail: UInt64 = 0

    init(_ id: String, in fleet: TestFleet, with file: String? = nil) throws {
        self.id = id
        link = try fleet.link(as: id, with: file)
    }

    /// - Parameter ahead: By how much its clock is wrong.
    func put(ahead: Duration = .zero, _ change: (inout HostState) -> Void = { _ in }) throws {
        let now = SystemClock.now
        var state = HostState(
            host: id, version: "1", written: Instant(wall: now.wall + ahead, boot: now.boot), boot: "b",
            lease: .seconds(2))
        state.status = HostStatus(.reachable, linkClass: .wifi, connectivity: .full, since: now.wall + ahead)
        state.groups = ["tills"]
        state.accepts = ["queue-hold"]
        change(&state)
        try JetStream(link).put(id, in: FleetNames.state, state.bytes)
    }

    func renew() throws {
        let lease = HostLease(boot: "b", n: n, since: SystemClock.now.wall, behind: 0)
        _ = try JetStream(link).append(
            FleetNames.subject(ofKey: id, in: FleetNames.lease), lease.bytes)
    }

    /// Sends an event: the Internet's status.
    mutating func send(
        _ status: ReachabilityStatus, reason: Reason? = nil, ahead: Duration = .zero
    ) throws {
        n += 1
        let now = SystemClock.now
        var writer = JSONWriter()
        writer.object {
            $0.field("v", 1)
            $0.field("type", "change")
            $0.field("log", log)
            $0.field("n", Int64(n))
            $0.field("time", now.wall + ahead)
            $0.field("boottime_ns", now.boot.nanoseconds)
            $0.key("status")
            HostStatus(status, reason: reason).write(to: &$0)
        }
        let chunk = EventChunk(
            log: log, first: n, last: n, boot: "b", eventBoot: "b",
            sent: Instant(wall: now.wall + ahead, boot: now.boot),
            lines: [writer.bytes])
        tail = try JetStream(link).append(
            FleetNames.eventSubject(of: id), headers: chunk.headers(expecting: tail), chunk.payload
        ).sequence
    }
}
