internal import ReachCore
internal import ReachRecords

/// The line's loss and delay by stretches: to the gateway, from there to the first router beyond, and from there on.
struct DiagnosisQuality {
    /// Shares from which packets count as lost on the line, and not by chance.
    static let lossyShare = 0.015
    private static let fewestLost = 2
    /// The share that a good stretch loses, too.
    private static let usualShare = 0.001
    /// Below this share a few packets decide, so a stretch has to explain them much better than the others before it is
    /// named.
    private static let clearShare = 0.05
    /// From here on even several answers may be missing by chance.
    static let severeShare = 0.08

    private struct Series {
        let name: String
        let sample: LineSample
    }

    private let series: [Series]
    /// The places in ``series`` before which packets may be lost: one, or those that the samples cannot tell apart;
    /// `nil` for none.
    private let lossy: ClosedRange<Int>?
    private let link: String
    private let hasGateway: Bool
    private let roundTrip: Duration?
    private let jitter: Duration?

    init(_ evidence: DiagnosisEvidence) {
        var series: [Series] = []
        func add(_ host: HostAddress?, _ name: String) {
            guard let host, let sample = evidence.sampled(host), sample.answered > 0 else { return }
            series.append(Series(name: name, sample: sample))
        }
        let gateway = evidence.gatewayToSample
        add(gateway, gateway?.description ?? "")
        hasGateway = !series.isEmpty
        let router = evidence.routerToSample
        add(router, router?.description ?? "")
        let far = evidence.sampleWitnesses.compactMap { host in
            evidence.sampled(host).flatMap { $0.answered > 0 ? (host, $0) : nil }
        }
        if let best = far.min(by: { $0.1.lostShare < $1.1.lostShare }) {
            // A host that limits its answers looks like a lossy line: the other one acquits it.
            let limits = far.contains { $0.1.lostShare > 4 * best.1.lostShare + 0.1 }
            let counted = limits ? [best] : far
            let sample = LineSample(
                sent: counted.reduce(0) { $0 + $1.1.sent }, answered: counted.reduce(0) { $0 + $1.1.answered },
                roundTrip: best.1.roundTrip, jitter: best.1.jitter)
            series.append(Series(name: best.0.description, sample: sample))
        }
        self.series = series
        lossy = Self.stretch(of: series.map(\.sample))
        roundTrip = far.compactMap(\.1.roundTrip).min()
        jitter = far.compactMap(\.1.jitter).min()
        link =
            evidence.sampleWitnesses.first.flatMap { evidence.path(.path($0))?[$0.family] }.map { path in
                DisplayText.sanitized(path.interface ?? "the link") + (path.linkClass.map { ", \($0.rawValue)" } ?? "")
            } ?? ""
    }

    /// The stretches that explain the losses: nothing is lost before one of them, and one share behind it. Those count
    /// that are at least a twentieth as likely as the likeliest, or a thousandth where little is lost, since a few lost
    /// packets prove no stretch.
    private static func stretch(of samples: [LineSample]) -> ClosedRange<Int>? {
        guard let whole = samples.last, whole.sent - whole.answered >= fewestLost, whole.lostShare >= lossyShare else {
            return nil
        }
        func likelihood(_ sample: LineSample, _ share: Double) -> Double {
            let lost = Double(sample.sent - sample.answered)
            let p = min(0.999, max(usualShare, share))
            return lost * Self.log(p) + Double(sample.answered) * Self.log(1 - p)
        }
        let scores = samples.indices.map { place in
            let behind = samples[place...]
            let share =
                Double(behind.reduce(0) { $0 + $1.sent - $1.answered })
                / Double(max(1, behind.reduce(0) { $0 + $1.sent }))
            return samples[..<place].reduce(0) { $0 + likelihood($1, usualShare) }
                + behind.reduce(0) { $0 + likelihood($1, share) }
        }
        let best = scores.max() ?? 0
        let odds = whole.lostShare < clearShare ? 1000.0 : 20
        let likely = scores.indices.filter { scores[$0] >= best - Self.log(odds) }
        guard let first = likely.first, let last = likely.last else { return nil }
        return first...last
    }

    /// The natural logarithm, without the C library: ReachCore imports none.
    private static func log(_ value: Double) -> Double {
        // value = m * 2^e with m in 1..<2; ln m by the series of artanh.
        let m = value.significand
        let y = (m - 1) / (m + 1)
        let square = y * y
        var (term, sum) = (y, 0.0)
        for odd in stride(from: 1.0, through: 19, by: 2) {
            sum += term / odd
            term *= square
        }
        return 2 * sum + Double(value.exponent) * 0.693_147_180_559_945_3
    }

    var isSlow: Bool { roundTrip.map { $0 >= LineQuality.slowRoundTrip } ?? false }

    var isSevere: Bool { lossy != nil && (series.last?.sample.lostShare ?? 0) >= Self.severeShare }

    private func stretchName(_ places: ClosedRange<Int>) -> String {
        let name = series[places.upperBound].name
        if places.lowerBound == 0 { return "between this machine and \(name)" + (link.isEmpty ? "" : " (\(link))") }
        return "between \(series[places.lowerBound - 1].name) and \(name)"
    }

    /// The loss, as a fault of a stretch.
    var blame: Diagnosis.Blame? {
        guard let lossy else { return nil }
        let share = series[lossy.upperBound].sample.lostShare
        let text: Clause =
            "\(LineQuality.lossText(of: Int((share * 1000).rounded()))) of the packets are lost \(stretchName(lossy))"
        guard lossy.lowerBound == 0, hasGateway else { return Diagnosis.Blame(.provider, .internet, .internet, text) }
        if lossy.upperBound == 0 { return Diagnosis.Blame(.localNetwork, .gateway, .gateway, text) }
        return Diagnosis.Blame(.undecided, .internet, .internet, text, between: [.localNetwork, .provider])
    }

    /// The first stretch that takes most of the round trip.
    private var slowPlace: Int {
        let whole = roundTrip ?? .zero
        return series.firstIndex { ($0.sample.roundTrip ?? .zero) * 2 >= whole } ?? max(0, series.count - 1)
    }

    var steps: [Diagnosis.Step] {
        guard let value else { return [] }
        var steps: [Diagnosis.Step] = []
        if let blame { steps.append(blame.step) }
        if value.line.word == .slow, let trip = roundTrip {
            steps.append(
                .init(
                    .internet, .neutral,
                    "The line is slow: a round trip takes \(trip.milliseconds) ms, most of it \(stretchName(slowPlace...slowPlace))."
                ))
        }
        return steps
    }

    var value: Diagnosis.Quality? {
        guard let last = series.last else { return nil }
        let word: LineQuality.Word = lossy != nil ? .lossy : isSlow ? .slow : .good
        let stretch: String? = word == .good ? nil : stretchName(lossy ?? slowPlace...slowPlace)
        let line = LineQuality(
            word, lossPermille: lossy.map { Int((series[$0.upperBound].sample.lostShare * 1000).rounded()) } ?? 0,
            roundTrip: roundTrip ?? last.sample.roundTrip, jitter: jitter,
            packets: series.reduce(0) { $0 + $1.sample.sent })
        return Diagnosis.Quality(line, stretch: stretch)
    }
}

extension DiagnosisEvidence {
    /// The largest share of packets that a sample of a destination lost, of those by the link to a host. One that
    /// answers no echo at all measures nothing.
    func lossiest(like host: HostAddress) -> Double {
        let alike = sampleWitnesses.filter { hop(to: $0)?.interfaceIndex == hop(to: host)?.interfaceIndex }
        return alike.compactMap(sampled).filter { $0.answered > 0 }.map(\.lostShare).max() ?? 0
    }
}
