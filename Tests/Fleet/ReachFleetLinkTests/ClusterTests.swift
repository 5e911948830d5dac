import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachTesting
import Testing

/// Readers of a cluster in which a server dies.
@Suite struct ClusterTests {
    @Test(arguments: NATSServerProcess.programs)
    func `a reader's questions are answered while the cluster chooses a leader`(_ program: String) throws {
        let cluster = try TestCluster(program)
        let jetStream = try cluster.jetStreamWithStream()
        try cluster.killLeader(jetStream)
        #expect(try jetStream.stream("S") != nil)
        var count = 0
        try jetStream.read("S", filter: "s.*", from: .first) { _ in count += 1 }
        #expect(count == 10)
        #expect(try jetStream.last("s.3", in: "S")?.payload == [1])
    }

    /// Servers before 2.10 give one of three consumers to the dead server, which never says so.
    @Test(arguments: NATSServerProcess.programs)
    func `a server that is dead for long delays no reader by seconds`(_ program: String) throws {
        let cluster = try TestCluster(program)
        let jetStream = try cluster.jetStreamWithStream()
        try cluster.killLeader(jetStream)
        var count = 0
        func read() throws { try jetStream.read("S", filter: "s.*", from: .first) { _ in count += 1 } }
        // Until the cluster has its leaders again.
        try read()
        let start = ContinuousClock.now
        // With attempts of 2, 4 and 8 s that did not overlap this took 40 s on average.
        for _ in 0..<24 { try read() }
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(count == 250)
    }

    @Test func `a question that no server answers ends with what it was about`() throws {
        let server = try NATSServerProcess("")
        var jetStream = JetStream(try server.connect())
        jetStream.limit = .milliseconds(300)
        let subscription = try server.connect().subscribe("$JS.API.STREAM.INFO.X") { _ in }
        try waitUntil("the subscription is there") { failure { try jetStream.stream("X") } == .timedOut }
        #expect {
            try jetStream.stream("X")
        } throws: { error in
            (error as? NATSError)?.description
                == "stream X: no server answered within 900 ms; of a cluster's servers more than half must run"
        }
        withExtendedLifetime(subscription) {}
    }
}

/// Three servers on free ports of the loopback.
final class TestCluster {
    private(set) var servers: [NATSServerProcess] = []

    init(_ program: String) throws {
        let ports = try (0..<3).map { _ in try TestProgram.freePort() }
        let routes = ports.map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", ")
        for (index, port) in ports.enumerated() {
            servers.append(
                try NATSServerProcess(
                    """
                    server_name: n\(index)
                    jetstream { store_dir: "$STORE" }
                    cluster { name: c, listen: "127.0.0.1:\(port)", routes: [\(routes)] }

                    """, program: program))
        }
    }

    /// A link to the first server, and a stream S with ten messages on all of them.
    func jetStreamWithStream() throws -> JetStream {
        let jetStream = JetStream(try NATSLink.connect(servers[0].settings()))
        try waitUntil("the cluster has a leader", within: .seconds(60)) { (try? jetStream.call("INFO")) != nil }
        let stream = #"{"name":"S","subjects":["s.*"],"num_replicas":3,"allow_direct":true}"#
        try waitUntil("the stream is made", within: .seconds(60)) {
            (try? jetStream.createStream("S", Array(stream.utf8))) != nil
        }
        for number in 0..<10 { _ = try jetStream.append("s.\(number)", [1]) }
        return jetStream
    }

    /// The leader of the stream dies, or if that is the first server, another.
    func killLeader(_ jetStream: JetStream) throws {
        let leader = try jetStream.stream("S")?["cluster"]?["leader"]?.string
        kill(leader == "n0" ? "n1" : leader ?? "n1")
    }

    private func kill(_ name: String) {
        guard let index = Int(name.dropFirst()) else { return }
        servers[index].kill()
    }
}
