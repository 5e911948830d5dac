internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The values that shells offer for options and arguments. Each is found when a user asks for it, within half a second.
enum ValueCompletion {
    /// Terms of a condition; after a comma, those for the next term.
    static var condition: CompletionKind {
        .custom { _, _, prefix in
            let interfaces = interfaceNames.map { "interface=" + $0 }
            let words = NetworkCondition.words.filter { $0 != "interface=" } + interfaces
            guard let comma = prefix.lastIndex(of: ",") else { return words }
            return words.map { prefix[...comma] + $0 }
        }
    }

    static var target: CompletionKind {
        .custom { _, _, _ in ["internet"] + interfaceNames.map { "interface:" + $0 } }
    }

    static var interface: CompletionKind { .custom { _, _, _ in interfaceNames } }

    /// `PATTERN=CLASS`
    static var classRule: CompletionKind { rule(LinkClass.allCases.map(\.rawValue)) }

    /// `PATTERN=yes|no`
    static var meteredRule: CompletionKind { rule(["yes", "no"]) }

    private static func rule(_ values: [String]) -> CompletionKind {
        .custom { _, _, prefix in
            guard let mark = prefix.lastIndex(of: "=") else { return interfaceNames.map { $0 + "=" } }
            return values.map { prefix[...mark] + $0 }
        }
    }

    /// Numbers of requests in the daemon's queue.
    static var request: CompletionKind {
        .custom { words, _, _ in
            var filter = QueueFilter()
            filter.limit = 256
            let page = ask(words) { client throws(ControlError) in try client.requests(filter) }
            return page?.items.map { "\($0.id)" } ?? []
        }
    }

    /// Names of the daemon's probes.
    static var probe: CompletionKind {
        .custom { words, _, _ in
            let reports = ask(words) { client throws(ControlError) in try client.probes() }
            return reports?.map(\.name) ?? []
        }
    }

    static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> CompletionKind
    where Word.RawValue == String { .list(Word.allCases.map(\.rawValue)) }

    private static var interfaceNames: [String] { ((try? DirectoryNames.read("/sys/class/net")) ?? []).sorted() }

    private static func ask<Answer>(
        _ words: [String], _ question: (inout ControlClient) throws(ControlError) -> Answer
    ) -> Answer? {
        let named = words.firstIndex(of: "--socket").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        let path = named ?? SocketPath.forClient(uid: getuid(), environment: SocketPath.processEnvironment)
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .milliseconds(500))
            return try question(&client)
        } catch {
            return nil
        }
    }
}
