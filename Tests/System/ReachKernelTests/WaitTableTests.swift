internal import ReachCore
internal import ReachKernel
internal import ReachRecords
internal import ReachTesting
internal import Testing

/// The table of times in Documentation/architecture/paths.md says what the code does.
@Suite struct WaitTableTests {
    private let rows = ProjectFile.text("Documentation/architecture/paths.md").split(separator: "\n")

    /// The columns of the row whose first one, or second, has a text.
    private func row(_ text: String) throws -> [String] {
        let row = try #require(rows.first { $0.hasPrefix("|") && $0.contains(text) })
        return row.split(separator: "|").map { $0.drop { $0 == " " } }.map(String.init)
    }

    @Test func `what each mouth waits for, at least and at most, stands in the table`() throws {
        let patience = FlapJoiner.Patience()
        let lost = try row("FlapJoiner")
        #expect(lost[2].hasPrefix(text(patience.link)) && lost[3].hasPrefix(text(patience.rest)))
        let another = try row("another path")
        #expect(another[2].hasPrefix(text(patience.settling)) && another[3].hasPrefix(text(patience.rest)))
        #expect(try row("OutageJudge")[3].hasPrefix(text(OutageJudge.patience)))
        let hold = HoldDown(up: .seconds(2), down: .seconds(3))
        #expect(hold.maximum == .seconds(30), "ten holds of the longer kind")
    }

    @Test func `what the kernel's facts wait for stands above it`() {
        let page = rows.joined(separator: " ")
        for time in [RoamHold.patience, RoamHold.limit, KernelObserver.collectingTime] {
            #expect(page.contains(text(time)))
        }
    }

    private func text(_ time: Duration) -> String {
        let milliseconds = time.milliseconds
        return milliseconds < 1000 ? "\(milliseconds) ms" : "\(milliseconds / 1000) s"
    }
}
