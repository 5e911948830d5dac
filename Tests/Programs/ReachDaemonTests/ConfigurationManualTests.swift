import Foundation
import ReachCore
import ReachDaemon
import ReachTOML
import ReachQueue
import ReachTesting
import Testing

/// reach.toml(5) describes every key, and no other.
@Suite struct ConfigurationManualTests {
    private static let page = ManualPage("reach.toml.5")

    @Test(arguments: Configuration.tables.map(\.manualTitle))
    func `every key of a table is described below its header, in the same order`(title: String) {
        let table = Configuration.tables.first { $0.manualTitle == title }
        let keys = table?.keyNames.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
        #expect(Self.page.items(of: "Va", "KEYS", title) == keys)
    }

    @Test func `the manual has all tables, and no other`() {
        #expect(Self.page.subsections(of: "KEYS") == Configuration.tables.map(\.manualTitle))
    }

    /// A key that is read and then forgotten would be in the manual, and do nothing.
    @Test func `what each key sets is used beyond its declaration`() throws {
        let folder = "Sources/Programs/ReachDaemon/Configuration/"
        let table = ProjectFile.text(folder + "Configuration+Tables.swift")
        let keys = table.matches(of: /ConfigurationKey\(\s*"[^"]+",\s*\\\.([\w.]+)/)
        let properties = Set(keys.compactMap { $0.1.split(separator: ".").last.map(String.init) })
        #expect(properties.count > 80)
        let sources = ProjectFile.path("Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources)).compactMap { $0 as? String }
        var used: Set<String> = []
        for file in files where file.hasSuffix(".swift") && !file.hasSuffix("/Configuration+Tables.swift") {
            for line in ProjectFile.text("Sources/" + file).split(separator: "\n") where !line.contains("//") {
                let words = line.split { !$0.isLetter && !$0.isNumber }.map(String.init)
                for (word, before) in zip(words, [""] + words) where before != "var" && before != "let" {
                    if properties.contains(word) { used.insert(word) }
                }
            }
        }
        #expect(properties.subtracting(used) == [])
    }

    @Test func `the daemon's manual has every variable of a hook`() throws {
        let variables = ManualPage("reachd.8").items(of: "Ev", "DESCRIPTION", "Hooks")
        let state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        let moment = Instant(wall: state.since, boot: BootTime(nanoseconds: 0))
        let change = ReachabilityChange(at: moment, cause: .start, aspects: [], previous: nil, state: state)
        var end = QueueEvent(.dead, at: moment, epoch: 1)
        end.request = RequestID(rawValue: 1)
        let request = try #require(HookEvent(end))
        let report = ProbeReport(
            name: "shop", target: "tcp://192.0.2.1:1", state: .down, since: moment.wall, interval: .seconds(30))
        let probe = try #require(HookEvent(ProbeEvent(.down, at: moment, report: report)))
        var used = QueueEvent(.meteredUsed, at: moment, epoch: 1)
        used.budget = MeteredReport(scope: .all, budget: MeteredBudget(bytes: 1, per: .day), used: 1, renewed: nil)
        let budget = try #require(HookEvent(used))
        var queue = HookQueue()
        let runs = [HookEvent(change), request, probe, budget].flatMap { event in
            defer { _ = queue.finished("a") }
            return queue.add(event, for: ["a"])
        }
        #expect(Set(variables) == Set(runs.flatMap(\.environment.keys)))
    }
}

extension ConfigurationTable<Configuration> {
    fileprivate var manualTitle: String { header.prefix(1).uppercased() + header.dropFirst() }
}
