import ReachCore
import Testing

@Suite struct PercentTextTests {
    @Test(arguments: [
        (0, "0 %", "0 %"), (1, "100 %", "100 %"), (0.5, "50.00 %", "50.00 %"), (0.090_56, "9.05 %", "9.06 %"),
        (0.999_999, "99.99 %", "100 %"), (0.000_001, "0 %", "0.01 %"), (0.1, "10.00 %", "10.00 %"),
        (1.5, "100 %", "100 %"), (-0.5, "0 %", "0 %"),
    ])
    func `a share is rounded down for what was up, and up for what was lost`(share: Double, down: String, up: String) {
        #expect(PercentText.roundedDown(share) == down)
        #expect(PercentText.roundedUp(share) == up)
    }
}
