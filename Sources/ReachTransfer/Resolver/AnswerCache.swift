internal import ReachCore

/// What name servers said, for as long as they said it holds, and no longer than a cap: a value; the clock is the caller's.
struct AnswerCache {
    struct Key: Hashable {
        /// In lower case: case makes no difference.
        let name: String
        /// `nil` for the addresses of both families, as the system's resolver has them.
        let type: DNSType?
        /// Another interface's servers may answer otherwise.
        let interface: InterfaceBinding?
    }

    private struct Entry {
        let answer: DNSAnswer
        let end: BootTime
    }

    /// A daemon should notice a change of a record within minutes, whatever its time to live.
    static let cap: UInt32 = 300
    /// "There is none" is more often wrong for a moment.
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

    /// What is over goes, or else what ends first.
    private mutating func makeRoom(at now: BootTime) {
        entries = entries.filter { $0.value.end > now }
        guard entries.count >= Self.limit, let first = entries.min(by: { $0.value.end < $1.value.end }) else { return }
        entries[first.key] = nil
    }
}
