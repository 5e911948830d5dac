internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachRecords
internal import ReachTerminal

/// The values that shells offer for options and arguments. Each is found when a user asks for it, within half a second.
enum ValueCompletion {
    /// Terms of a condition; after a comma, those for the next term. Networks are those of the daemon's configuration.
    static var condition: CompletionKind {
        offer { line, prefix in
            let networks = ask(line) { client throws(ControlError) in try client.networkNames() } ?? nil
            let words = (NetworkCondition.words + waitWords(line)).flatMap { word in
                switch word {
                case "interface=": interfaceNames.map { word + $0 }
                case "network=", "not network=": (networks ?? []).map { word + $0 }
                default: [word]
                }
            }
            guard let comma = prefix.unicodeScalars.lastIndex(of: ",") else { return words }
            return words.map { prefix[...comma] + $0 }
        }
    }

    /// What only `wait` and `run` know.
    private static func waitWords(_ line: [String]) -> [String] {
        guard line.contains("wait") || line.contains("run"), !line.contains("queue") else { return [] }
        let probes = ask(line) { client throws(ControlError) in try client.probes().map(\.name) } ?? []
        return ["answers"] + probes.map { "probe=" + $0 }
    }

    /// The Internet, the targets of the daemon's configuration, and interfaces.
    static var target: CompletionKind {
        offer { words, _ in
            let named = ask(words) { client throws(ControlError) in try client.targetNames() }
            return ["internet"] + (named ?? []) + interfaceNames.map { "interface:" + $0 }
        }
    }

    /// Targets of which the history has records.
    static var recordedTarget: CompletionKind {
        offer { words, _ in
            let directory = value(of: "--state", in: words) ?? HistoryReading.directory
            return (try? HistoryFiles(directory: directory).read())?.targets ?? []
        }
    }

    static var interface: CompletionKind { offer { _, _ in interfaceNames } }

    /// `PATTERN=CLASS`
    static var classRule: CompletionKind { rule(LinkClass.allCases.map(\.rawValue)) }

    /// `PATTERN=yes|no`
    static var meteredRule: CompletionKind { rule(["yes", "no"]) }

    private static func rule(_ values: [String]) -> CompletionKind {
        offer { _, prefix in
            guard let mark = prefix.unicodeScalars.lastIndex(of: "=") else { return interfaceNames.map { $0 + "=" } }
            return values.map { prefix[...mark] + $0 }
        }
    }

    /// Numbers of requests in the daemon's queue.
    static var request: CompletionKind {
        offer { words, _ in
            var filter = QueueFilter()
            filter.limit = 256
            let page = ask(words) { client throws(ControlError) in try client.requests(filter) }
            return page?.items.map { "\($0.id)" } ?? []
        }
    }

    /// Names of the daemon's probes.
    static var probe: CompletionKind {
        offer { words, _ in
            let reports = ask(words) { client throws(ControlError) in try client.probes() }
            return reports?.map(\.name) ?? []
        }
    }

    /// Groups of the daemon's probes.
    static var probeGroup: CompletionKind {
        offer { words, _ in
            let reports = ask(words) { client throws(ControlError) in try client.probes() }
            return Set(reports?.compactMap(\.group) ?? []).sorted()
        }
    }

    static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> CompletionKind
    where Word.RawValue == String { .list(Word.allCases.map(\.rawValue)) }

    /// Of the values that `find` returns for a command line and its last word, a shell gets those that it could not
    /// run.
    private static func offer(_ find: @escaping @Sendable ([String], String) -> [String]) -> CompletionKind {
        .custom { words, _, prefix in CompletionScript.offered(find(words, prefix), after: prefix) }
    }

    private static var interfaceNames: [String] { ((try? DirectoryNames.read("/sys/class/net")) ?? []).sorted() }

    /// The value of an option on the command line so far.
    private static func value(of option: String, in words: [String]) -> String? {
        words.firstIndex(of: option).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
    }

    private static func ask<Answer>(
        _ words: [String], _ question: (inout ControlClient) throws(ControlError) -> Answer
    ) -> Answer? {
        let path =
            value(of: "--socket", in: words)
            ?? SocketPath.forThisProcess
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .milliseconds(500))
            return try question(&client)
        } catch {
            return nil
        }
    }
}
