import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// nats-py, which shares nothing with libnats, reads the fleet by NATS's own conventions.
@Suite struct IndependentReaderTests {
    private static let script = """
        import asyncio, json, sys, nats
        async def main():
            nc = await nats.connect(sys.argv[1], nkeys_seed=sys.argv[2], inbox_prefix=b"_INBOX_READER.py")
            js = nc.jetstream()
            found = {}
            for bucket in ("reach_state", "reach_lease"):
                kv = await js.key_value(bucket)
                found[bucket] = json.loads((await kv.get("till-1")).value)
            info = await js.stream_info("REACH_EVENTS")
            message = await js.get_last_msg("REACH_EVENTS", "reach.v1.ev.till-1", direct=True)
            found["events"] = [json.loads(line) for line in message.data.splitlines()]
            found["log"] = message.headers["Reach-Log"]
            found["messages"] = info.state.messages
            print(json.dumps(found))
            await nc.close()
        asyncio.run(main())
        """

    private static let install = [
        "-m", "pip", "-q", "--disable-pip-version-check", "--timeout", "5", "--retries", "1", "install",
    ]

    /// The beginning of a command line that runs a Python with nats-py and nkeys, which pip installs into a folder of
    /// its own; `nil` if that fails.
    private static func python(in directory: TemporaryDirectory) -> [String]? {
        let folder = directory.path + "/modules"
        let packages = ["nats-py", "nkeys"]
        do {
            try ChildProcess.run(["python3"] + install + ["--target", folder] + packages)
            return ["env", "PYTHONPATH=" + folder, "python3"]
        } catch {
            // Debian's Python has no pip besides that of a virtual environment, which takes ten seconds to make.
        }
        do {
            let python = directory.path + "/venv/bin/python"
            try ChildProcess.run(["python3", "-m", "venv", directory.path + "/venv"])
            try ChildProcess.run([python] + install + packages)
            return [python]
        } catch {
            print("nats-py is not tried: \(error)")
            return nil
        }
    }

    @Test func `nats-py reads a host's state, lease and events`() throws {
        let folder = try TemporaryDirectory()
        guard let python = Self.python(in: folder) else { return }
        let fleet = try TestFleet(hosts: ["till-1"])
        var host = try FakeHost("till-1", in: fleet)
        try host.put()
        try host.renew()
        try host.send(.notReachable, reason: .noCarrier)
        let script = try folder.file("read.py", Self.script)
        let url = "nats://127.0.0.1:\(fleet.server.port)"
        let output = try ChildProcess.run(python + [script, url, fleet.directory.path + "/reader.nk"])
        let found = try JSONReader.read(Array(output.utf8), .asFoundation)
        #expect(found["reach_state"]?["host"]?.string == "till-1")
        #expect(found["reach_lease"]?["boot"]?.string == "b")
        #expect(found["events"]?.array?.first?["status"]?["reason"]?.string == "no-carrier")
        #expect(found["log"]?.string == "log1")
        #expect(found["messages"]?.integer == 1)
    }
}
