internal import ReachQueue

/// Bytes of answers that are on their way, or begun and waiting for their next attempt: an owner's together.
struct AnswerQuota {
    private var parts: [RequestID: (owner: UInt32, bytes: UInt64)] = [:]
    private var totals: [UInt32: UInt64] = [:]

    mutating func set(_ id: RequestID, of owner: UInt32, to bytes: UInt64) {
        remove(id)
        parts[id] = (owner, bytes)
        totals[owner, default: 0] += bytes
    }

    mutating func remove(_ id: RequestID) {
        guard !parts.isEmpty, let part = parts.removeValue(forKey: id), let total = totals[part.owner] else { return }
        totals[part.owner] = total > part.bytes ? total - part.bytes : nil
    }

    func bytes(of owner: UInt32) -> UInt64 { totals[owner] ?? 0 }

    func bytes(of owner: UInt32, without id: RequestID) -> UInt64 { bytes(of: owner) - (parts[id]?.bytes ?? 0) }

    /// The oldest of an owner's that is so.
    func first(of owner: UInt32, where isWanted: (RequestID) -> Bool) -> RequestID? {
        parts.filter { $0.value.owner == owner && isWanted($0.key) }.keys.min()
    }
}
