import ReachCore
import ReachTesting

@testable import ReachQueue

extension QueueEntry {
    static func test(_ id: RequestID, owner: UInt32 = 7, bytes: Int64 = 0, since: BootTime = .at(0)) -> QueueEntry {
        var entry = QueueEntry(
            id: id, group: GroupIndex(rawValue: 0), destination: DestinationIndex(rawValue: 0), priority: .normal,
            owner: owner, created: since, deadline: .at(1000), since: since, heldSince: since, waitsSince: since)
        entry.bytes = bytes
        return entry
    }
}
