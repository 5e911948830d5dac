/// What a line is like beyond whether the Internet answers: what it loses, and how long an answer takes.
public struct LineQuality: Hashable, Sendable {
    /// What people say of a line.
    public enum Word: String, Hashable, Sendable, CaseIterable {
        /// Neither of the others.
        case good
        /// Packets are lost that a good line carries.
        case lossy
        /// An answer takes longer than what satellites in low orbits and far continents take.
        case slow
    }

    /// What follows from the figures.
    public package(set) var word: Word
    /// Of a thousand packets, those that were lost.
    public package(set) var lossPermille: Int
    /// The median; `nil` if nothing answered while the line was idle.
    public package(set) var roundTrip: Duration?
    /// How much longer than the median the slowest tenth of the answers took.
    public package(set) var jitter: Duration?
    /// The number of packets from which the figures follow.
    public package(set) var packets: Int

    /// Creates what was measured.
    package init(_ word: Word, lossPermille: Int, roundTrip: Duration?, jitter: Duration?, packets: Int) {
        self.word = word
        self.lossPermille = lossPermille
        self.roundTrip = roundTrip
        self.jitter = jitter
        self.packets = packets
    }

    /// A round trip from which a line is slow.
    package static let slowRoundTrip = Duration.milliseconds(500)

    /// The word with its figure: "lossy (8 %)".
    package var text: String {
        switch word {
        case .good: roundTripText.map { "good (\($0))" } ?? "good"
        case .lossy: "lossy (\(lossText))"
        case .slow: roundTripText.map { "slow (\($0))" } ?? "slow"
        }
    }

    /// The lost share in percent: "12 %", "0.4 %".
    package var lossText: String { Self.lossText(of: lossPermille) }

    package static func lossText(of permille: Int) -> String {
        permille >= 100 || permille % 10 == 0 ? "\((permille + 5) / 10) %" : "\(permille / 10).\(permille % 10) %"
    }

    /// The round trip: "23 ms". No answer takes no time.
    package var roundTripText: String? {
        roundTrip.map { $0 < .milliseconds(1) ? "under 1 ms" : "\($0.milliseconds) ms" }
    }
}
