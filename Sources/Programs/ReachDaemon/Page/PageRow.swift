internal import ReachCore
internal import ReachPage
internal import ReachRecords
internal import ReachTerminal

/// One target or probe on a page, with strips of its past.
struct PageRow {
    /// How it is now. Each has a sign of its own, so that none needs a colour.
    enum Word: String {
        case up
        case degraded
        case down
        case unknown
        case paused

        var sign: String {
            switch self {
            case .up: "✓"
            case .degraded: "!"
            case .down: "✕"
            case .unknown: "?"
            case .paused: "‖"
            }
        }
    }

    let name: String
    let word: Word
    /// The target of the history.
    private let recorded: String
    private let isProbe: Bool
    /// As HTML.
    private let details: [String]

    init(_ name: String, _ state: ReachabilityState, _ page: MachinePage) {
        (self.name, recorded, isProbe) = (name, name, false)
        word = Word(state)
        details = [HTMLPage.escaped(Self.summary(of: state)), "since \(page.time(state.useSince))"]
    }

    init(_ probe: ProbeReport, _ page: MachinePage) {
        (name, recorded, isProbe) = (probe.name, HistoryEntry.target(ofProbe: probe.name), true)
        word = probe.pause != nil ? .paused : probe.state == .up ? .up : probe.state == .down ? .down : .unknown
        var details = [HTMLPage.escaped(Self.publicPart(of: probe.target))]
        if let pause = probe.pause { details.append("paused: \(pause.sentence)") }
        if probe.state != .unknown { details.append("\(probe.state.rawValue) since \(page.time(probe.since))") }
        if word == .down, let last = probe.last {
            details.append(HTMLPage.escaped(last.detail.isEmpty ? last.outcome.reason ?? "" : last.detail))
        }
        if word == .up, let last = probe.last, last.outcome == .ok {
            details.append(DurationText.milliseconds(last.duration))
        }
        if let latency = probe.latency { details.append("median \(DurationText.milliseconds(latency.median))") }
        self.details = details
    }

    /// A state in words, without the address of a portal, which may have the key of a session in it: more people may
    /// read a page than may log in to the machine.
    static func summary(of state: ReachabilityState) -> String {
        var state = state
        state.portal = nil
        return StatusText(style: .plain).summary(of: state)
    }

    /// What of a URL everyone may know: paths and queries often have keys in them.
    static func publicPart(of target: String) -> String {
        let pieces = URLPieces(target)
        guard let scheme = pieces.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let authority = pieces.authority
        else {
            return target
        }
        return "\(scheme)://\(authority.host)" + (authority.port.map { ":" + $0 } ?? "")
    }

    func html(_ page: MachinePage) -> String {
        let lines = details.filter { !$0.isEmpty }.joined(separator: ", ")
        return "<li class=\"row \(word.rawValue)\"><div><h3>\(HTMLPage.escaped(name)) "
            + "<span class=\"word\"><span aria-hidden=\"true\">\(word.sign)</span> \(word.rawValue)</span>"
            + "</h3>\n<p>\(lines)</p></div>\n"
            + strips(page) + "</li>\n"
    }

    private func strips(_ page: MachinePage) -> String {
        let archive = isProbe ? page.archives[name] : nil
        guard page.history != nil || archive != nil else { return "" }
        let periods = page.periods
        let end = Timestamp(nanosecondsSince1970: periods.all.compactMap { $0.edges.last }.max() ?? 0)
        let timeline = page.history?.timeline(of: recorded, since: periods.first, until: end)
        let strips = periods.all.enumerated().map { number, period in
            let shares = timeline?.shares(between: period.edges) ?? period.edges.dropLast().map { _ in TimeShare() }
            guard number == 0, let archive, archive.count == shares.count else { return Self.strip(period, shares) }
            // The history is exact, and limited in the number of its entries.
            return Self.strip(period, zip(shares, archive).map { $0.isKnown || $1.isEmpty ? $0 : $1 })
        }
        return "<div class=\"strips\">\(strips.joined())</div>\n"
    }

    private static func strip(_ period: PagePeriods.Period, _ shares: [TimeShare]) -> String {
        let whole = shares.reduce(TimeShare(), +)
        let percent = whole.downShare.map { PercentText.roundedDown(1 - $0) } ?? "not known"
        var titles: [Int: String] = [:]
        var words: [String] = []
        for (number, share) in shares.enumerated() where share.down > 0 {
            let when = period.title(Timestamp(nanosecondsSince1970: period.edges[number]))
            let length = DurationText.describe(.seconds(share.down))
            titles[number] = "\(when): down for \(length)"
            words.append("\(when) for \(length)")
        }
        let most = 5
        let more = words.count > most ? ["and \(words.count - most) earlier"] : []
        let down = words.isEmpty ? "" : "; down " + (words.reversed().prefix(most) + more).joined(separator: ", ")
        let strip = TimeStrip(shares.map(\.level), label: "\(period.name): \(percent) up\(down)", titles: titles)
        return
            "<div>\(strip.svg)<p class=\"ends\" aria-hidden=\"true\"><span>\(period.name)</span><span>\(percent)</span>"
            + "</p></div>"
    }
}

extension PageRow.Word {
    /// A path of which is proved that the Internet does not answer there is no path.
    init(_ state: ReachabilityState) {
        switch (state.status, state.connectivity) {
        case (.unknown, _): self = .unknown
        case (.notReachable, _): self = .down
        case (.reachable, .portal), (.reachable, .limited), (.reachable, .none): self = .down
        case (.reachable, _): self = state.quality.map { $0.word != .good } == true ? .degraded : .up
        }
    }
}

extension ProbePause {
    /// Why nothing is sent, for people.
    fileprivate var sentence: String {
        switch self {
        case .noPath: "there is no path"
        case .interface: "its interface cannot carry packets"
        case .linkClass: "the path is of another class"
        case .network: "the path leads to another network"
        case .metered: "the path is metered, or may be"
        case .notValidated: "the Internet does not answer"
        case .quality: "the line is not good enough"
        case .tunnel: "a tunnel leads to it"
        }
    }
}

extension TimeShare {
    fileprivate var isKnown: Bool { up + down + unknown > 0 }
}
