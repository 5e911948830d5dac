internal import ReachCore
internal import ReachQueue

/// What the store has committed, and gives back after a restart.
struct KeptRequests {
    private var rows: [RequestID: StoredRequest] = [:]
    private var breakers: [String: StoredBreaker] = [:]
    private var heldQueues: Set<UInt32> = []

    init(_ changes: [StoreChange] = []) { for change in changes { apply(change) } }

    mutating func apply(_ change: StoreChange) {
        switch change {
        case .insert(let stored, _): rows[stored.id] = stored
        case .lease(let id, let attempt, _, _, _):
            rows[id]?.state = .leased
            rows[id]?.progress.tries = attempt
        case .update(let progress):
            rows[progress.id]?.state = .waiting
            rows[progress.id]?.progress = progress
        case .holdRequest(let id, let isHeld): rows[id]?.progress.isHeld = isHeld
        case .finish(let progress, .dead(let reason), _, let time):
            rows[progress.id]?.state = .dead(reason, at: time)
            rows[progress.id]?.progress = progress
        case .finish(let progress, _, _, _): rows[progress.id] = nil
        case .revive(let progress, let deadline):
            rows[progress.id]?.state = .waiting
            rows[progress.id]?.progress = progress
            rows[progress.id]?.deadline = deadline
        case .holdQueue(let owner, true): heldQueues.insert(owner ?? 0)
        case .holdQueue(let owner, false): heldQueues.remove(owner ?? 0)
        case .purge(let ids): for id in ids { rows[id] = nil }
        case .join(let id, let others): for other in others { rows[other]?.carrier = id }
        case .markRead, .setMetered: break
        case .openBreaker(let breaker):
            breakers[Self.key(breaker.destination, breaker.interface, breaker.owner)] = breaker
        case .closeBreaker(let destination, let interface, let owner):
            breakers[Self.key(destination, interface, owner)] = nil
        }
    }

    private static func key(_ destination: Destination, _ interface: String, _ owner: UInt32) -> String {
        "\(owner) \(interface) \(destination)"
    }

    /// What a run begins with, in this number of pieces.
    func inputs(pieces: Int) -> [QueueInput] {
        let requests = rows.values.sorted { $0.id < $1.id }
        let open = breakers.sorted { $0.key < $1.key }.map(\.value)
        guard pieces > 1 else {
            return [.restore(requests, breakers: open, heldQueues: heldQueues.sorted())]
        }
        var shares: [UInt32: ExpectedRequests.Share] = [:]
        for request in requests {
            if case .dead = request.state { continue }
            shares[request.owner, default: .init(count: 0, bytes: 0)].count += 1
            shares[request.owner, default: .init(count: 0, bytes: 0)].bytes += request.bytesHeld
        }
        var inputs: [QueueInput] = [
            .expectRestored(ExpectedRequests(shares: shares, total: requests.count)),
            .restore([], breakers: open, heldQueues: heldQueues.sorted()),
        ]
        for piece in 0..<pieces {
            let range = requests.count * piece / pieces..<requests.count * (piece + 1) / pieces
            inputs.append(.restore(Array(requests[range]), breakers: [], heldQueues: []))
        }
        return inputs + [.allRestored]
    }
}
