import ReachCore
import ReachFleet
import Testing

/// When the machine tries to connect again after its host's path changed.
@Suite struct PathChangeTests {
    private static func now(_ seconds: Int64) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000 + seconds * 1_000_000_000),
            boot: .init(nanoseconds: seconds * 1_000_000_000))
    }

    /// A machine that waits long after many losses.
    private static func waiting(after loss: FleetMachine.Loss) -> (machine: FleetMachine, at: Int64) {
        var machine = FleetMachine(FleetMachine.Settings(host: "till-1", boot: "b"), seed: 7)
        var second: Int64 = 0
        _ = machine.handle(.path(exists: true, isMetered: false, epoch: 1), at: now(second))
        _ = machine.handle(.start, at: now(second))
        _ = machine.handle(.path(exists: false, isMetered: false, epoch: 2), at: now(second))
        repeat {
            _ = machine.handle(.disconnected(loss), at: now(second))
            guard let deadline = machine.deadline, deadline < now(second + 60).boot else { break }
            second = deadline.nanoseconds / 1_000_000_000 + 1
            _ = machine.handle(.tick, at: now(second))
        } while second < 100_000
        return (machine, second)
    }

    @Test(arguments: [true, false])
    func `a path that returns, and one that only changes, let it try soon`(exists: Bool) throws {
        var (machine, second) = Self.waiting(after: .unreachable)
        #expect(try #require(machine.deadline) >= Self.now(second + 60).boot)
        _ = machine.handle(.path(exists: exists, isMetered: false, epoch: 3), at: Self.now(second))
        #expect(try #require(machine.deadline) <= Self.now(second + 5).boot)
    }

    @Test func `a change of the path is no reason to ask a server again that refuses the key`() throws {
        var (machine, second) = Self.waiting(after: .refused)
        let deadline = try #require(machine.deadline)
        _ = machine.handle(.path(exists: false, isMetered: false, epoch: 3), at: Self.now(second))
        #expect(machine.deadline == deadline)
    }

    @Test func `the same path again changes nothing`() throws {
        var (machine, second) = Self.waiting(after: .unreachable)
        let deadline = try #require(machine.deadline)
        _ = machine.handle(.path(exists: false, isMetered: false, epoch: 2), at: Self.now(second))
        #expect(machine.deadline == deadline)
    }
}
