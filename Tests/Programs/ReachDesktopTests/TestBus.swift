internal import Glibc
internal import ReachTesting
internal import Testing

/// A bus of a test's own, with the rules of Debian's system bus and those of this package.
final class TestBus {
    static let isAvailable = TestProgram.path("dbus-daemon") != nil
    static let whyNot = "there is no dbus-daemon"

    let directory: TemporaryDirectory
    let address: String
    private let daemon: RunningProgram

    /// - Parameter isStrict: Whether it is like a system bus; otherwise everybody may do everything, as on a session
    ///   bus.
    init(isStrict: Bool) throws {
        directory = try TemporaryDirectory()
        let rules =
            isStrict
            ? """
            <policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/>
            <allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
            <allow send_requested_reply="true" send_type="error"/><allow receive_type="method_call"/>
            <allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
            <allow send_destination="org.freedesktop.DBus"/></policy>
            <include>\(ProjectFile.path("contrib/dbus/io.reach.Desktop.conf"))</include>
            """
            : """
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/><allow user="*"/></policy>
            """
        let file = try directory.file(
            "bus.conf",
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><listen>unix:path=\(directory.path)/bus</listen><auth>EXTERNAL</auth>
            \(rules)</busconfig>
            """)
        chmod(directory.path, 0o755)
        daemon = try BuiltProgram(named: try #require(TestProgram.path("dbus-daemon"))).start(
            ["--config-file=\(file)", "--nofork", "--nopidfile", "--print-address"])
        address = try daemon.nextLine()
    }

    /// The variables by which programs find it.
    var environment: [String: String?] {
        ["DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address]
    }

    /// Calls a method without arguments.
    func call(_ path: String, _ method: String, _ arguments: String...) throws -> BuiltProgram.Result {
        try BuiltProgram(named: "gdbus").run(
            ["call", "--system", "--dest", "org.freedesktop.NetworkManager", "--object-path", path, "--method", method]
                + arguments, environment: environment)
    }

    /// Waits until the bus has the name.
    func waitForName(_ isThere: Bool = true) throws -> Bool {
        for _ in 0..<200 {
            let answer = try BuiltProgram(named: "gdbus").run(
                [
                    "call", "--system", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method",
                    "org.freedesktop.DBus.NameHasOwner", "org.freedesktop.NetworkManager",
                ], environment: environment)
            if answer.standardOutput.contains("true") == isThere { return true }
            usleep(100_000)
        }
        return false
    }

    func end() {
        daemon.send(SIGTERM)
        _ = try? daemon.finish()
    }
}
