/// Shares as percentages with two decimals: `99.95 %`.
package enum PercentText {
    /// Rounded down, so that only what was always up has 100 %.
    package static func roundedDown(_ share: Double) -> String { hundredths(Int((share * 10_000).rounded(.down))) }

    /// Rounded up, so that only what lost nothing has 0 %.
    package static func roundedUp(_ share: Double) -> String { hundredths(Int((share * 10_000).rounded(.up))) }

    private static func hundredths(_ number: Int) -> String {
        let number = min(max(0, number), 10_000)
        if number == 0 || number == 10_000 { return "\(number / 100) %" }
        let fraction = number % 100
        return "\(number / 100).\(fraction < 10 ? "0" : "")\(fraction) %"
    }
}
