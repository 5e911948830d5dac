internal import ReachCore
internal import ReachKernel
internal import ReachRecords

/// The quality of one line, from its packets of the last minutes. A pure value.
///
/// Echo requests count while little is sent or received; otherwise only the segments that TCP sends and repeats, since
/// a line that somebody fills answers late without any fault. A line's word is judged at the end of each minute.
struct QualityMeter {
    /// The minutes that decide about the word.
    static let window = 5
    /// A minute with fewer segments of TCP says nothing about loss: a repeated segment is often one that was only late.
    static let fewestSegments = 100
    /// In the window, as many packets as count for a minute at most, so that one busy minute does not outvote four
    /// others.
    private static let mostWeight = 60.0
    /// The fewest packets from which a word follows.
    private static let fewestPackets = 10
    /// The shares from which a line is lossy, and below which it no longer is. Single losses happen on good lines.
    private static let lossyShare = 0.04
    private static let soundShare = 0.02
    private static let fewestLost = 3
    /// The share of its usual round trip below which a slow line no longer is one.
    private static let swiftShare = 0.8

    private struct Minute {
        var echoes: [IPAddress: (sent: Int, lost: Int)] = [:]
        var trips: [Duration] = []
        var segments = 0
        var repeated = 0
    }

    private var minutes: [Minute] = []
    private var current = Minute()
    private var counters: [SegmentCount.Socket: SegmentCount] = [:]
    /// The number of minutes without any packet since the last one that had some.
    private var emptyMinutes = 0
    private(set) var quality: LineQuality?

    // MARK: - Samples

    mutating func answered(by witness: IPAddress, after roundTrip: Duration) {
        current.echoes[witness, default: (0, 0)].sent += 1
        current.trips.append(roundTrip)
    }

    mutating func lost(to witness: IPAddress) {
        current.echoes[witness, default: (0, 0)].sent += 1
        current.echoes[witness, default: (0, 0)].lost += 1
    }

    /// Adds what sockets have sent since the last call; the first one only notes where they stand.
    mutating func count(_ sockets: [SegmentCount]) {
        for socket in sockets {
            // A socket that is new since the last survey began at zero; before the first survey nothing is known of
            // any.
            guard let before = counters[socket.socket] ?? (counters.isEmpty ? nil : SegmentCount(socket.socket)),
                socket.sent >= before.sent, socket.repeated >= before.repeated
            else { continue }
            current.segments += Int(socket.sent - before.sent)
            current.repeated += Int(socket.repeated - before.repeated)
        }
        counters = Dictionary(sockets.map { ($0.socket, $0) }) { first, _ in first }
    }

    // MARK: - Minutes

    /// Ends a minute.
    mutating func endMinute() {
        let ended = current
        current = Minute()
        minutes = minutes.suffix(Self.window - 1) + [ended]
        emptyMinutes = Self.losses(of: [ended]).packets == 0 ? emptyMinutes + 1 : 0
        judge()
    }

    /// What the minutes of the window showed; `nil` without any packet.
    func period(of interface: String) -> QualityPeriod? {
        let (packets, lost) = Self.losses(of: minutes)
        guard packets > 0 else { return nil }
        return QualityPeriod(
            interface: interface, length: .seconds(60 * minutes.count), packets: packets, lost: lost,
            trips: QualityPeriod.Trips(minutes.flatMap(\.trips)))
    }

    private mutating func judge() {
        guard emptyMinutes < 2 * Self.window else { return quality = nil }
        let all = Self.losses(of: minutes)
        guard all.packets >= Self.fewestPackets else { return }
        let trips = QualityPeriod.Trips(minutes.flatMap(\.trips))
        let share = weightedShare
        let isLossy =
            quality?.word == .lossy
            ? share >= Self.soundShare
            : share >= Self.lossyShare && all.lost >= Self.fewestLost && lossyMinutes > 1
        quality = LineQuality(
            isLossy ? .lossy : isSlow(trips?.median) ? .slow : .good, lossPermille: Int((share * 1000).rounded()),
            roundTrip: trips?.median ?? quality?.roundTrip, jitter: trips?.jitter ?? quality?.jitter,
            packets: all.packets)
    }

    private func isSlow(_ median: Duration?) -> Bool {
        // While somebody fills the line, nothing says that it is no longer slow.
        guard let median else { return quality?.word == .slow }
        guard quality?.word != .slow else { return median >= LineQuality.slowRoundTrip * Self.swiftShare }
        // One slow minute is no slow line.
        let slow = minutes.count { minute in
            QualityPeriod.Trips(minute.trips).map { $0.median >= LineQuality.slowRoundTrip } ?? false
        }
        return median >= LineQuality.slowRoundTrip && slow > 1
    }

    private var lossyMinutes: Int { minutes.count { Self.losses(of: [$0]).lost > 0 } }

    /// The share of the window's packets that were lost.
    private var weightedShare: Double {
        var (lost, weight) = (0.0, 0.0)
        let counted = Self.counted(in: minutes)
        for minute in minutes {
            let part = Self.losses(of: minute, by: counted)
            guard part.packets > 0 else { continue }
            let own = min(Double(part.packets), Self.mostWeight)
            lost += own * Double(part.lost) / Double(part.packets)
            weight += own
        }
        return weight == 0 ? 0 : lost / weight
    }

    private static func losses(of minutes: [Minute]) -> (packets: Int, lost: Int) {
        let witnesses = counted(in: minutes)
        return minutes.reduce(into: (0, 0)) { sum, minute in
            let part = losses(of: minute, by: witnesses)
            sum.0 += part.packets
            sum.1 += part.lost
        }
    }

    private static func losses(of minute: Minute, by witnesses: Set<IPAddress>) -> (packets: Int, lost: Int) {
        var (packets, lost) = (0, 0)
        for (witness, echoes) in minute.echoes where witnesses.contains(witness) {
            packets += echoes.sent
            lost += echoes.lost
        }
        if minute.segments >= fewestSegments {
            packets += minute.segments
            lost += min(minute.repeated, minute.segments)
        }
        return (packets, lost)
    }

    /// The witnesses that count. A host that limits its answers looks like a lossy line: a better one acquits it.
    private static func counted(in minutes: [Minute]) -> Set<IPAddress> {
        var sums: [IPAddress: (sent: Int, lost: Int)] = [:]
        for (witness, echoes) in minutes.flatMap(\.echoes) {
            sums[witness, default: (0, 0)].sent += echoes.sent
            sums[witness, default: (0, 0)].lost += echoes.lost
        }
        let shares = sums.mapValues { Double($0.lost) / Double(max(1, $0.sent)) }
        guard let best = shares.values.min() else { return [] }
        // 4 times and a fifth more: chance makes that of two equal samples of thirty packets in one of 500 windows.
        return Set(shares.filter { $0.value <= 4 * best + 0.2 }.keys)
    }
}
