import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting

/// A nats-server of the system on a free port of the loopback, ended with the value.
final class NATSServerProcess {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The programs to test with: Debian's, and a current one if `REACH_NATS_SERVER` names it.
    static var programs: [String] {
        ["nats-server"] + (getenv("REACH_NATS_SERVER").map { [String(cString: $0)] } ?? [])
    }

    /// A configuration with JetStream and no users.
    static let open = "jetstream { store_dir: \"$STORE\" }\n"

    let directory: TemporaryDirectory
    private(set) var port: UInt16 = 0
    private var program: RunningProgram
    private let command: String

    var server: NATSServer {
        get throws { try NATSServer("nats://127.0.0.1:\(port)") }
    }

    /// - Parameters:
    ///   - configuration: The text of its file. `$STORE` and `$DIR` stand for its folders.
    ///   - listens: `false` if the configuration itself says where to listen: at `127.0.0.1:-1`, a free port.
    init(
        _ configuration: String = NATSServerProcess.open, program command: String = "nats-server",
        in directory: TemporaryDirectory? = nil, listens: Bool = true
    ) throws {
        self.directory = try directory ?? TemporaryDirectory()
        self.command = command
        let path = self.directory.path
        let listen = listens ? "listen: \"127.0.0.1:-1\"\n" : ""
        let text = listen + "ports_file_dir: \"\(path)\"\n" + configuration
        try self.directory.file("server.conf", Self.expand(text, path))
        program = try BuiltProgram(named: command).start(["-c", path + "/server.conf", "-l", path + "/server.log"])
        port = try waitForPort()
    }

    /// Whether nats-server starts with a configuration as it is, ports included.
    static func expand(_ text: String, _ path: String) -> String {
        text.split(separator: "$STORE", omittingEmptySubsequences: false).joined(separator: path + "/store")
            .split(separator: "$DIR", omittingEmptySubsequences: false).joined(separator: path)
    }

    var log: String { SmallFile.text(directory.path + "/server.log") ?? "" }

    /// Ends the server and starts it again on the same port and folder.
    func restart(by signal: CInt = SIGKILL) throws {
        program.send(signal)
        _ = try? program.finish()
        unlink(portsFile)
        let path = directory.path
        let text = SmallFile.text(path + "/server.conf") ?? ""
        let fixed = text.split(separator: "127.0.0.1:-1", omittingEmptySubsequences: false)
            .joined(separator: "127.0.0.1:\(port)")
        try directory.file("server.conf", fixed)
        program = try BuiltProgram(named: command).start(["-c", path + "/server.conf", "-l", path + "/server.log"])
        port = try waitForPort()
    }

    func kill() {
        program.send(SIGKILL)
        _ = try? program.finish()
    }

    func reload() { program.send(SIGHUP) }

    func pause() { program.send(SIGSTOP) }

    func resume() { program.send(SIGCONT) }

    func settings(_ change: (inout NATSSettings) -> Void = { _ in }) throws -> NATSSettings {
        var settings = NATSSettings(servers: [try server])
        change(&settings)
        return settings
    }

    func connect(_ change: (inout NATSSettings) -> Void = { _ in }) throws -> NATSLink {
        try NATSLink.connect(settings(change))
    }

    private var portsFile: String { "\(directory.path)/\(programName)_\(program.process).ports" }

    private var programName: String { String(command.split(separator: "/").last ?? "") }

    /// The server writes its addresses into a file once it listens.
    private func waitForPort() throws -> UInt16 {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            if let text = SmallFile.text(portsFile), let json = try? JSONReader.read(Array(text.utf8)),
                let address = json["nats"]?.array?.first?.string?.split(separator: ":").last, let port = UInt16(address)
            {
                return port
            }
            usleep(10_000)
        }
        throw Failure(description: "nats-server did not start: \(log)")
    }
}
