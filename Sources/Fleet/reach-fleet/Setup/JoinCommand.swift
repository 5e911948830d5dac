internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal

struct JoinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Enrol this host with a token for one use, or renew its own.",
        discussion: """
            Makes the host's key in FILE, if it has none, and redeems the token that `reach-fleet enroll` printed. \
            FILE then has the key and the host's own token, as reach-fleet.toml's `credentials` names it. The key \
            never leaves the host. Without --token it renews the host's own token. Somebody must answer, by \
            `reach-fleet enroll --serve`.

            Exit status: 0 enrolled, 77 refused, 75 nobody answers now.

            Example: reach fleet join --token token.txt /etc/reach/fleet.nk
            """)

    @Option(
        help: ArgumentHelp("The file with what `reach-fleet enroll` printed; - for standard input.", valueName: "file"))
    var token: String?

    @Option(
        name: .customLong("server"),
        help: ArgumentHelp(
            "A server of the fleet; by default those in REACH_FLEET_SERVER. May be repeated.", valueName: "url"))
    var servers: [String] = []

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp(
            "Certificate authorities besides the system's; by default that in REACH_FLEET_CA.", valueName: "file"))
    var authorities: String?

    @Argument(help: "The file of the host's key and token.")
    var file: String

    /// The longest wait for an answer.
    private static let patience: Duration = .seconds(20)

    func run() throws {
        let ticket = try token.map(readTicket)
        let (key, own) = try ownKey(mayMake: ticket != nil)
        guard let shown = ticket?.token ?? own else {
            throw FleetFailure(.usage, "'\(file)' has no token of its own to renew: --token FILE")
        }
        let (host, asker) = (shown.name, ticket?.key ?? key)
        var settings = try EngineOptions.settings(servers: servers, authorities: authorities)
        settings.identity = .token(shown, asker)
        settings.inbox = ticket == nil ? FleetRights.hostInbox(host) : Enrolment.inbox(of: asker.publicKey)
        let request = Enrolment.Request(
            host: host, asker: asker.publicKey, key: key.publicKey, ticket: ticket?.token)
        let answer = try ask(request, settings, end: shown.expires)
        guard answer.subject == key.publicKey, answer.name == host else {
            throw FleetFailure(.unavailable, "the answer is a token for another key or host")
        }
        try write(NATSCredentials(token: answer, key: key).text)
        let end = Timestamp(secondsSince1970: Int(answer.expires ?? 0), nanoseconds: 0)
        StandardOutput.write("\(DisplayText.sanitized(host)): enrolled until \(TimeText.describe(end))\n")
    }

    private func readTicket(_ path: String) throws -> EnrolmentTicket {
        let text = FleetArgument.smallText(path)
        guard let ticket = text.flatMap(EnrolmentTicket.init) else {
            throw FleetFailure(
                .cannotRead, "\(DisplayText.sanitized(path)): it is not what `reach-fleet enroll` printed")
        }
        return ticket
    }

    /// The key in the file, and its token if it has one.
    private func ownKey(mayMake: Bool) throws -> (NKeyPair, NATSToken?) {
        guard access(file, F_OK) == 0 else {
            guard mayMake else {
                throw FleetFailure(.cannotRead, "\(DisplayText.sanitized(file)): \(SystemError.text(errno))")
            }
            let pair = try NKeyPair.generate()
            // Before it is used: the answer may be lost, and the token is good for this key again.
            try write(pair.seed + "\n")
            return (pair, nil)
        }
        do throws(NATSError) {
            switch try NATSIdentity.read(file) {
            case .key(let pair): return (pair, nil)
            case .token(let token, let pair): return (pair, token)
            case .credentials(let path):
                guard let credentials = NATSCredentials.read(path) else {
                    throw NATSError(.invalid, "key file '\(path)': credentials without a token or its seed")
                }
                return (credentials.key, credentials.token)
            case .none: throw NATSError(.invalid, "key file '\(file)': no key")
            }
        } catch {
            throw FleetFailure(.cannotRead, error.description)
        }
    }

    private func ask(_ request: Enrolment.Request, _ settings: NATSSettings, end: Int64?) throws -> NATSToken {
        let reply: NATSMessage
        do throws(NATSError) {
            let link = try NATSLink.connect(settings)
            reply = try link.request(
                Enrolment.subject(host: request.host, key: request.asker), request.payload, within: Self.patience)
        } catch {
            switch error.kind {
            case .refused, .notPermitted:
                throw FleetFailure(.notPermitted, refusal(error, end))
            case .noResponders, .timedOut:
                throw FleetFailure(.tryAgain, "nobody answers hosts that enrol now: `reach-fleet enroll --serve` does")
            default: throw error
            }
        }
        switch Enrolment.Answer(reply.payload) {
        case .token(let token): return token
        case .refused(let word, let sentence):
            throw FleetFailure(word == "unavailable" ? .tryAgain : .notPermitted, "refused: \(sentence)")
        case nil: throw FleetFailure(.unavailable, "the answer cannot be read")
        }
    }

    private func refusal(_ error: NATSError, _ end: Int64?) -> String {
        guard let end, end <= AccountFolder.now else {
            return "the server does not accept the token: it was revoked, or is of another fleet (\(error.description))"
        }
        let time = TimeText.describe(Timestamp(secondsSince1970: Int(end), nanoseconds: 0))
        return "the token's time is over since \(time)"
    }

    private func write(_ text: String) throws {
        do throws(SystemError) {
            try AtomicFile.replace(file, with: Array(text.utf8), mode: 0o600)
        } catch {
            throw FleetFailure(.cannotCreate, DisplayText.sanitized("\(error)"))
        }
    }
}
