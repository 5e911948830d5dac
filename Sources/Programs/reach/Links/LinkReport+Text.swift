internal import ReachCore
internal import ReachTerminal

extension LinkReport.Proof {
    /// Such as `full, 24 ms`, or `full, lossy (8 %)`.
    var words: String {
        if connectivity == .full, let quality, quality.word != .good { return "full, \(quality.text)" }
        let time = connectivity == .full ? roundTrip.map { ", " + DurationText.milliseconds($0) } ?? "" : ""
        return connectivity.rawValue + time
    }
}

extension LinkReport.Traffic {
    /// Such as `1.2 MiB`: all that the link has carried.
    var words: String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var amount = Double(received) + Double(sent)
        var unit = 0
        while amount >= 1024, unit + 1 < units.count {
            amount /= 1024
            unit += 1
        }
        let tenths = Int((amount * 10).rounded())
        return unit == 0 ? "\(Int(amount)) B" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}

extension Connectivity {
    /// The colour of the word for people.
    var colour: TerminalStyle.Colour {
        switch self {
        case .full: .green
        case .unknown: .yellow
        case .none, .portal, .limited: .red
        }
    }
}
