package import ReachCore

/// Which ways to the Internet are passed over because nothing answers by them, where no checks prove ways: a value.
///
/// A destination that is silent by one way is tried by the next one, once. If it answers there, the first way is silent
/// and is tried again after a pause that doubles; if not, the destination is to blame, and the order stays as it was.
package struct SilentPaths: Hashable, Sendable {
    private enum Finding: Hashable, Sendable {
        /// A destination did not answer by it, and is tried by another one.
        case suspected(of: Destination)
        /// A destination answered by another one, and that so many times since something answered by it.
        case silent(times: Int)
    }

    private struct Note: Hashable, Sendable {
        var finding: Finding
        let until: BootTime
    }

    private var notes: [UInt32: Note] = [:]
    /// When something last answered by each interface.
    private var answers: [UInt32: BootTime] = [:]
    /// Destinations that no way reached, and until when they raise no suspicion.
    private var unreached: [Destination: BootTime] = [:]

    /// An answer shows for so long that a way works, as in `PassiveHealth`.
    private static let answerLifetime: Duration = .seconds(10)
    /// The retry by another way follows within seconds, and takes no longer than the longest time-out of a connection.
    private static let suspicionLifetime: Duration = .seconds(60)
    private static let unreachedLifetime: Duration = .seconds(300)
    private static let limit = 64
    private static let pauses = (first: Duration.seconds(60), longest: Duration.seconds(1800))

    package init() {}

    package var isEmpty: Bool { notes.isEmpty }

    /// Whether other ways are preferred.
    package func passesOver(_ interface: UInt32, at now: BootTime) -> Bool {
        notes[interface].map { now < $0.until } ?? false
    }

    /// When a way is no longer passed over; `nil` while none is.
    package func deadline(after now: BootTime) -> BootTime? { notes.values.map(\.until).filter { $0 > now }.min() }

    /// A destination did not answer by an interface.
    ///
    /// - Returns: Whether another way is preferred from now on.
    package mutating func note(silenceOf destination: Destination, by interface: UInt32, at now: BootTime) -> Bool {
        let suspects = notes.filter { $0.key != interface && $0.value.finding == .suspected(of: destination) }
        if !suspects.isEmpty {
            for key in suspects.keys { notes[key] = nil }
            if unreached.count >= Self.limit { unreached = unreached.filter { now < $0.value } }
            if unreached.count < Self.limit { unreached[destination] = now + Self.unreachedLifetime }
            return true
        }
        if let answer = answers[interface], now - answer < Self.answerLifetime { return false }
        if let time = unreached[destination], now < time { return false }
        if let note = notes[interface] {
            guard now >= note.until else { return false }
            if case .silent(let times) = note.finding {
                pass(over: interface, times: times + 1, at: now)
                return true
            }
        }
        notes[interface] = Note(finding: .suspected(of: destination), until: now + Self.suspicionLifetime)
        return true
    }

    /// Something answered by an interface.
    ///
    /// - Returns: Whether another way is preferred from now on.
    package mutating func note(answerOf destination: Destination, by interface: UInt32, at now: BootTime) -> Bool {
        answers[interface] = now
        guard !notes.isEmpty || !unreached.isEmpty else { return false }
        unreached[destination] = nil
        var isReordered = notes.removeValue(forKey: interface) != nil
        for (key, note) in notes where note.finding == .suspected(of: destination) {
            pass(over: key, times: 1, at: now)
            isReordered = true
        }
        return isReordered
    }

    /// Another network: nothing that was found holds.
    package mutating func forget() { self = SilentPaths() }

    private mutating func pass(over interface: UInt32, times: Int, at now: BootTime) {
        let pause = min(Self.pauses.first * (1 << min(times - 1, 8)), Self.pauses.longest)
        notes[interface] = Note(finding: .silent(times: times), until: now + pause)
    }
}
