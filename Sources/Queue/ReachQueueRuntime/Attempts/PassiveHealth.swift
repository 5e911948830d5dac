package import ReachCore
package import ReachQueue

/// What the queue's own attempts show of a path, where nothing probes it: who answers by it proves it, and that several
/// who have nothing to do with each other are silent speaks against it.
package struct PassiveHealth: Hashable, Sendable {
    package enum PassiveEvidence: Hashable, Sendable {
        case works
        case fails
        case none
    }

    private struct Note: Hashable, Sendable {
        let destination: Destination
        let answered: Bool
        let time: BootTime
    }

    private var notes: [UInt32: [Note]] = [:]

    /// An answer says nothing of the network of ten seconds later.
    private static let answerLifetime: Duration = .seconds(10)
    private static let silenceLifetime: Duration = .seconds(30)
    /// So many destinations, of which none has answered meanwhile. One alone may be down, two not by chance.
    private static let silentDestinations = 2
    private static let limit = 16

    package init() {}

    package mutating func note(answerFrom destination: Destination, by interface: UInt32, at now: BootTime) {
        add(Note(destination: destination, answered: true, time: now), interface)
    }

    package mutating func note(silenceOf destination: Destination, by interface: UInt32, at now: BootTime) {
        add(Note(destination: destination, answered: false, time: now), interface)
    }

    package func evidence(on interface: UInt32, at now: BootTime) -> PassiveEvidence {
        let notes = notes[interface] ?? []
        if notes.contains(where: { $0.answered && now - $0.time < Self.answerLifetime }) { return .works }
        let silent = notes.filter { !$0.answered && now - $0.time < Self.silenceLifetime }
        return Set(silent.map(\.destination)).count >= Self.silentDestinations ? .fails : .none
    }

    /// One note for each destination: the last word counts.
    private mutating func add(_ note: Note, _ interface: UInt32) {
        var held = notes[interface] ?? []
        // A server that answers a thousand times a second says no more by that.
        if let last = held.last, last.destination == note.destination, last.answered == note.answered,
            note.time - last.time < .milliseconds(100)
        {
            return
        }
        held.removeAll { $0.destination == note.destination }
        held.append(note)
        if held.count > Self.limit { held.removeFirst() }
        notes[interface] = held
    }
}
