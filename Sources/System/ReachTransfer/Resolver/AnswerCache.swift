internal import ReachCore

/// Answers of name servers, kept for their time to live, up to a cap: a value; the caller has the clock.
struct AnswerCache {
    struct Key: Hashable {
        /// In lower case: names are compared without case.
        let name: String
        /// `nil` for the addresses of both families, as the system's resolver returns them.
        let type: DNSType?
        /// The interface whose servers answered: those of another one may answer differently.
        let interface: InterfaceBinding?
    }

    private struct Entry {
        let answer: DNSAnswer
        let end: BootTime
    }

    /// A daemon should notice a change of a record within minutes, whatever its time to live.
    static let cap: UInt32 = 300
    /// The cap of answers that there is none, which are more often wrong for a moment.
    static let negativeCap: UInt32 = 30
    static let limit = 1024

    private var entries: [Key: Entry] = [:]

    mutating func add(_ answer: DNSAnswer, for key: Key, at now: BootTime) {
        let seconds: UInt32 =
            switch answer {
            case .addresses(_, let seconds): min(seconds, Self.cap)
            case .none(let seconds), .noSuchName(let seconds): min(seconds, Self.negativeCap)
            case .failure: 0
            }
        guard seconds > 0 else { return }
        if entries.count >= Self.limit { makeRoom(at: now) }
        entries[key] = Entry(answer: answer, end: now + .seconds(Int64(seconds)))
    }

    func answer(for key: Key, at now: BootTime) -> DNSAnswer? {
        guard let entry = entries[key], entry.end > now else { return nil }
        return entry.answer
    }

    mutating func removeAll() { entries = [:] }

    var count: Int { entries.count }

    /// Removes expired answers, or else the one that expires first.
    private mutating func makeRoom(at now: BootTime) {
        entries = entries.filter { $0.value.end > now }
        guard entries.count >= Self.limit, let first = entries.min(by: { $0.value.end < $1.value.end }) else { return }
        entries[first.key] = nil
    }
}
