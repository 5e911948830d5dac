internal import ReachCore

/// A command line of `reach status`, `reach watch` or `reach wait` that is read without ArgumentParser, whose
/// reflection takes longer than all else that these do, and more memory.
///
/// It has operands, flags, and options whose value is a word of its own. All else is `nil`, and ArgumentParser's to
/// read: other options, abbreviations, `--`, requests for help, and every error. So ArgumentParser alone decides what a
/// command line means that is not as plain as this, and the tests compare with it what each plain one means.
enum PlainCommandLine {
    case status(StatusQuery)
    case watch(WatchQuery)
    case wait(WaitQuery)

    /// - Parameter words: The command line without the program's name.
    init?(_ words: [String]) {
        switch words.first ?? "status" {
        case "status":
            guard let query = StatusQuery(plain: words.dropFirst()) else { return nil }
            self = .status(query)
        case "watch":
            guard let query = WatchQuery(plain: words.dropFirst()) else { return nil }
            self = .watch(query)
        case "wait":
            guard let query = WaitQuery(plain: words.dropFirst()) else { return nil }
            self = .wait(query)
        default: return nil
        }
    }

    func run() throws {
        switch self {
        case .status(let query): try query.run()
        case .watch(let query): try query.run()
        case .wait(let query): try query.run()
        }
    }
}

/// The words after the command.
private struct PlainWords {
    var operands: [String] = []
    private var flags: [String] = []
    private var options: [(name: String, value: String)] = []

    /// - Parameters:
    ///   - flags: The command's own flags.
    ///   - options: The command's own options that have a value.
    init?(_ words: ArraySlice<String>, flags: [String], options: [String] = []) {
        var words = words
        while let word = words.popFirst() {
            if !Self.isOption(word) {
                operands.append(word)
            } else if word == "--socket" || options.contains(word) {
                guard let value = words.popFirst(), !Self.isOption(value) else { return nil }
                self.options.append((word, value))
            } else {
                guard word == "--no-daemon" || flags.contains(word) else { return nil }
                self.flags.append(word)
            }
        }
        let sockets = values(of: "--socket").count
        if sockets > 1 || sockets == 1 && has("--no-daemon") { return nil }
    }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    func values(of option: String) -> [String] { options.filter { $0.name == option }.map(\.value) }

    /// `nil` if one of the operands is no target.
    var targets: [Target]? { try? operands.map { text throws(TargetError) in try Target(text) } }

    var source: DaemonOptions.Source {
        DaemonOptions.Source(socket: values(of: "--socket").first, noDaemon: has("--no-daemon"))
    }

    /// By its first byte: an accent after a hyphen would make another character of it.
    private static func isOption(_ word: String) -> Bool { word.utf8.first == UInt8(ascii: "-") }
}

extension StatusQuery {
    fileprivate init?(plain words: ArraySlice<String>) {
        guard let words = PlainWords(words, flags: ["--json", "--validated"]), let targets = words.targets else {
            return nil
        }
        self.init(source: words.source)
        if !targets.isEmpty { self.targets = targets }
        json = words.has("--json")
        validated = words.has("--validated")
        if validated && !self.targets.allSatisfy({ $0.canBeProved }) { return nil }
    }
}

extension WatchQuery {
    fileprivate init?(plain words: ArraySlice<String>) {
        guard let words = PlainWords(words, flags: ["--json", "--pretty"]), let targets = words.targets,
            targets.count <= 1
        else { return nil }
        let (json, pretty) = (words.has("--json"), words.has("--pretty"))
        if json && pretty { return nil }
        self.init(source: words.source)
        if let target = targets.first { self.target = target }
        form = json ? .json : pretty ? .pretty : .byOutput
    }
}

extension WaitQuery {
    fileprivate init?(plain words: ArraySlice<String>) {
        guard let words = PlainWords(words, flags: [], options: ["--until", "--timeout"]), words.operands.count <= 1,
            words.values(of: "--timeout").count <= 1
        else { return nil }
        self.init(source: words.source)
        do {
            if let operand = words.operands.first { target = try CommandLineValue.waitTarget(operand) }
            terms = try words.values(of: "--until").map { try CommandLineValue.waitTerms($0) }
            timeout = try words.values(of: "--timeout").first.map { try CommandLineValue.duration($0) }
        } catch {
            return nil
        }
    }
}
