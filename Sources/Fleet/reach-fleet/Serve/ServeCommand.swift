internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachPage
internal import ReachTerminal

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the page, live, and its figures over HTTP.",
        discussion: """
            /         the page, which shows news as they come
            /events   server-sent events that say when there are news
            /metrics  what `export` writes, for Prometheus
            /status, /outages, /report  the JSON that these commands print

            Read-only, in the clear. Beyond this machine it takes --token-file; put a proxy with TLS before it. \
            systemd may pass the listening socket. It goes on while no server answers, and says so on the page.

            Exit status: 0 ended by a signal, 69 nothing can be served.

            Example: reach fleet serve --listen 127.0.0.1:8080
            """)

    @Option(
        help: ArgumentHelp("Where to listen, such as 127.0.0.1:9110 or [::1]:9110.", valueName: "address"),
        transform: { text in
            guard let address = ListenAddress(text) else {
                throw ValidationError("'\(text)' is not an address and a port, such as 127.0.0.1:9110")
            }
            return address
        })
    var listen = ListenAddress(IPAddress(ipv4: 0x7f00_0001), port: 9110)

    @Option(
        name: .customLong("token-file"),
        help: ArgumentHelp(
            "A file with one line, which clients have to send as a bearer's token or as the password of any user.",
            valueName: "file"))
    var tokenFile: String?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "A name by which clients call this server, such as a proxy's. May be repeated. Not needed with a token.",
            valueName: "host"))
    var names: [String] = []

    @Option(
        help: ArgumentHelp("How often to read what is new.", valueName: "duration"),
        transform: { try FleetArgument.interval($0) })
    var interval: Duration = .seconds(5)

    @Option(help: "What the page is called.")
    var title = "Fleet"

    @OptionGroup var arguments: OutageArguments
    @OptionGroup var engine: EngineOptions

    func run() throws {
        let systems = try arguments.table()
        let token = try tokenFile.map(Self.token)
        let server = PageServer(ServedAccess(token: token, names: names))
        let listener = try listener()
        let isLocal = ListeningSocket.isLocal(listener)
        guard isLocal || token != nil else {
            throw FleetFailure(.usage, "other machines can connect to this socket, which takes --token-file")
        }
        try server.serve(listener, connectionsOfClient: isLocal ? 0 : 32)
        var (live, last) = (0 as UInt64, PageNews?.none)
        try RepetitionOptions.repeated(engine, arguments, every: interval) { reading in
            let edition = FleetEdition(reading, arguments, systems, title: title, interval: interval)
            let news = PageNews(edition.page)
            if news != last { live += 1 }
            last = news
            server.publish(edition.served(live: live))
        }
    }

    /// The socket that systemd passed, or one of our own.
    private func listener() throws -> CInt {
        if let passed = PassedSockets(environment: SocketPath.processEnvironment).take().first { return passed }
        guard tokenFile != nil || listen.address.isLoopback else {
            throw FleetFailure(.usage, "--listen \(listen) is open to other machines, which takes --token-file")
        }
        do throws(SystemError) {
            return try ListeningSocket.open(at: listen, backlog: 128)
        } catch {
            throw FleetFailure(.unavailable, "\(listen): \(DisplayText.sanitized(error.description))")
        }
    }

    private static func token(_ path: String) throws -> [UInt8] {
        let name = DisplayText.sanitized(path)
        guard let text = SmallFile.text(path, limit: 4096) else {
            throw FleetFailure(.cannotRead, "\(name): cannot be read")
        }
        let token = Array(text.utf8.prefix { $0 != 0x0a && $0 != 0x0d })
        guard token.count >= ServedAccess.shortestToken, token.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw FleetFailure(
                .badConfiguration,
                "\(name): a token is one line of at least \(ServedAccess.shortestToken) characters of ASCII"
            )
        }
        return token
    }
}

/// What one reading of the fleet gives to those who are served.
struct FleetEdition: Sendable {
    let page: FleetPage
    private let record: FleetRecord?
    private let options: OutageOptions
    private let systems: ASNTable

    init(
        _ reading: RepetitionOptions.Reading, _ arguments: OutageArguments, _ systems: ASNTable, title: String,
        interval: Duration
    ) {
        page = reading.page(arguments, systems, title: title, interval: interval)
        record = reading.record
        (options, self.systems) = (arguments.options, systems)
    }

    /// - Parameter live: The number of what is new.
    func served(live: UInt64) -> PageServer.Edition {
        var page = page
        page.live = live
        let shown = page
        return PageServer.Edition(news: Self.news(page)) { text in
            switch text {
            case .page:
                var generator = SystemRandomNumberGenerator()
                return shown.html(nonce: HTMLPage.nonce(&generator))
            case .events: return []
            case .metrics: return FleetMetrics.text(shown)
            case .status: return lines { record, json in record.view.writeStatus(&json) }
            case .outages:
                return lines { record, json in
                    let hosts = record.view.roster.hosts.map(\.id)
                    for outage in record.outages(options, systems) {
                        json.outage(outage, hosts: hosts)
                        json.newline()
                    }
                }
            case .report:
                return lines { record, json in
                    json.fleetReport(record.report(from: record.windowStart) { _, _ in true })
                    json.newline()
                }
            }
        }
    }

    private func lines(_ write: (FleetRecord, inout JSONWriter) -> Void) -> [UInt8] {
        guard let record else { return [] }
        var json = JSONWriter()
        write(record, &json)
        return json.bytes
    }

    private static func news(_ page: FleetPage) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("live", page.live.map(Int64.init(clamping:)) ?? -1)
            json.field("written", page.written.nanosecondsSince1970 / 1_000_000)
            json.field("asOf", page.asOf.nanosecondsSince1970 / 1_000_000)
        }
        return Array("event: fleet\ndata: ".utf8) + json.bytes + Array("\n\n".utf8)
    }
}
