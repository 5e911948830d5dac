internal import Glibc
internal import ReachLoop
internal import Synchronization

/// The running servers. They are ended when the process exits, since a server in a `static let` is never deinitialised.
private enum Running {
    static let processes = Mutex<Set<pid_t>>([])

    static func add(_ process: pid_t) {
        _ = atExit
        processes.withLock { _ = $0.insert(process) }
    }

    static func remove(_ process: pid_t) { processes.withLock { _ = $0.remove(process) } }

    private static let atExit: Void = {
        atexit { Running.processes.withLock { $0.forEach { kill($0, SIGTERM) } } }
    }()
}

/// A real server program from Debian. It is ended when the value goes away.
package final class TestProgram {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let program: RunningProgram

    /// Starts the program and waits until it listens.
    ///
    /// - Parameters:
    ///   - ports: The ports that it will listen on, TCP or UDP.
    ///   - namespace: The namespace to run it in; `nil` for the test's own.
    package init(_ command: [String], listensOn ports: [UInt16], in namespace: TestNamespace? = nil) throws {
        let entrance = namespace.map { ["ip", "netns", "exec", $0.name] } ?? []
        program = try RunningProgram(entrance + command, environment: [:], streams: .init(output: .closed))
        Running.add(program.process)
        let deadline = ContinuousClock.now + .seconds(10)
        for port in ports {
            while try Self.listeners(on: port, namespace).isEmpty {
                guard ContinuousClock.now < deadline else {
                    throw Failure(description: "'\(command.joined(separator: " "))' does not listen on port \(port)")
                }
                usleep(5000)
            }
        }
    }

    deinit {
        Running.remove(program.process)
        program.send(SIGTERM)
        _ = try? program.finish(within: .seconds(2))
    }

    private static func listeners(on port: UInt16, _ namespace: TestNamespace?) throws -> String {
        let entrance = namespace.map { ["ip", "netns", "exec", $0.name] } ?? []
        return try ChildProcess.run(entrance + ["ss", "-Hlntu", "sport", "=", ":\(port)"])
    }

    /// The ports that this process was given: the kernel may give one twice, and two servers of a test would be one.
    private static let given = Mutex<Set<UInt16>>([])

    /// A free TCP port of 127.0.0.1, another one at each call, below those that the kernel gives to who asks for any:
    /// a server beside the test would be given it otherwise before the test binds it.
    package static func freePort() throws -> UInt16 {
        while true {
            let port = UInt16.random(in: 10_000..<firstOfTheKernel)
            guard (try? ScriptedServer(port: port) { _ in }) != nil else { continue }
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
    }

    private static let firstOfTheKernel: UInt16 = {
        let range = SmallFile.text("/proc/sys/net/ipv4/ip_local_port_range")?.split { $0.isWhitespace } ?? []
        return range.first.flatMap { UInt16($0) }.flatMap { $0 > 20_000 ? $0 : nil } ?? 32_768
    }()

    /// The path of a program; `nil` if it is not installed. It searches sbin too, which PATH may lack.
    package static func path(_ name: String) -> String? {
        ["/usr/sbin/", "/usr/bin/", "/sbin/", "/usr/local/bin/"].map { $0 + name }.first { access($0, X_OK) == 0 }
    }
}

/// nginx, with the `server` blocks of a test.
///
///     let web = try WebServer("server { listen 127.0.0.1:\(port); location / { return 204; } }", listensOn: [port])
package final class WebServer {
    package static let isAvailable = TestProgram.path("nginx") != nil
    package static let whyNot = "nginx is not installed (apt-get install nginx-light)"

    package let directory: TemporaryDirectory
    private let program: TestProgram

    package init(_ servers: String, listensOn ports: [UInt16], in namespace: TestNamespace? = nil) throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(directory.path)/\($0);"
        }
        let configuration = try directory.file(
            "nginx.conf",
            """
            daemon off; master_process off; pid \(directory.path)/pid; error_log stderr error; worker_rlimit_nofile 4096;
            events { worker_connections 2048; }
            http { access_log off; root \(directory.path); client_max_body_size 0;
            \(paths.joined(separator: "\n"))
            \(servers)
            }
            """)
        program = try TestProgram(
            [TestProgram.path("nginx") ?? "nginx", "-c", configuration, "-p", directory.path], listensOn: ports,
            in: namespace)
    }
}

/// dnsmasq, with the records of a test and no others.
///
///     let names = try NameServer(["--address=/a.example/192.0.2.7"], port: 53, in: namespace)
package final class NameServer {
    package static let isAvailable = TestProgram.path("dnsmasq") != nil
    package static let whyNot = "dnsmasq is not installed (apt-get install dnsmasq-base)"

    private let program: TestProgram

    /// - Parameter options: Command line options of dnsmasq. It refuses queries that they do not answer.
    package init(_ options: [String], port: UInt16, in namespace: TestNamespace? = nil) throws {
        program = try TestProgram(
            [
                TestProgram.path("dnsmasq") ?? "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null",
                "--no-resolv",
                "--no-hosts", "--no-daemon", "--pid-file=", "--port=\(port)", "--user=", "--group=",
            ] + options, listensOn: [port], in: namespace)
    }
}
