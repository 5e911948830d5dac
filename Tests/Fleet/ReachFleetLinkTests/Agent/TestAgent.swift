import Glibc
import ReachCore
import ReachLoop
import ReachTesting

/// An agent of a host beside a daemon that is not real, ended with the value.
final class TestAgent {
    let fleet: TestFleet
    private let daemon: FakeDaemon
    private let folder: String
    private let program: RunningProgram

    /// - Parameters:
    ///   - host: The name in the agent's configuration.
    ///   - file: The name of the key's file, if it is not the host's.
    ///   - folder: Where it keeps its files, of several agents of one fleet.
    ///   - refusal: Why the daemon hands out no events; `nil` if it does.
    init(
        _ host: String, with file: String? = nil, in fleet: TestFleet, folder: String? = nil,
        refusing refusal: String? = nil
    ) throws {
        self.fleet = fleet
        let path = fleet.directory.path
        self.folder = folder.map { path + "/" + $0 } ?? path
        mkdir(self.folder, 0o700)
        daemon = try FakeDaemon(at: self.folder + "/reach.sock", refusing: refusal)
        let configuration = try fleet.directory.file(
            (folder.map { $0 + "/" } ?? "") + "fleet.toml",
            """
            servers = ["nats://127.0.0.1:\(fleet.server.port)"]
            host = "\(host)"
            credentials = "\(path)/\(file ?? host).nk"
            groups = ["tills"]
            lease = "10s"
            spread = "1s"
            """)
        program = try TestFleet.program.start(
            [
                "agent", "--config", configuration, "--socket", daemon.path, "--runtime", self.folder, "--state",
                self.folder,
            ])
    }

    deinit {
        program.send(SIGTERM)
        _ = try? program.finish()
        daemon.stop()
    }

    /// Ends it.
    ///
    /// - Returns: What it logged.
    func stop() throws -> String {
        program.send(SIGTERM)
        return try program.finish().standardError
    }

    /// What the agent says of itself.
    private var report: JSONValue? {
        SmallFile.text(folder + "/self.json").flatMap { try? JSONReader.read(Array($0.utf8)) }
    }

    var word: String? { report?["state"]?.string }
    var error: String? { report?["error"]?.string }
    var reconnects: Int64? { report?["connections"]?.integer }
}
