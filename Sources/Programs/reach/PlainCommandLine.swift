internal import ReachCore

/// A command line of `reach status` or `reach watch` that is read without ArgumentParser, whose reflection takes longer
/// than all else that `reach status` does, and more memory.
///
/// It has operands, flags, and `--socket PATH` at most once. All else is `nil`, and ArgumentParser's to read: other
/// options, abbreviations, `--`, requests for help, and every error. So ArgumentParser alone decides what a command
/// line means that is not as plain as this, and the tests compare with it what each plain one means.
enum PlainCommandLine {
    case status(StatusQuery)
    case watch(WatchQuery)

    /// - Parameter words: The command line without the program's name.
    init?(_ words: [String]) {
        switch words.first ?? "status" {
        case "status":
            guard let query = StatusQuery(plain: words.dropFirst()) else { return nil }
            self = .status(query)
        case "watch":
            guard let query = WatchQuery(plain: words.dropFirst()) else { return nil }
            self = .watch(query)
        default: return nil
        }
    }

    func run() throws {
        switch self {
        case .status(let query): try query.run()
        case .watch(let query): try query.run()
        }
    }
}

/// The words after the command.
private struct PlainWords {
    var targets: [Target] = []
    var flags: [String] = []
    var socket: String?

    /// - Parameter known: The command's own flags.
    init?(_ words: ArraySlice<String>, known: [String]) {
        var words = words
        while let word = words.popFirst() {
            if !Self.isOption(word) {
                guard let target = try? Target(word) else { return nil }
                targets.append(target)
            } else if word == "--socket" {
                guard socket == nil, let path = words.popFirst(), !Self.isOption(path) else { return nil }
                socket = path
            } else {
                guard word == "--no-daemon" || known.contains(word) else { return nil }
                flags.append(word)
            }
        }
        if socket != nil && has("--no-daemon") { return nil }
    }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    var source: DaemonOptions.Source { DaemonOptions.Source(socket: socket, noDaemon: has("--no-daemon")) }

    /// By its first byte: an accent after a hyphen would make another character of it.
    private static func isOption(_ word: String) -> Bool { word.utf8.first == UInt8(ascii: "-") }
}

extension StatusQuery {
    fileprivate init?(plain words: ArraySlice<String>) {
        guard let words = PlainWords(words, known: ["--json", "--validated"]) else { return nil }
        self.init(source: words.source)
        if !words.targets.isEmpty { targets = words.targets }
        json = words.has("--json")
        validated = words.has("--validated")
        if validated && !targets.allSatisfy({ $0.canBeProved }) { return nil }
    }
}

extension WatchQuery {
    fileprivate init?(plain words: ArraySlice<String>) {
        guard let words = PlainWords(words, known: ["--json", "--pretty"]), words.targets.count <= 1 else { return nil }
        let (json, pretty) = (words.has("--json"), words.has("--pretty"))
        if json && pretty { return nil }
        self.init(source: words.source)
        if let target = words.targets.first { self.target = target }
        form = json ? .json : pretty ? .pretty : .byOutput
    }
}
