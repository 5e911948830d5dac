import Glibc
import ReachControl
import ReachCore
import ReachKernel
import ReachLoop
import ReachTesting
import Synchronization
import Testing

@testable import ReachDaemon
import ReachRecords

/// Links of a namespace, whose counters are files.
@Suite(.timeLimit(.minutes(1)), .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
struct TrafficCounterTests {
    private struct Stage {
        let loop: EventLoop
        let files = SerialThread.files
        let directory: TemporaryDirectory
        var options = ReachabilityEngine.Options()
        private var second: Int64 = 0

        init(_ directory: TemporaryDirectory) throws {
            loop = try EventLoop()
            self.directory = directory
            options.observer.policy.rules = [LinkPolicy.Rule(pattern: Glob("up*"), isMetered: true)]
        }

        var counter: TrafficCounter {
            TrafficCounter(stateDirectory: directory.path, counters: directory.path, thread: files, loop: loop)
        }

        func set(_ received: String, _ sent: String) throws {
            let statistics = directory.path + "/up0/statistics"
            mkdir(directory.path + "/up0", 0o700)
            mkdir(statistics, 0o700)
            try directory.file("up0/statistics/rx_bytes", received + "\n")
            try directory.file("up0/statistics/tx_bytes", sent + "\n")
        }

        /// Samples at the next of the moments that lie `seconds` apart, and handles the answer.
        mutating func sample(_ counter: TrafficCounter, after seconds: Int64 = 60) {
            second += seconds
            let moment = Instant(
                wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: second * 1_000_000_000))
            counter.sample(at: moment, links)
            runLoop { !counter.isSampling }
            // What the thread was given before this is in the file after it.
            let isWritten = Atomic(false)
            files.run { isWritten.store(true, ordering: .releasing) }
            runLoop { isWritten.load(ordering: .acquiring) }
        }

        /// Runs the loop until something has happened, for 10 s at most.
        private func runLoop(until hasHappened: @escaping () -> Bool) {
            let limit = SystemClock.boot + .seconds(10)
            while !hasHappened(), SystemClock.boot < limit {
                loop.schedule(at: SystemClock.boot + .milliseconds(5)) { [loop] in loop.stop() }
                loop.run()
            }
        }

        /// As an engine in the namespace finds them.
        func links(_ known: Set<InterfaceIndex>) -> [CountedLink]? {
            guard let view = try? KernelView(policy: options.observer.policy) else { return nil }
            try? view.refresh()
            return try? view.countedLinks(besides: known)
        }

        var sums: [Int64] {
            let hours = MeteredTrafficFile(directory: directory.path).read()?.hours ?? []
            return [hours.reduce(0) { $0 + $1.received }, hours.reduce(0) { $0 + $1.sent }]
        }
    }

    private static func inNamespace(_ body: @escaping @Sendable (inout Stage) throws -> Void) async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let directory = try TemporaryDirectory()
        try await namespace.perform {
            var stage = try Stage(directory)
            try body(&stage)
        }
    }

    @Test func `what a metered link carries between samples is in the file, also after a restart`() async throws {
        try await Self.inNamespace { stage in
            var counter = stage.counter
            try stage.set("1000", "100")
            stage.sample(counter)
            #expect(stage.sums == [0, 0])
            try stage.set("1500", "130")
            stage.sample(counter, after: 0)
            #expect(stage.sums == [0, 0], "within a second it samples once")
            stage.sample(counter)
            #expect(stage.sums == [500, 30])
            // The counters ran on while no daemon did.
            counter = stage.counter
            try stage.set("9000", "900")
            stage.sample(counter)
            try stage.set("9001", "900")
            counter.finish(stage.links)
            #expect(stage.sums == [501, 30])
        }
    }

    @Test func `a counter that began again, and one that cannot be read, count nothing twice`() async throws {
        try await Self.inNamespace { stage in
            let counter = stage.counter
            try stage.set("1000", "100")
            stage.sample(counter)
            for (received, sent) in [("10", "5"), ("", "5"), ("18446744073709551616", "-5"), ("10", "5"), ("12", "5")] {
                try stage.set(received, sent)
                stage.sample(counter)
            }
            // 10 and 5 after the kernel made the link again; unreadable samples look like a link that went and came
            // back.
            #expect(stage.sums == [22, 10])
        }
    }

    @Test func `a file that cannot be written or read ends nothing`() async throws {
        try await Self.inNamespace { stage in
            try stage.directory.file("traffic.jsonl", "\u{0}nonsense\n{\"v\":1}\n")
            mkdir(stage.directory.path + "/traffic.jsonl.new", 0o700)
            let counter = stage.counter
            try stage.set("1", "1")
            stage.sample(counter)
            try stage.set("3", "2")
            stage.sample(counter)
            #expect(stage.sums == [0, 0])
            rmdir(stage.directory.path + "/traffic.jsonl.new")
            try stage.set("4", "2")
            counter.finish(stage.links)
            #expect(stage.sums == [3, 1])
        }
    }
}
