import ReachCore
import ReachQueue
import Testing

/// How much of the disk the queue accepts, and of each user.
@Suite struct QueueLimitsTests {
    private static let mebi: Int64 = 1 << 20
    private static let gibi: Int64 = 1 << 30

    private static func room(available: Int64, size: Int64, held: Int64 = 0, keepFree: Int64? = nil) -> DiskRoom {
        var rules = DiskRules()
        rules.keepFree = keepFree
        return DiskRoom(available: available, size: size, held: held, rules)
    }

    @Test(
        arguments: [
            // Available, size, held, keep free, room. A twentieth stays free, and at most a gibibyte.
            (100 * gibi, 400 * gibi, 0, nil, 99 * gibi), (10 * gibi, 10 * gibi, 0, nil, 10 * gibi - gibi / 2),
            (10 * gibi, 10 * gibi, gibi, 0, 11 * gibi), (3 * gibi, 10 * gibi, gibi, 2 * gibi, 2 * gibi),
            // Where less is free than shall be, only small requests fit.
            (gibi, 10 * gibi, 0, 2 * gibi, DiskRoom.least), (0, 0, 0, nil, DiskRoom.least),
            (0, 10 * gibi, 3 * mebi, 0, DiskRoom.least), (.max, .max, .max, 0, .max), (-1, -1, -1, -1, DiskRoom.least),
        ] as [(Int64, Int64, Int64, Int64?, Int64)])
    func `what stays free is not the queue's, and what the queue has is`(
        available: Int64, size: Int64, held: Int64, keepFree: Int64?, room: Int64
    ) {
        #expect(Self.room(available: available, size: size, held: held, keepFree: keepFree).bytes == room)
    }

    @Test func `without limits in bytes all users have half of the room, and one has half of what others leave`() {
        var limits = QueueLimits()
        (limits.bytes, limits.ownerBytes) = (nil, nil)
        let room = Self.room(available: 800 * Self.mebi, size: 800 * Self.mebi, keepFree: 0)
        let all = limits.bytesOfAll(room)
        #expect(all.setter == .diskShare && all.bytes == 400 * Self.mebi)
        for (others, own) in [(0, 200), (200 * Self.mebi, 100), (390 * Self.mebi, 5), (500 * Self.mebi, 0)] {
            let limit = limits.bytesOfOwner(room, others: others)
            #expect(limit.setter == .ownerDiskShare && limit.bytes / Self.mebi == own)
        }
    }

    @Test func `limits in bytes replace the shares, but the floor stays free`() {
        var limits = QueueLimits()
        (limits.bytes, limits.ownerBytes) = (8 * Self.mebi, 6 * Self.mebi)
        let wide = Self.room(available: Self.gibi, size: Self.gibi, keepFree: 0)
        #expect(limits.bytesOfAll(wide) == ByteLimit(bytes: 8 * Self.mebi, setter: .bytes))
        #expect(limits.bytesOfOwner(wide, others: Self.mebi) == ByteLimit(bytes: 6 * Self.mebi, setter: .ownerBytes))
        let narrow = Self.room(available: Self.gibi, size: Self.gibi, keepFree: 2 * Self.gibi)
        #expect(limits.bytesOfAll(narrow) == ByteLimit(bytes: DiskRoom.least, setter: .keepFree))
        limits.bytes = nil
        #expect(limits.bytesOfAll(narrow) == ByteLimit(bytes: DiskRoom.least, setter: .keepFree))
        #expect(limits.bytesOfAll(nil).bytes == .max)
    }

    private func stage() -> QueueStage {
        var policy = QueuePolicy()
        (policy.limits.bytes, policy.limits.ownerBytes) = (nil, nil)
        var stage = QueueStage(policy)
        stage.queue.diskRoom = Self.room(available: 800 * Self.mebi, size: 800 * Self.mebi, keepFree: 0)
        return stage
    }

    @Test func `however much one user uploads, the next ones have room`() {
        var stage = stage()
        // Each takes all that it gets, in pieces.
        let piece: Int64 = 1 << 18
        for owner in UInt32(1)...6 {
            while stage.queue.excess(of: piece, for: owner, isLimited: true) == nil {
                stage.queue.reserve(piece, for: owner)
            }
            #expect(stage.queue.bytes(of: owner).owner >= 2 * Self.mebi, "user \(owner)")
            let excess = stage.queue.excess(of: piece, for: owner, isLimited: true)
            #expect(excess?.refusal == .userLimit && excess?.limit.setter == .ownerDiskShare)
        }
        // Root has the rest, and the floor is below.
        while stage.queue.excess(of: piece, for: 0, isLimited: false) == nil { stage.queue.reserve(piece, for: 0) }
        #expect(stage.queue.excess(of: piece, for: 0, isLimited: false)?.refusal == .queueFull)
        #expect(stage.queue.bytes(of: 0).all <= 400 * Self.mebi)
    }

    @Test func `an upload that is complete is accepted, whatever other users added meanwhile`() throws {
        var stage = stage()
        stage.queue.reserve(190 * Self.mebi, for: 7)
        stage.queue.reserve(100 * Self.mebi, for: 8)
        var request = try QueuedRequest(RequestSpecification(url: "https://a.example/"), owner: 7)
        request.specification.method = "PUT"
        request.specification.body = .spooled(name: "body-1", bytes: 190 * Self.mebi)
        #expect(stage.ask { .add(request, $0) } == .refused(.queueFull))
        request.uploadedBytes = 190 * Self.mebi
        guard case .added? = stage.ask({ .add(request, $0) }) else { throw CancellationError() }
        // It counts once.
        #expect(stage.queue.bytes(of: 7).owner - 190 * Self.mebi < 1000)
    }

    @Test func `an upload does not exempt the rest of its request from the limits`() throws {
        var stage = stage()
        var request = try QueuedRequest(RequestSpecification(url: "https://a.example/"), owner: 7)
        request.specification.method = "PUT"
        request.specification.headers = [HeaderField("X-Long", String(repeating: "a", count: 60_000))]
        request.specification.body = .spooled(name: "body-1", bytes: 1)
        request.uploadedBytes = 1
        var count = 0
        stage.queue.diskRoom = Self.room(available: 4 * Self.mebi, size: 800 * Self.mebi, keepFree: 0)
        while count < 100 {
            stage.queue.reserve(1, for: 7)
            guard case .added? = stage.ask({ .add(request, $0) }) else { break }
            count += 1
        }
        #expect(count < 40, "\(count) requests of 60 kB in 2 MiB")
    }

    @Test func `whoever fills the disk, small requests of others still fit`() throws {
        var stage = stage()
        stage.queue.reserve(100 * Self.mebi, for: 8)
        stage.queue.diskRoom = Self.room(
            available: 0, size: 800 * Self.mebi, held: 100 * Self.mebi, keepFree: Self.gibi)
        #expect(stage.queue.excess(of: 300, for: 7, isLimited: true) == nil)
        #expect(stage.queue.excess(of: 300 << 10, for: 7, isLimited: true) != nil)
        #expect(stage.queue.excess(of: DiskRoom.leastOfOwner, for: 7, isLimited: true) == nil)
        #expect(stage.queue.excess(of: DiskRoom.leastOfOwner + 1, for: 7, isLimited: true) != nil)
        #expect(stage.queue.excess(of: 300, for: 0, isLimited: false) != nil)
        #expect(stage.queue.excess(of: 300, for: 8, isLimited: true) != nil)
    }

    @Test func `what a dead request has beyond the bytes that are kept counts against its user`() throws {
        var policy = QueuePolicy()
        policy.dead.bytes = 10_000
        var stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add(by: 7) {
            $0.body = .inline([UInt8](repeating: 0, count: 50_000))
        }
        let alive = stage.queue.bytes(of: 7).owner
        stage.answer(id, 404)
        #expect(stage.state(id) == .dead)
        let dead = stage.queue.bytes(of: 7)
        #expect(dead.owner == dead.all && (alive - 10_000...alive - 9000).contains(dead.owner), "\(dead), \(alive)")
        #expect(stage.ask { .retry(id, .root, $0) } == .retried(1))
        #expect(stage.queue.bytes(of: 7).owner == alive)
    }

    @Test func `a dead request that is sent again takes its own bytes from those of the dead, once`() throws {
        var policy = QueuePolicy()
        policy.dead.bytes = 100_000
        var stage = QueueStage(policy)
        stage.network([.wired])
        let ids = try [40_000, 40_000, 70_000].map { bytes in
            try stage.add(by: 7) { $0.body = .inline([UInt8](repeating: 0, count: bytes)) }
        }
        for id in ids[..<2] { stage.answer(id, 404) }
        stage.ask { .retry(ids[0], .root, $0) }
        #expect(stage.state(ids[1]) == .dead)
        stage.answer(ids[2], 404)
        #expect(stage.state(ids[1]) == nil && stage.state(ids[2]) == .dead)
    }

    @Test func `the answer that a request died of counts with it`() throws {
        var policy = QueuePolicy()
        policy.dead.bytes = 10_000
        var stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add(by: 7)
        let result = RequestResult(status: 404, body: .inline([UInt8](repeating: 0, count: 50_000)))
        stage.send(.ended(id, .answered(result, isAccepted: false)))
        #expect((40_000...42_000).contains(stage.queue.bytes(of: 7).owner), "\(stage.queue.bytes(of: 7))")
        stage.ask { .forget(id, .root, $0) }
        #expect(stage.queue.bytes(of: 7) == (0, 0))
    }

    @Test func `the figures count each request in one place`() throws {
        var stage = stage()
        #expect(stage.queue.statistics(at: stage.moment.boot).oldest == nil)
        let first = try stage.add(by: 7)
        stage.pass(.seconds(60))
        let second = try stage.add(by: 8)
        #expect(stage.ask { .hold(second, .root, $0) } == .done)
        var figures = stage.queue.statistics(at: stage.moment.boot)
        #expect((figures.waiting, figures.held, figures.running, figures.dead) == (1, 1, 0, 0))
        #expect(figures.oldest == .seconds(60))
        #expect(figures.bytes == stage.queue.bytes(of: 7).all && figures.bytes > 0)
        #expect(figures.bytesAllowed == 400 * Self.mebi)
        #expect(stage.ask { .cancel(first, .root, $0) } == .done)
        #expect(stage.ask { .holdQueue(.root, $0) } == .done)
        figures = stage.queue.statistics(at: stage.moment.boot)
        #expect(figures.waiting == 0 && figures.isHeld && figures.oldest == .zero)
    }
}
