import ReachCore
import ReachDaemon
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

    @Test func `the daemon's manual has every variable of a hook`() {
        let variables = ManualPage("reachd.8").items(of: "Ev", "DESCRIPTION", "Hooks")
        let state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        let moment = Instant(wall: state.since, boot: BootTime(nanoseconds: 0))
        let event = HookEvent(ReachabilityChange(at: moment, cause: .start, aspects: [], previous: nil, state: state))
        #expect(Set(variables) == Set(event.environment.keys).union(["REACH_SKIPPED"]))
    }
}

extension ConfigurationTable {
    fileprivate var manualTitle: String { header.prefix(1).uppercased() + header.dropFirst() }
}
