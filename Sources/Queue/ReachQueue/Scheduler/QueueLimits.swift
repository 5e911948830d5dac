internal import ReachCore

/// How much the queue accepts.
package struct QueueLimits: Hashable, Sendable {
    /// The longest answer that is kept, where nothing else is configured.
    package static let answerBytes = 64 << 20

    /// The longest URL with headers in bytes, unless a limit is given.
    package static let longestHead = 64 << 10
    /// The most header fields.
    package static let mostHeaders = 1024
    /// The longest key in bytes: of an order, of a piece of work, of idempotency.
    package static let longestKey = 1024
    /// The longest life of a request: ten years. A later deadline may be beyond the last time that 64 bits hold.
    package static let longestLife: Duration = .seconds(3650 * 86_400)

    package var requests = 10_000
    /// The bytes of all users' unfinished requests and uploads; `nil` leaves them to the disk.
    package var bytes: Int64? = 64 << 20
    /// Of one user who is not root.
    package var ownerRequests = 5000
    /// `nil` means a share of what other users leave.
    package var ownerBytes: Int64? = 32 << 20
    package var disk = DiskRules()
    package var inlineBodyBytes = 1 << 20
    /// The longest body that is joined with others.
    package var joinedBytes = RequestSpecification.longestJoined
    /// URL and headers together.
    package var headBytes = longestHead
    package var keyBytes = longestKey

    package init() {}

    /// The bytes that all users may have together.
    ///
    /// - Parameter room: What the disk has room for; `nil` where nothing is kept on a disk.
    package func bytesOfAll(_ room: DiskRoom?) -> ByteLimit {
        let floor = room.map { ByteLimit(bytes: $0.bytes, setter: .keepFree) }
        if let bytes {
            let all = ByteLimit(bytes: bytes, setter: .bytes)
            return floor.map { $0.bytes < bytes ? $0 : all } ?? all
        }
        guard let room, let floor else { return ByteLimit(bytes: .max, setter: .bytes) }
        let share = room.bytes.percent(disk.share)
        return share > DiskRoom.least ? ByteLimit(bytes: share, setter: .diskShare) : floor
    }

    /// The bytes that one user may have. A share of what the others leave always leaves something for the next user,
    /// however many there are.
    ///
    /// - Parameter others: The bytes that all other users have.
    package func bytesOfOwner(_ room: DiskRoom?, others: Int64) -> ByteLimit {
        if let ownerBytes { return ByteLimit(bytes: ownerBytes, setter: .ownerBytes) }
        let left = max(0, bytesOfAll(room).bytes - max(0, others))
        return ByteLimit(bytes: left.percent(disk.ownerShare), setter: .ownerDiskShare)
    }
}

/// A limit on bytes, and what sets it.
package struct ByteLimit: Hashable, Sendable {
    package enum Setter: Hashable, Sendable {
        case bytes, ownerBytes, diskShare, ownerDiskShare, keepFree
    }

    package let bytes: Int64
    package let setter: Setter

    package init(bytes: Int64, setter: Setter) {
        self.bytes = bytes
        self.setter = setter
    }
}

/// A limit on bytes that more of them would exceed.
package struct ByteExcess: Hashable, Sendable {
    package let limit: ByteLimit
    /// The bytes that there would be.
    package let wanted: Int64

    package init(limit: ByteLimit, wanted: Int64) {
        self.limit = limit
        self.wanted = wanted
    }
}

/// How the queue shares a disk with everything else on it.
package struct DiskRules: Hashable, Sendable {
    /// The percentage of the free bytes that requests and uploads may fill.
    package var share = 50
    /// The percentage of what other users leave that one user may fill.
    package var ownerShare = 50
    /// Bytes that stay free; `nil` means a twentieth of the disk, and at most ``mostKeptFree``. A larger part helps no
    /// one on a large disk.
    package var keepFree: Int64?

    package static let mostKeptFree: Int64 = 1 << 30

    package init() {}

    /// The bytes that stay free of a disk of this size.
    package func bytesKeptFree(of size: Int64) -> Int64 {
        max(0, keepFree ?? min(max(0, size) / 20, Self.mostKeptFree))
    }
}

/// The bytes that requests and uploads may fill on a disk, with those that they already fill.
package struct DiskRoom: Hashable, Sendable {
    package let bytes: Int64

    /// Small requests are accepted also where less is free than shall stay free: a queue that refuses a status report
    /// of a few hundred bytes helps a full disk little.
    package static let least: Int64 = 4 << 20

    /// What each user may have of small requests, also where other users or programs have filled the disk.
    package static let leastOfOwner: Int64 = 256 << 10

    /// - Parameters:
    ///   - available: Bytes of the disk that are free for the queue's process.
    ///   - size: All bytes of the disk.
    ///   - held: The bytes of requests and uploads that were on the disk then.
    package init(available: Int64, size: Int64, held: Int64, _ rules: DiskRules) {
        let (free, _) = max(0, available).subtractingReportingOverflow(rules.bytesKeptFree(of: size))
        let (room, isHuge) = max(0, held).addingReportingOverflow(free)
        bytes = isHuge ? .max : max(Self.least, room)
    }
}

extension Int64 {
    /// So many hundredths, rounded down, without an overflow.
    fileprivate func percent(_ share: Int) -> Int64 {
        let (hundredth, rest) = quotientAndRemainder(dividingBy: 100)
        return hundredth * Int64(share) + rest * Int64(share) / 100
    }
}
