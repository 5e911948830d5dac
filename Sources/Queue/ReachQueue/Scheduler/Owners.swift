package import ReachCore

/// What each user's requests occupy, and who holds whose requests.
///
/// Invariants: the totals are the sums of the accounts, with the requests that are still to be restored; a user has an
/// account only while something counts in it.
struct Owners: Sendable {
    private struct Account: Sendable {
        /// Unfinished requests and their bytes.
        var count = 0
        var bytes: Int64 = 0
        /// The bytes of uploads that no request uses yet.
        var reserved: Int64 = 0
        /// The time since which the user holds all of their requests; `nil` without such a hold.
        var heldSince: BootTime?

        var isIdle: Bool { count == 0 && reserved == 0 && heldSince == nil }
    }

    private var accounts: [UInt32: Account] = [:]
    /// The unfinished requests of all users.
    private(set) var count = 0
    /// Their bytes, with those of uploads that no request uses yet.
    private(set) var bytes: Int64 = 0
    /// The requests of an earlier run that are still to be restored; `nil` if there are none.
    private(set) var expected: ExpectedRequests?
    /// What the disk had room for when it was last measured; `nil` where nothing is kept on a disk.
    var diskRoom: DiskRoom?
    /// The time since which root holds all requests; `nil` without such a hold.
    private(set) var rootHold: BootTime?
    /// The fleet's hold, which is independent of those of users.
    private(set) var fleetHold: FleetHold?

    // MARK: Accounts

    func count(of owner: UInt32) -> Int { accounts[owner]?.count ?? 0 }

    func bytes(of owner: UInt32) -> Int64 { accounts[owner].map { $0.bytes + $0.reserved } ?? 0 }

    mutating func add(_ count: Int, bytes: Int64, to owner: UInt32) {
        self.count += count
        self.bytes += bytes
        change(owner) { account in
            account.count += count
            account.bytes += bytes
        }
    }

    /// Counts the bytes of an upload until a request uses it. A negative number removes them again.
    mutating func reserve(_ bytes: Int64, for owner: UInt32) {
        self.bytes += bytes
        change(owner) { $0.reserved += bytes }
    }

    private mutating func change(_ owner: UInt32, _ change: (inout Account) -> Void) {
        change(&accounts[owner, default: Account()])
        if accounts[owner]?.isIdle == true { accounts[owner] = nil }
    }

    // MARK: Restoring

    mutating func expect(_ requests: ExpectedRequests) {
        expected = requests
        for (owner, share) in requests.shares { add(share.count, bytes: share.bytes, to: owner) }
    }

    /// An expected request was restored, and is counted by itself from now on.
    mutating func restored(_ bytes: Int64, of owner: UInt32) {
        guard let share = expected?.remove(bytes, of: owner) else { return }
        add(-share.count, bytes: -share.bytes, to: owner)
    }

    /// What was expected and did not come was set aside, since its rows meant nothing.
    mutating func endRestoring() {
        for (owner, share) in expected?.shares ?? [:] { add(-share.count, bytes: -share.bytes, to: owner) }
        expected = nil
    }

    // MARK: Holds

    /// Whether all requests are held, by root or by the fleet.
    var holdsAll: Bool { rootHold != nil || fleetHold != nil }

    func isHeld(_ owner: UInt32) -> Bool { !accounts.isEmpty && accounts[owner]?.heldSince != nil }

    /// The time since which root or the owner holds the owner's requests.
    func heldSince(_ owner: UInt32) -> BootTime? { rootHold ?? accounts[owner]?.heldSince }

    /// Root holds the requests of all users, another user their own.
    ///
    /// - Parameter time: `nil` releases them.
    /// - Returns: Whether that changed anything.
    mutating func hold(_ user: UInt32, since time: BootTime?) -> Bool {
        let before = user == 0 ? rootHold : accounts[user]?.heldSince
        guard (before != nil) != (time != nil) else { return false }
        if user == 0 { rootHold = time } else { change(user) { $0.heldSince = time } }
        return true
    }

    /// The reason of a hold that stands may change.
    ///
    /// - Parameter time: `nil` releases the requests.
    /// - Returns: Whether requests are held now that were not, or the reverse.
    mutating func holdByFleet(since time: BootTime?, reason: String?) -> Bool {
        let before = fleetHold
        fleetHold = time.map { FleetHold(since: before?.since ?? $0, reason: reason) }
        return (before != nil) != (time != nil)
    }

    /// The holds that the client may see: its own, root's and the fleet's; for root, those of all users.
    func holds(for client: QueueInput.Client, at moment: Instant) -> [QueueHold] {
        var holds = accounts.filter { client.mayTouch($0.key) }.compactMap { owner, account in
            account.heldSince.map { QueueHold(source: .user, owner: owner, since: moment.at($0)) }
        }
        holds.sort { $0.owner ?? 0 < $1.owner ?? 0 }
        if let rootHold { holds.append(QueueHold(source: .root, since: moment.at(rootHold))) }
        if let fleetHold {
            holds.append(QueueHold(source: .fleet, since: moment.at(fleetHold.since), reason: fleetHold.reason))
        }
        return holds
    }
}

/// The fleet's hold of the queue. Its reason is not kept over a restart; the fleet's agent sends it again.
struct FleetHold: Sendable {
    let since: BootTime
    let reason: String?
}

/// What keeps a whole queue from being sent.
package struct QueueHold: Hashable, Sendable {
    package enum Source: String, Hashable, Sendable, CaseIterable {
        /// A user holds their own requests.
        case user
        /// Root holds those of all users.
        case root
        /// The fleet holds them.
        case fleet
    }

    package var source: Source
    /// The user, for ``Source/user``.
    package var owner: UInt32?
    package var since: Instant
    /// The reason for people.
    package var reason: String?

    package init(source: Source, owner: UInt32? = nil, since: Instant, reason: String? = nil) {
        self.source = source
        self.owner = owner
        self.since = since
        self.reason = reason
    }
}

// MARK: Limits

extension QueueScheduler {
    /// The number of unfinished requests.
    package var count: Int { owners.count }

    /// What the disk had room for when it was last measured; `nil` where nothing is kept on a disk.
    package var diskRoom: DiskRoom? {
        get { owners.diskRoom }
        set { owners.diskRoom = newValue }
    }

    /// The number of a user's unfinished requests; for root, of those of all users.
    package func count(of client: QueueInput.Client) -> Int {
        client.user == 0 ? owners.count : owners.count(of: client.user)
    }

    /// The bytes that count for the limits of one owner and of all owners: unfinished requests, uploads, and the bytes
    /// of dead requests beyond those that the policy keeps. There may be some, since the last dead request is always
    /// kept.
    package func bytes(of owner: UInt32) -> (owner: Int64, all: Int64) {
        (owners.bytes(of: owner) + deadlines.surplusBytes(of: owner), owners.bytes + deadlines.surplusBytes)
    }

    /// The limit that more bytes of an owner would exceed; `nil` if they fit.
    ///
    /// - Parameter isLimited: Whether the limit of one user applies; for root only the queue's does.
    package func excess(of bytes: Int64, for owner: UInt32, isLimited: Bool) -> ByteExcess? {
        let held = self.bytes(of: owner)
        // Small requests of other users still fit, whoever filled the disk.
        let isByDisk = policy.limits.bytes == nil && policy.limits.ownerBytes == nil
        if isLimited, isByDisk, held.owner + bytes <= DiskRoom.leastOfOwner { return nil }
        let all = policy.limits.bytesOfAll(diskRoom)
        if held.all + bytes > all.bytes { return ByteExcess(limit: all, wanted: held.all + bytes) }
        guard isLimited else { return nil }
        let limit = policy.limits.bytesOfOwner(diskRoom, others: held.all - held.owner)
        return held.owner + bytes > limit.bytes ? ByteExcess(limit: limit, wanted: held.owner + bytes) : nil
    }

    /// The longest upload that would fit if there were nothing else in the queue. A longer one never fits.
    ///
    /// - Parameter isLimited: Whether the limit of one user applies.
    package func longest(isLimited: Bool) -> ByteLimit {
        isLimited ? policy.limits.bytesOfOwner(diskRoom, others: 0) : policy.limits.bytesOfAll(diskRoom)
    }

    /// Counts the bytes of an upload for its owner until a request uses the upload. A negative number takes them off
    /// again.
    package mutating func reserve(_ bytes: Int64, for owner: UInt32) { owners.reserve(bytes, for: owner) }

    /// The holds of whole queues that the client may see: its own, root's and the fleet's; for root, those of all
    /// users.
    package func holds(for client: QueueInput.Client) -> [QueueHold] { owners.holds(for: client, at: moment) }
}

extension ByteExcess {
    /// The word for a client.
    package var refusal: QueueReply.Refusal {
        switch limit.setter {
        case .bytes, .diskShare, .keepFree: .queueFull
        case .ownerBytes, .ownerDiskShare: .userLimit
        }
    }
}

extension Instant {
    /// A boot time on both clocks.
    func at(_ time: BootTime) -> Instant { Instant(wall: wall + (time - boot), boot: time) }
}
