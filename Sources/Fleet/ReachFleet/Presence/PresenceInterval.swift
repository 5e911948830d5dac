package import ReachCore

/// A time in which a host's presence was one and the same.
package struct PresenceInterval: Hashable, Sendable {
    package enum Word: UInt8, Hashable, Sendable {
        /// It was with the server, or says that it reached the Internet.
        case here
        /// It was not with the server, or says that it had no path to the Internet.
        case away
        /// It was with the server, and says that it did not reach the Internet.
        case limited
        /// It had said goodbye, or closed its connection itself and nothing that is known says why.
        case left
        /// Nobody can know.
        case unknown
    }

    /// `nil` for a beginning that nobody knows.
    package internal(set) var start: Timestamp?
    /// `nil` while it lasts.
    package internal(set) var end: Timestamp?
    package internal(set) var word: Word
    /// Whether the host itself says so, and not only the server.
    package internal(set) var isConfirmed = false
    package internal(set) var reason: Reason?
    /// How much later it may have begun.
    package internal(set) var vagueness: Duration = .zero

    package init(
        _ word: Word, from start: Timestamp? = nil, to end: Timestamp? = nil, isConfirmed: Bool = false,
        reason: Reason? = nil, vagueness: Duration = .zero
    ) {
        (self.start, self.end, self.word, self.isConfirmed) = (start, end, word, isConfirmed)
        (self.reason, self.vagueness) = (reason, vagueness)
    }
}

/// The times of a line without gap or overlap, which later words replace in part.
struct PresenceLine {
    /// What holds from a time on, in nanoseconds since 1970, until the next.
    struct Piece: Hashable {
        var from: Int64
        var word: PresenceInterval.Word
        var isConfirmed = false
        var reason: Reason?
        var vagueness: Duration = .zero
        /// Whether a server was there to see it: such a piece is not replaced by a host that does not know.
        var isSeen = false

        /// Whether the next piece belongs to it.
        func continues(in next: Piece) -> Bool {
            word == next.word && isConfirmed == next.isConfirmed && (next.reason == nil || reason == next.reason)
        }
    }

    private(set) var pieces: [Piece]

    init() { pieces = [Piece(from: .min, word: .unknown)] }

    /// Adds what holds from a time on that is later than all before.
    mutating func append(_ piece: Piece) {
        if let last = pieces.last, last.from >= piece.from { pieces.removeLast() }
        pieces.append(piece)
    }

    /// The end of a piece.
    func end(of index: Int) -> Int64 { index + 1 < pieces.count ? pieces[index + 1].from : .max }

    /// Replaces what holds between two times.
    ///
    /// - Parameter change: The new piece for an old one; the same for one that stays.
    mutating func replace(from: Int64, to: Int64, _ change: (Piece) -> Piece) {
        guard from < to else { return }
        let places = index(at: from)...index(at: to - 1)
        var new: [Piece] = []
        for index in places {
            let piece = pieces[index]
            if piece.from < from { new.append(piece) }
            var changed = change(piece)
            changed.from = max(piece.from, from)
            new.append(changed)
            if end(of: index) > to {
                var rest = piece
                rest.from = to
                new.append(rest)
            }
        }
        pieces.replaceSubrange(places, with: new)
    }

    /// The piece in which a time is. A year of a host may have a thousand pieces.
    private func index(at time: Int64) -> Int {
        var (low, high) = (0, pieces.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if pieces[middle].from <= time { low = middle } else { high = middle }
        }
        return low
    }

    /// The piece that begins at a time.
    func index(from time: Int64) -> Int? {
        let index = index(at: time)
        return pieces[index].from == time ? index : nil
    }

    /// The intervals, each as long as it can be.
    var intervals: [PresenceInterval] {
        var joined: [Piece] = []
        for piece in pieces {
            if let last = joined.last, last.continues(in: piece) { continue }
            joined.append(piece)
        }
        return joined.enumerated().map { index, piece in
            PresenceInterval(
                piece.word, from: piece.from == .min ? nil : Timestamp(nanosecondsSince1970: piece.from),
                to: index + 1 < joined.count ? Timestamp(nanosecondsSince1970: joined[index + 1].from) : nil,
                isConfirmed: piece.isConfirmed, reason: piece.reason, vagueness: piece.vagueness)
        }
    }
}
