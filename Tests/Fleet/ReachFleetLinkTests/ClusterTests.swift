import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachTesting
import Synchronization
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
    func `readers miss nothing while a server is dead for long`(_ program: String) throws {
        let cluster = try TestCluster(program)
        let jetStream = try cluster.jetStreamWithStream()
        try cluster.killLeader(jetStream)
        func count() throws -> Int {
            var count = 0
            try jetStream.read("S", filter: "s.*", from: .first) { _ in count += 1 }
            return count
        }
        // Until the cluster has its leaders again, and they have what the dead one had: a server that has not applied
        // the last messages yet announces fewer.
        try waitUntil("the others have all messages", within: .seconds(60)) { try count() == 10 }
        for _ in 0..<24 { #expect(try count() == 10) }
    }

    @Test func `a question is asked again while the first waits, and an answer to the first counts`() throws {
        let server = try NATSServerProcess()
        let asked = Mutex<[NATSMessage]>([])
        let answering = try server.connect()
        let subscription = try answering.subscribe("question") { message in
            let first = asked.withLock { messages in
                messages.append(message)
                return messages.count == 3 ? messages[0] : nil
            }
            if let first, let reply = first.reply { try? answering.publish(reply, first.payload) }
        }
        var number: UInt8 = 0
        let answer = try server.connect().ask(about: "a question", within: .seconds(60)) {
            number += 1
            return ("question", [number])
        } _: {
            $0.payload
        }
        #expect(asked.withLock { $0.first?.payload } == answer)
        withExtendedLifetime(subscription) {}
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
