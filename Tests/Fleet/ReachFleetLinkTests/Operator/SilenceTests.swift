import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// Since when a host is silent.
@Suite struct SilenceTests {
    private func member(_ fleet: TestFleet, _ name: String) throws -> Timestamp? {
        try JSONReader.read(Array(firstLine(fleet.run("host", ["--json", "till-1"])).utf8))[name]?.string
            .flatMap { Timestamp($0) }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a silent host was seen last when it renewed its lease`(_ program: String) throws {
        let fleet = try TestFleet(nats: program)
        let host = try FakeHost("till-1", in: fleet)
        try host.put { $0.lease = .seconds(2) }
        usleep(2_500_000)
        let renewed = SystemClock.now.wall
        try host.renew()
        try waitUntil("its lease runs out") {
            try fleet.run("host", ["till-1"]).standardOutput.hasPrefix("till-1: silent")
        }
        for name in ["since", "last_seen"] {
            let seen = try #require(try member(fleet, name))
            let difference = renewed.duration(to: seen)
            #expect(difference > .milliseconds(-500) && difference < .seconds(1), "\(name): \(difference)")
        }
    }

    @Test func `a new host is never silent`() throws {
        let fleet = try TestFleet()
        let watch = try fleet.start("watch", as: "reader", ["--json"])
        #expect(try watch.nextLine().contains("fleet-snapshot"))
        let host = try FakeHost("till-1", in: fleet)
        try host.put()
        usleep(200_000)
        try host.renew()
        let line = try watch.nextLine(within: .seconds(20))
        #expect(line.contains("\"word\":\"here\""), "\(line)")
    }
}
