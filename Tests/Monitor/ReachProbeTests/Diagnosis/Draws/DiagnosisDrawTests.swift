import Glibc
import ReachCore
import ReachProbe
import Testing

/// Internets that nobody thought of: who is accused there, and whether his part works, whichever answers are lost or
/// late.
struct DiagnosisDrawTests {
    private static let count = getenv("REACH_DIAGNOSIS_DRAWS").flatMap { UInt64(String(cString: $0)) } ?? 5000
    private static let first = getenv("REACH_DIAGNOSIS_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
    /// The share of a thousand draws in which somebody may be accused whose part works.
    private static let wrongPermille = 10
    /// Accused with another one, or nobody at all.
    private static let undecidedPermille = 100
    /// Whether all that remains undecided is printed.
    private static let showsLeft = getenv("REACH_DIAGNOSIS_LEFT") != nil
    /// Enough to read in one go.
    private static let shownLimit = 5

    @Test func `few are accused whose part works, and few faults remain undecided`() {
        var counts: [DiagnosisDraw.Verdict: Int] = [:]
        var wrong: [DrawnInternet] = []
        for seed in Self.first..<(Self.first + Self.count) {
            let draw = DiagnosisDraw(DrawnInternet(seed: seed))
            counts[draw.verdict, default: 0] += 1
            if draw.verdict == .wrong { wrong.append(draw.internet) }
            if Self.showsLeft, [.undecided, .contained].contains(draw.verdict) { print("LEFT \(draw)") }
        }
        let isShown =
            getenv("REACH_DIAGNOSIS_DRAWS") != nil || wrong.count * 1000 > Int(Self.count) * Self.wrongPermille
        let shown = isShown ? wrong.prefix(Self.shownLimit).map { "\(DiagnosisDraw($0).shrunk)" } : []
        print(
            "draws from seed \(Self.first):",
            DiagnosisDraw.Verdict.allCases.map { "\($0) \(counts[$0] ?? 0)" }.joined(separator: ", "),
            "seeds of the wrong: \(wrong.prefix(50).map(\.seed))", shown.joined(separator: "\n"), separator: "\n")
        #expect(wrong.count * 1000 <= Int(Self.count) * Self.wrongPermille)
        let undecided = counts[.undecided, default: 0] + counts[.contained, default: 0]
        #expect(undecided * 1000 <= Int(Self.count) * Self.undecidedPermille)
    }
}
