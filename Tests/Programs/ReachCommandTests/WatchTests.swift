internal import Foundation
internal import ReachTesting
internal import Testing

/// `reach watch`, `wait` and `run` as scripts use them.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct WatchTests {
    private func object(_ line: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func `the stream has the documented keys`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watch = try BuiltProgram.reach.start(["watch"], in: namespace.name)
        let first = try object(watch.nextLine())
        #expect(first["v"] as? Int == 1)
        #expect(first["type"] as? String == "snapshot")
        #expect(first["seq"] as? Int == 1)
        #expect(first["initial"] as? Bool == true)
        #expect((first["status"] as? [String: Any])?["status"] as? String == "reachable")

        try namespace.run("ip", "route", "del", "default")
        let second = try object(watch.nextLine())
        #expect(second["type"] as? String == "change")
        #expect(second["seq"] as? Int == 2)
        #expect(second["initial"] as? Bool == false)
        #expect(second["cause"] as? String == "route-removed")
        #expect(second["changed"] as? [String] == ["status"])
        let previous = try #require(second["previous"] as? [String: Any])
        #expect(previous["status"] as? String == "reachable")
        #expect(previous["interface"] as? String == "up0")
        let status = try #require(second["status"] as? [String: Any])
        for key in [
            "v", "type", "time", "boottime_ns", "source", "target", "status", "class", "interface", "reason",
            "afnetworking", "metered", "connectivity", "since", "epoch", "stale", "ipv4", "ipv6",
        ] {
            #expect(status[key] != nil, "\(key)")
        }
        #expect(status["reason"] as? String == "no-route")
        #expect(status["afnetworking"] as? Int == 0)
        watch.send(2)
        #expect(try watch.finish().status == 0)
    }

    @Test func `wait asks a gateway again that did not answer`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        // The kernel announces only the failure of an entry that was valid.
        for state in ["stale", "failed"] {
            try namespace.run(
                "ip", "neigh", "replace", "192.0.2.1", "lladdr", "02:00:00:00:00:01", "dev", "up0", "nud", state)
        }
        #expect(try BuiltProgram.reach.run(["status", "--no-daemon"], in: namespace.name).status == 1)
        #expect(
            try BuiltProgram.reach.run(["wait", "--no-daemon", "--timeout", "10s"], in: namespace.name).status == 0)
    }

    @Test func `a reader that closes the pipe ends it quietly, even without events`() throws {
        let result = try ChildProcess.run([
            "bash", "-c", "\"$0\" watch | head -n 1 > /dev/null; echo ${PIPESTATUS[0]}", BuiltProgram.reach.path,
        ])
        #expect(result == "0\n")
    }

    @Test func `a slow reader gets the number of lost events, and then a snapshot`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watch = try BuiltProgram.reach.start(["watch", "--all"], in: namespace.name)
        _ = try watch.nextLine()
        let script = """
            for i in $(seq 4000); do echo "route del default"; echo "route add default via 192.0.2.1"; done \
            | ip -n \(namespace.name) -batch -
            """
        for _ in 0..<4 { try ChildProcess.run(["sh", "-c", script]) }
        var types: [String] = []
        var sequence: [Int] = []
        while types.last != "snapshot" || types.dropLast().last != "dropped" {
            let line = try object(watch.nextLine())
            types.append(try #require(line["type"] as? String))
            sequence.append(try #require(line["seq"] as? Int))
            if types.last == "dropped" { #expect((line["count"] as? Int ?? 0) > 0) }
        }
        #expect(sequence == Array(2..<sequence.count + 2))
        watch.send(15)
        #expect(try watch.finish().status == 0)
    }

    @Test func `waiting ends at once, in time, or with 124`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let reach = BuiltProgram.reach
        #expect(try reach.run(["wait", "--timeout", "0"], in: namespace.name).status == 0)
        #expect(
            try reach.run(["wait", "--until", "not-reachable", "--timeout", "50ms"], in: namespace.name).status == 124)
        #expect(
            try reach.run(["wait", "--until", "class=wifi", "--timeout", "50ms"], in: namespace.name).status == 124)
        let both = ["wait", "--until", "unmetered", "--until", "interface=up0", "--timeout", "1s"]
        #expect(try reach.run(both, in: namespace.name).status == 0)
        let waiting = try reach.start(["wait", "--until", "not-reachable", "--timeout", "20s"], in: namespace.name)
        try namespace.run("ip", "route", "del", "default")
        #expect(try waiting.finish().status == 0)
    }

    @Test func `run starts the command when its condition holds, and ends with its status`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let reach = BuiltProgram.reach
        let run = ["run", "--when", "reachable", "--timeout", "5s", "--"]
        let said = try reach.run(run + ["sh", "-c", "echo yes; exit 7"], in: namespace.name)
        #expect(said.status == 7)
        #expect(said.standardOutput == "yes\n")
        #expect(try reach.run(run + ["/nonexistent/command"], in: namespace.name).status == 127)
        #expect(try reach.run(run + ["/etc/passwd"], in: namespace.name).status == 126)
        let never = ["run", "--when", "not-reachable", "--timeout", "50ms", "--", "true"]
        #expect(try reach.run(never, in: namespace.name).status == 124)
    }

    /// The command inherits no blocked signal, so signals end it.
    @Test func `the started command receives signals`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let sleeping = try BuiltProgram.reach.start(
            ["run", "--when", "reachable", "--", "sh", "-c", "echo on; exec sleep 30"], in: namespace.name)
        _ = try sleeping.nextLine()
        sleeping.send(15)
        #expect(try sleeping.finish(within: .seconds(5)).status == 143)
    }

    /// Without a path, three programs agree: this one, ping and the kernel's own lookup.
    @Test func `status agrees with ping`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run("ip", "addr", "add", "203.0.113.1/32", "dev", "lo")
        func status() throws -> Int32 {
            try BuiltProgram.reach.run(["status", "203.0.113.1"], in: namespace.name).status
        }
        func ping() -> Bool { (try? namespace.run("ping", "-c", "1", "-W", "1", "203.0.113.1")) != nil }
        #expect(try status() == 0 && ping())
        for command in [
            ["route", "del", "default"], ["route", "add", "blackhole", "default"],
            ["route", "replace", "prohibit", "default"],
        ] {
            try ChildProcess.run(["ip", "-n", namespace.name] + command)
            #expect(try status() == 1 && !ping(), "\(command)")
        }
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        #expect(try status() == 0 && ping())
        try peer.run("ip", "link", "set", "up1", "down")
        #expect(try status() == 1 && !ping())
    }
}
