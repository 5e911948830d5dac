internal import ArgumentParser
internal import ReachCore
internal import ReachQueue

/// Options of curl that people add out of habit: what `reach queue import` ignores or refuses, by the same lists.
struct QueueCurlOptions: ParsableArguments {
    @Option(
        name: [.customShort("b"), .customLong("cookie")],
        help: ArgumentHelp("A cookie, or several. May be given several times.", valueName: "name=value"))
    var cookies: [String] = []

    @Option(
        name: [.customShort("e"), .customLong("referer")],
        help: ArgumentHelp("The value of the header Referer.", valueName: "url"))
    var referer: String?

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Ask for the head of the answer only.")
    var isHead = false

    @Option(name: .customLong("url"), help: ArgumentHelp("The URL, as an option.", valueName: "url"))
    var url: String?

    /// How often one was given that changes nothing here.
    @Flag(
        name: [
            .customShort("s"), .customLong("silent"), .customShort("S"), .customLong("show-error"), .customShort("v"),
            .customLong("verbose"), .customShort("i"), .customLong("include"), .customShort("f"), .customLong("fail"),
            .customLong("fail-with-body"), .customShort("#"), .customLong("progress-bar"), .customShort("N"),
            .customLong("no-buffer"), .customLong("no-progress-meter"), .customLong("tr-encoding"),
            .customLong("no-keepalive"), .customShort("g"), .customLong("globoff"),
        ], help: .hidden)
    var ignored: Int

    @Option(
        name: [
            .customShort("m"), .customLong("max-time"), .customLong("connect-timeout"),
            .customLong("retry-delay"), .customLong("retry-max-time"), .customShort("w"),
            .customLong("write-out"),
        ], help: .hidden)
    var ignoredValues: [String] = []

    @Flag var refused: [Refused] = []

    /// The words of this process's command line for the parser.
    ///
    /// - Parameter words: As Swift gives them.
    static func words(_ words: [String]) -> [String] {
        // Swift replaces what is not UTF-8.
        words.first == "queue" ? separated(ByteText.arguments()) : words
    }

    /// The words of a command line of which those of `reach queue add` have a space between the letter of an option and
    /// its value, where curl needs none: `-da=b`. No value there begins with a dash.
    static func separated(_ words: [String]) -> [String] {
        guard words.starts(with: ["queue", "add"]) else { return words }
        let options = words.prefix { $0 != "--" }
        return options.flatMap { word in
            guard word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 2,
                let letter = word.unicodeScalars.dropFirst().first, lettersWithValue.contains(letter)
            else { return [word] }
            return ["-\(letter)", String(word.unicodeScalars.dropFirst(2))]
        } + words.dropFirst(options.count)
    }

    private static let lettersWithValue = "XHAudFTxbemwo".unicodeScalars

    /// What the queue cannot do, and curl can.
    enum Refused: String, EnumerableFlag {
        case insecure = "-k"
        case remoteName = "-O"
        case next = "--next"
        case ipv4 = "-4"
        case ipv6 = "-6"
        case trusted = "--location-trusted"

        static func name(for value: Refused) -> NameSpecification {
            switch value {
            case .insecure: [.customShort("k"), .customLong("insecure")]
            case .remoteName: [.customShort("O"), .customLong("remote-name")]
            case .next: [.customShort(":"), .customLong("next")]
            case .ipv4: [.customShort("4"), .customLong("ipv4")]
            case .ipv6: [.customShort("6"), .customLong("ipv6")]
            case .trusted: .customLong("location-trusted")
            }
        }

        static func help(for value: Refused) -> ArgumentHelp? { .hidden }
    }

    /// Adds them to a request.
    func apply(to request: inout CurlRequest) throws(CommandError) {
        if let first = refused.first { throw CurlCommand.refusal(of: first.rawValue) }
        if let referer { request.headers += try QueueArgument.headers("Referer: " + referer) }
        request.isHead = isHead
        var cookies: [String] = []
        for value in self.cookies { if let cookie = try CurlCommand.cookie(value) { cookies.append(cookie) } }
        guard !cookies.isEmpty else { return }
        request.headers += try QueueArgument.headers("Cookie: " + cookies.joined(separator: "; "))
    }
}
