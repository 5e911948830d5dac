internal import ReachCore
internal import ReachLoop

/// The targets that wait for their evaluation after a change.
struct PostponedTargets {
    /// The last one is the next.
    var targets: [WatchedTarget]
    /// What has changed since the targets were evaluated.
    var effects: [NetworkTable.Effect]
    /// Those on which the paths depend that were found since the change.
    var neighbours: PathNeighbours

    /// More causes than these only make a cause less exact.
    static let effectLimit = 64
}

extension ReachabilityEngine {
    /// Where there are more targets that can wait than this, they are evaluated in parts of this size: some 0.6 ms each.
    private static let partSize = 128

    /// The targets that are evaluated after the others; empty where there are few.
    var patientTargets: [WatchedTarget] {
        guard watches.count > Self.partSize else { return [] }
        let patient = watches.values.filter(\.isPatient)
        return patient.count > Self.partSize ? patient : []
    }

    /// Evaluates targets in parts after a change, one in each turn of the loop, so that notices and those who cannot wait go
    /// first: a lookup for each of 10,000 addresses takes 50 ms.
    ///
    /// Those that wait since an earlier change come before the others, so each has its turn however often the network
    /// changes.
    func postpone(_ later: [WatchedTarget], after effects: [NetworkTable.Effect], _ finder: PathFinder) {
        let isScheduled = postponed != nil
        let earlier = postponed?.targets ?? []
        let known = Set(earlier.map(ObjectIdentifier.init))
        var all = postponed?.effects ?? []
        for effect in effects where !all.contains(effect) { all.append(effect) }
        postponed = PostponedTargets(
            targets: later.filter { !known.contains(ObjectIdentifier($0)) } + earlier,
            effects: all.suffix(PostponedTargets.effectLimit), neighbours: PathNeighbours(finder))
        // What paths depended on before may still count.
        neighbours.current.add(finder)
        if !isScheduled { evaluatePartLater() }
    }

    private func evaluatePartLater() {
        loop.afterEvents { [loopReference] in
            // Work deferred now would still run in this turn.
            loopReference.owner?.loop.afterEvents { [loopReference] in loopReference.owner?.evaluatePart() }
        }
    }

    private func evaluatePart() {
        guard var waiting = postponed else { return }
        postponed = nil
        guard observationError == nil else { return }
        let part = Array(waiting.targets.suffix(Self.partSize))
        waiting.targets.removeLast(part.count)
        let finder = evaluate(only: part.filter(\.isWatched), after: waiting.effects)
        // A neighbour or an error may have led to an evaluation of all meanwhile.
        guard let finder, postponed == nil else { return }
        waiting.neighbours.add(finder)
        guard waiting.targets.isEmpty else {
            postponed = waiting
            return evaluatePartLater()
        }
        neighbours.current = waiting.neighbours
    }
}
