internal import Glibc
internal import ReachTesting
internal import Testing

/// `reach-desktop` with a real reachd, on a bus of its own, read by the programs that people use.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: TestBus.isAvailable, "\(TestBus.whyNot)"),
    .enabled(if: TestProgram.path("gdbus") != nil, "there is no gdbus (libglib2.0-bin)"), .timeLimit(.minutes(1)))
struct DesktopProgramTests {
    private static let main = "/org/freedesktop/NetworkManager"
    private let bus: TestBus
    private let namespace: TestNamespace
    private let socket: String

    init() throws {
        bus = try TestBus(isStrict: true)
        namespace = try TestNamespace()
        try namespace.vethPair()
        socket = bus.directory.path + "/socket"
    }

    private func reachd(_ configuration: String = "") throws -> RunningProgram {
        let file = try bus.directory.file("reach.toml", configuration)
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", bus.directory.path + "/state", "--events"],
            in: namespace.name)
        _ = try daemon.nextLine()
        return daemon
    }

    private func desktop() throws -> RunningProgram {
        try BuiltProgram(named: "reach-desktop").start(
            ["--socket", socket], environment: bus.environment, in: namespace.name)
    }

    private static let hasMonitor =
        (try? ChildProcess.run(["/usr/bin/python3", "-c", "from gi.repository import Gio"])) != nil

    @Test(.enabled(if: hasMonitor, "there is no python3-gi"))
    func `GLib's network monitor follows a path that goes, comes back and is metered`() throws {
        let daemon = try reachd()
        let desktop = try desktop()
        #expect(try bus.waitForName())
        let script = try bus.directory.file(
            "monitor.py",
            """
            from gi.repository import Gio, GLib
            m = Gio.NetworkMonitor.get_default()
            def say(*_):
                print(type(m).__name__, m.get_network_available(), int(m.get_connectivity()), m.get_network_metered(), flush=True)
            for name in ["connectivity", "network-available", "network-metered"]:
                m.connect("notify::" + name, say)
            say()
            GLib.MainLoop().run()
            """)
        let monitor = try follow(script, ["GIO_USE_NETWORK_MONITOR": "networkmanager"])
        func wait(for line: String) throws { try self.wait(for: "GNetworkMonitorNM " + line, of: monitor) }
        try wait(for: "True 4 False")
        try namespace.run("ip", "link", "set", "up0", "down")
        try wait(for: "False 1 False")
        #expect(try bus.call(Self.main, "org.freedesktop.NetworkManager.state").standardOutput == "(uint32 20,)\n")
        try namespace.run("ip", "link", "set", "up0", "up")
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        try wait(for: "True 4 False")
        _ = try bus.directory.file("reach.toml", "[[interface]]\nmatch = \"up0\"\nmetered = true\n")
        daemon.send(SIGHUP)
        try wait(for: "True 4 True")
        desktop.send(SIGTERM)
        #expect(try desktop.finish().status == 0)
        #expect(try bus.waitForName(false))
    }

    private static let hasQt =
        (try? ChildProcess.run(["/usr/bin/python3", "-c", "from PyQt6.QtNetwork import QNetworkInformation"])) != nil

    @Test(.enabled(if: hasQt, "there is no python3-pyqt6"))
    func `Qt's network information follows the same, and knows the kind of link`() throws {
        let daemon = try reachd("[[interface]]\nmatch = \"up0\"\nclass = \"wwan\"\n")
        let desktop = try desktop()
        #expect(try bus.waitForName())
        let script = try bus.directory.file(
            "information.py",
            """
            import signal, sys
            from PyQt6.QtCore import QCoreApplication
            from PyQt6.QtNetwork import QNetworkInformation
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            app = QCoreApplication(sys.argv)
            assert QNetworkInformation.loadBackendByName("networkmanager")
            q = QNetworkInformation.instance()
            def say(*_):
                print(q.reachability().name, q.transportMedium().name, q.isMetered(), q.isBehindCaptivePortal(), flush=True)
            q.reachabilityChanged.connect(say)
            say()
            app.exec()
            """)
        let program = try follow(script)
        try wait(for: "Online Cellular True False", of: program)
        try namespace.run("ip", "route", "delete", "default")
        try wait(for: "Local", of: program)
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        try wait(for: "Online", of: program)
        _ = (daemon, desktop)
    }

    /// Starts a Python program that prints a line for each change.
    private func follow(_ script: String, _ variables: [String: String] = [:]) throws -> RunningProgram {
        try BuiltProgram(named: "/usr/bin/python3").start(
            ["-u", script], environment: bus.environment.merging(variables.mapValues { $0 }) { $1 })
    }

    /// Waits for a line that begins like this.
    private func wait(for line: String, of program: RunningProgram) throws {
        var lines: [String] = []
        while lines.last?.hasPrefix(line) != true {
            guard let next = try? program.nextLine(within: .seconds(20)) else {
                Issue.record("no line \(line), but \(lines): \(program.errorText)")
                return
            }
            lines.append(next)
        }
    }

    /// NetworkManager's nmcli where it is installed, or where `Tests/Field/scenes/networkmanager .build/networkmanager`
    /// unpacked it.
    private static let unpacked = ProjectFile.path(".build/networkmanager/usr")
    private static let nmcli =
        TestProgram.path("nmcli") ?? (access(unpacked + "/bin/nmcli", X_OK) == 0 ? unpacked + "/bin/nmcli" : nil)

    @Test(.enabled(if: nmcli != nil, "there is no nmcli (Tests/Field/scenes/networkmanager .build/networkmanager)"))
    func `NetworkManager's own nmcli reads state, links and connections`() throws {
        let daemon = try reachd()
        let desktop = try desktop()
        #expect(try bus.waitForName())
        func ask(_ words: String...) throws -> String {
            let nmcli = BuiltProgram(named: try #require(Self.nmcli))
            var environment = bus.environment
            if nmcli.path.hasPrefix(Self.unpacked) {
                let libraries = try ChildProcess.run(["sh", "-c", "echo \(Self.unpacked)/lib/*-linux-gnu"])
                environment["LD_LIBRARY_PATH"] = String(libraries.dropLast())
            }
            return try nmcli.run(["--terse"] + words, environment: environment).standardOutput
        }
        #expect(try ask("--fields", "STATE,CONNECTIVITY", "general") == "connected:full\n")
        #expect(try ask("--fields", "DEVICE,STATE,CONNECTION", "device") == "up0:connected:up0\n")
        #expect(try ask("--fields", "NAME,DEVICE", "connection", "show", "--active") == "up0:up0\n")
        #expect(try ask("networking", "connectivity", "check") == "full\n")
        try namespace.run("ip", "route", "delete", "default")
        while try !daemon.nextLine(within: .seconds(20)).contains("\"not-reachable\"") {}
        #expect(try ask("--fields", "STATE,CONNECTIVITY", "general") == "connected (local only):none\n")
        desktop.send(SIGTERM)
        #expect(try desktop.finish().status == 0)
    }

    @Test func `signals announce what changes, and nothing can be changed`() throws {
        let daemon = try reachd()
        let desktop = try desktop()
        #expect(try bus.waitForName())
        let monitor = try BuiltProgram(named: "gdbus").start(
            ["monitor", "--system", "--dest", "org.freedesktop.NetworkManager"], environment: bus.environment)
        while try !monitor.nextLine().contains("is owned by") {}
        try namespace.run("ip", "route", "delete", "default")
        var lines: [String] = []
        while lines.last?.contains("DeviceRemoved") != true { lines.append(try monitor.nextLine(within: .seconds(20))) }
        #expect(lines.contains { $0.contains("PropertiesChanged") && $0.contains("'State': <uint32 50>") }, "\(lines)")
        #expect(lines.contains { $0.contains("NetworkManager.StateChanged (uint32 50,)") }, "\(lines)")
        let refused = try bus.call(Self.main, "org.freedesktop.NetworkManager.Enable", "false")
        #expect(refused.status != 0)
        // Only properties and objects that the name's owner announces.
        #expect(try bus.call(Self.main + "/Devices/99", "org.freedesktop.DBus.Introspectable.Introspect").status != 0)
        _ = (daemon, desktop)
    }

    private static let hasBindings = (try? ChildProcess.run(["/usr/bin/python3", "-c", "import dbus"])) != nil

    @Test(.enabled(if: hasBindings, "there is no python3-dbus"))
    func `the name of a running NetworkManager is never taken, with a status of its own`() throws {
        _ = try reachd()
        let other = try owner(replacing: false)
        let desktop = try desktop()
        let result = try desktop.finish()
        #expect(result.status == 73)
        #expect(result.standardError.contains("another program has org.freedesktop.NetworkManager"))
        _ = other
    }

    @Test(.enabled(if: hasBindings, "there is no python3-dbus")) func `whoever asks for the name gets it`() throws {
        let daemon = try reachd()
        let desktop = try desktop()
        #expect(try bus.waitForName())
        let other = try owner(replacing: true)
        #expect(try desktop.finish().status == 73)
        _ = (daemon, other)
    }

    /// A program that owns NetworkManager's name.
    private func owner(replacing: Bool) throws -> RunningProgram {
        let script = try bus.directory.file(
            "owner.py",
            """
            import dbus
            print(dbus.SystemBus().request_name("org.freedesktop.NetworkManager", \(replacing ? 2 : 0)), flush=True)
            import time; time.sleep(60)
            """)
        let program = try BuiltProgram(named: "/usr/bin/python3").start([script], environment: bus.environment)
        #expect(try program.nextLine() == "1")
        return program
    }

    @Test func `where the bus does not allow the name, or there is none, the status says so`() throws {
        let daemon = try reachd()
        // Another user than root and reach-desktop.
        let denied = try BuiltProgram(named: "setpriv").run(
            [
                "--reuid", "65534", "--regid", "65534", "--clear-groups", BuiltProgram(named: "reach-desktop").path,
                "--socket", socket,
            ], environment: bus.environment, in: namespace.name)
        #expect(denied.status == 77, "\(denied.standardError)")
        let nothing = try BuiltProgram(named: "reach-desktop").run(
            ["--socket", socket], environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"])
        #expect(nothing.status == 69, "\(nothing.standardError)")
        #expect(try BuiltProgram(named: "reach-desktop").run(["--queue"]).status == 2)
        _ = daemon
    }

    /// Rules of signals filter nothing that is sent to one connection.
    @Test func `a forged signal, sent straight to it, does not end it`() throws {
        let daemon = try reachd()
        let desktop = try desktop()
        #expect(try bus.waitForName())
        let owner = try BuiltProgram(named: "gdbus").run(
            [
                "call", "--system", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method",
                "org.freedesktop.DBus.GetNameOwner", "org.freedesktop.NetworkManager",
            ], environment: bus.environment)
        let name = try #require(owner.standardOutput.split(separator: "'").dropFirst().first)
        let emitted = try BuiltProgram(named: "gdbus").run(
            [
                "emit", "--system", "--dest", String(name), "--object-path", "/org/freedesktop/DBus", "--signal",
                "org.freedesktop.DBus.NameLost", "'org.freedesktop.NetworkManager'",
            ], environment: bus.environment)
        #expect(emitted.status == 0, "\(emitted.standardError)")
        for _ in 0..<3 {
            #expect(try bus.call(Self.main, "org.freedesktop.NetworkManager.state").standardOutput == "(uint32 70,)\n")
        }
        desktop.send(SIGTERM)
        #expect(try desktop.finish().status == 0)
        _ = daemon
    }

    @Test(arguments: ["REJECTED EXTERNAL\r\n", "ERROR\r\n", "OK 0\r\n", "\0\0", ""])
    func `a bus that refuses it is an error`(answer: String) throws {
        let script = try bus.directory.file(
            "refusing.py",
            """
            import socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen()
            print("ready", flush=True)
            while True:
                peer = listener.accept()[0]
                peer.recv(4096)
                peer.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
                peer.close()
            """)
        let path = bus.directory.path + "/refusing"
        let escaped = answer.unicodeScalars.map { $0.value < 0x20 ? "\\x0" + String($0.value, radix: 16) : String($0) }
        let refusing = try BuiltProgram(named: "/usr/bin/python3").start([script, path, escaped.joined()])
        #expect(try refusing.nextLine() == "ready")
        for options in [[], ["--notify"]] as [[String]] {
            let result = try BuiltProgram(named: "reach-desktop").run(
                options + ["--socket", socket],
                environment: [
                    "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)", "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)",
                ])
            #expect(result.status == 69, "\(result)")
        }
    }

    @Test func `a bus that goes away ends it`() throws {
        let daemon = try reachd()
        let desktop = try desktop()
        #expect(try bus.waitForName())
        bus.end()
        #expect(try desktop.finish().status == 69)
        _ = daemon
    }

    @Test func `without reachd there is no name, which programs would take for offline`() throws {
        let desktop = try desktop()
        #expect(try !waitBriefly())
        let daemon = try reachd()
        #expect(try bus.waitForName(), "it connects when reachd comes")
        daemon.send(SIGTERM)
        _ = try daemon.finish()
        // The last state holds for ten seconds, in which a daemon that restarts is back.
        #expect(try bus.waitForName(false))
        desktop.send(SIGTERM)
        #expect(try desktop.finish().status == 0)
    }

    private func waitBriefly() throws -> Bool {
        usleep(500_000)
        return try bus.call("/", "org.freedesktop.DBus.Peer.Ping").status == 0
    }
}
