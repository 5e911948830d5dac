internal import ReachCore

extension JSONWriter {
    /// Only lines that are measured have the key, since states are written for each change.
    mutating func quality(_ quality: LineQuality?) {
        guard let quality else { return }
        field("quality", object: { $0.figures(of: quality) })
    }

    mutating func figures(of quality: LineQuality) {
        field("word", quality.word.rawValue)
        field("loss_permille", quality.lossPermille.wide)
        field("round_trip_us", quality.roundTrip?.microseconds)
        field("jitter_us", quality.jitter?.microseconds)
        field("packets", quality.packets.wide)
    }
}

extension LineQuality {
    init(figures reader: StatusReader) throws(StatusReadingError) {
        self.init(
            try reader.word("word") ?? .good, lossPermille: Int(try reader.value("loss_permille", \.integer)),
            roundTrip: try reader.optional("round_trip_us", \.integer).map { .microseconds($0) },
            jitter: try reader.optional("jitter_us", \.integer).map { .microseconds($0) },
            packets: Int(try reader.value("packets", \.integer)))
    }
}

extension StatusReader {
    /// What the line is like; `nil` where it is not measured, and from an older daemon.
    func quality() throws(StatusReadingError) -> LineQuality? {
        guard try optional("quality", \.object) != nil else { return nil }
        return try LineQuality(figures: try object("quality"))
    }
}
