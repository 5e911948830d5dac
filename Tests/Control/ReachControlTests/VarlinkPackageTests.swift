import Foundation
import ReachTesting
import Testing

@testable import ReachControl

/// An independent client: the `varlink` package for Python, in a virtual environment of its own.
@Suite struct VarlinkPackageTests {
    @Test func `the Python package reads the definitions, calls, and watches`() throws {
        // Not a condition of the test: Swift Testing would install the package for each run of any other test.
        let environment = try TemporaryDirectory()
        let directory = environment.path
        do throws(ChildProcess.Failure) {
            try ChildProcess.run(["python3", "-m", "venv", directory])
            try ChildProcess.run([directory + "/bin/pip", "install", "--quiet", "varlink"])
        } catch {
            try Test.cancel("the Python package varlink cannot be installed: \(error)")
        }
        let server = try TestServer()
        let script = server.directory + "/client.py"
        try Data(Self.script.utf8).write(to: URL(filePath: script))
        server.run { service, _ in service.changesOnReload = true }
        let output = try ChildProcess.run([directory + "/bin/python3", script, server.path])
        #expect(
            output == """
                test 1.2.3 ['org.varlink.service', 'io.reach.Monitor']
                reachable eth0 daemon
                wired 192.0.2.1 None
                io.reach.Monitor.InvalidTarget {'reason': "'-' is not a host name", 'target': '-'}
                fail status ['connect_us', 'processing_us', 'resolve_us']
                down web ofip
                snapshot 1 True
                change 2 ['path']
                change 3 ['path']

                """)
    }

    private static let script = """
        import sys, varlink
        client = varlink.Client("unix:" + sys.argv[1])
        with client.open("org.varlink.service") as service:
            info = service.GetInfo()
            print(info["product"], info["version"], info["interfaces"])
        with client.open("io.reach.Monitor") as monitor:
            status = monitor.Status(None)["status"]
            print(status["status"], status["interface"], status["source"])
            status = monitor.Status("192.0.2.7")["status"]
            print(status["class"], status["ipv4"]["gateway"], status["ipv6"].get("gateway"))
            try:
                monitor.Status("-")
            except varlink.VarlinkError as error:
                print(error.error(), error.parameters())
            result = monitor.Probe("http://192.0.2.1/", "eth0", 500)["result"]
            print(result["outcome"], result["reason"], sorted(k for k, v in result["phases"].items() if v is not None))
            report = monitor.Probes()["probes"][1]
            print(report["state"], report["probe"], report["beats"])
        with client.open("io.reach.Monitor") as monitor, client.open("io.reach.Monitor") as other:
            for number, reply in enumerate(monitor.Watch("internet", _more=True)):
                event = reply["event"]
                print(event["type"], event["seq"], event["initial"] or event["changed"])
                if number == 2:
                    break
                other.Reload()
        """
}
