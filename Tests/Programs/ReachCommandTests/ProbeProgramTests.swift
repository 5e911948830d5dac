internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// Probes as users see them: the configuration, the commands, the events, the metrics.
@Suite(.timeLimit(.minutes(2))) struct ProbeProgramTests {
    private let reachd = BuiltProgram(named: "reachd")
    private let reach = BuiltProgram.reach

    /// A namespace with a web server at the other end of its only link.
    private struct Stage {
        let namespace: TestNamespace
        let peer: TestNamespace
        let web: WebServer
        let directory: TemporaryDirectory

        var socket: String { directory.path + "/socket" }

        init(
            _ server: String = "server { listen 192.0.2.1:80; location / { return 200 'all is well'; } }",
            ports: [UInt16] = [80]
        ) throws {
            namespace = try TestNamespace()
            peer = try namespace.vethPair()
            web = try WebServer(server, listensOn: ports, in: peer)
            directory = try TemporaryDirectory()
        }

        func start(_ configuration: String, _ arguments: [String] = []) throws -> RunningProgram {
            let file = try directory.file("reach.toml", configuration)
            return try BuiltProgram(named: "reachd").start(
                ["--config", file, "--socket", socket, "--state", directory.path, "--events"] + arguments,
                in: namespace.name)
        }

        /// The content of a URL, fetched in the namespace.
        func fetch(_ url: String) throws -> String {
            let program =
                "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())"
            return try namespace.run("python3", "-c", program, url)
        }
    }

    private static let canRun = TestNamespace.isAvailable && WebServer.isAvailable
    private static let whyNot = "\(TestNamespace.whyNot); \(WebServer.whyNot)"

    private func next(_ type: String, of daemon: RunningProgram) throws -> JSONValue {
        while true {
            let json = try JSONReader.read(Array(try daemon.nextLine().utf8))
            if json["type"]?.string == "probe", json["event"]?.string == type { return json }
        }
    }

    @Test(.enabled(if: canRun, "\(whyNot)"))
    func `a probe comes up, is paused while its link is down, and every output reports it`() throws {
        let stage = try Stage()
        defer { stage.namespace.remove() }
        let daemon = try stage.start(
            """
            [[probe]]
            name = "web"
            target = "http://192.0.2.1/"
            interval = "1s"
            body_contains = "is well"
            [[probe]]
            name = "wrong"
            target = "http://192.0.2.1/"
            interval = "1s"
            status = "404"
            down = 1
            [metrics]
            listen = "127.0.0.1:9101"
            file = "\(stage.directory.path)/reach.prom"
            interval = "1s"
            """)
        let up = try next("up", of: daemon)
        #expect(up["probe"]?["probe"]?.string == "web")
        #expect(up["probe"]?["last"]?["http_status"]?.integer == 200)
        try stage.namespace.run("ip", "link", "set", "up0", "down")
        let paused = try next("paused", of: daemon)
        #expect(paused["probe"]?["paused"]?.string == "no-path")
        try stage.namespace.run("ip", "link", "set", "up0", "up")
        _ = try next("resumed", of: daemon)

        var printed = try reach.run(["probes", "--socket", stage.socket])
        let deadline = ContinuousClock.now + .seconds(10)
        while printed.status != 1 || printed.standardOutput.contains("paused"), ContinuousClock.now < deadline {
            usleep(50_000)
            printed = try reach.run(["probes", "--socket", stage.socket])
        }
        #expect(printed.lines.count == 3)
        #expect(printed.lines[0].hasPrefix("PROBE"))
        #expect(printed.lines[1].hasPrefix("web") && printed.lines[1].contains("up"))
        #expect(printed.lines[2].hasPrefix("wrong") && printed.lines[2].contains("HTTP 200, expected 404"))
        let reports = try reach.run(["probes", "--json", "--socket", stage.socket, "web"]).lines
        #expect(reports.count == 1)
        let report = try JSONReader.read(Array(try #require(reports.first).utf8))
        #expect(report["state"]?.string == "up")
        #expect((report["uptime"]?["paused_ms"]?.integer ?? 0) > 0)
        #expect(report["beats"]?.string?.contains("p") == true)
        #expect(JSONKeys.all(in: reports[0]).subtracting(ManualPage("reach-events.7").arguments(of: "Va")) == [])

        // The file is up to a second old.
        let file = stage.directory.path + "/reach.prom"
        let holds = "reach_target_status{target=\"internet\",status=\"not-reachable\"} 1\n"
        while try !text(file).contains(holds), ContinuousClock.now < deadline { usleep(50_000) }
        for text in [try stage.fetch("http://127.0.0.1:9101/metrics"), try text(file)] {
            #expect(text.contains(holds))
            #expect(text.contains("reach_probe_up{probe=\"web\"} 1\n"))
            #expect(
                text.contains("reach_probe_phase_duration_seconds_bucket{probe=\"web\",phase=\"connect\",le=\"+Inf\"}"))
            try checkByPromtool(text, stage.directory)
        }
        daemon.send(SIGTERM)
        #expect(try daemon.finish(within: .seconds(3)).status == 0)
        #expect(access(stage.directory.path + "/reach.prom", F_OK) == -1)
        let history = try reach.run(["history", "--state", stage.directory.path, "probe:web"])
        #expect(history.standardOutput.contains("probe:web"))
    }

    @Test(.enabled(if: canRun, "\(whyNot)"))
    func `a new configuration keeps the history of probes that did not change, and a bad one changes nothing`() throws {
        let stage = try Stage()
        defer { stage.namespace.remove() }
        let kept = "[[probe]]\nname = \"kept\"\ntarget = \"tcp://192.0.2.1:80\"\ninterval = \"1s\"\n"
        let daemon = try stage.start(kept)
        _ = try next("up", of: daemon)
        func names() throws -> [String] {
            try reach.run(["probes", "--json", "--socket", stage.socket]).lines.map { line in
                let json = try JSONReader.read(Array(line.utf8))
                return "\(json["probe"]?.string ?? "") \(json["state"]?.string ?? "")"
            }
        }
        try stage.directory.file("reach.toml", kept + "[[probe]]\nname = \"new\"\n")
        daemon.send(SIGHUP)
        usleep(200_000)
        #expect(try names() == ["kept up"])
        try stage.directory.file(
            "reach.toml", "[[probe]]\nname = \"new\"\ntarget = \"icmp://192.0.2.1\"\ninterval = \"1d\"\n" + kept)
        daemon.send(SIGHUP)
        let deadline = ContinuousClock.now + .seconds(5)
        while try names().count == 1, ContinuousClock.now < deadline { usleep(20_000) }
        #expect(try names().last == "kept up")
        #expect(try names().first?.hasPrefix("new") == true)
    }

    @Test(.enabled(if: canRun, "\(whyNot)"))
    func `an attempt of a configured probe is made only where its conditions allow it, or by root's interface`() throws
    {
        let stage = try Stage()
        defer { stage.namespace.remove() }
        let probe = "target = \"http://192.0.2.1/\"\ninterval = \"1d\"\n"
        let daemon = try stage.start(
            "[[probe]]\nname = \"mobile\"\nclass = \"wwan\"\n\(probe)"
                + "[[probe]]\nname = \"virtual\"\nclass = \"virtual\"\n\(probe)")
        _ = try daemon.nextLine()
        let refused = try reach.run(["probe", "--socket", stage.socket, "mobile"])
        #expect(refused.status != 0 && refused.standardError.contains("the probe is paused"))
        #expect(try reach.run(["probe", "--socket", stage.socket, "virtual"]).status == 0)
        #expect(try reach.run(["probe", "--socket", stage.socket, "--interface", "up0", "mobile"]).status == 0)
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }

    @Test(.enabled(if: canRun, "\(whyNot)"))
    func `one attempt ends with 0, 1, 2, 3 or 4, with a daemon and without`() throws {
        let stage = try Stage()
        defer { stage.namespace.remove() }
        let daemon = try stage.start("[[probe]]\nname = \"web\"\ntarget = \"http://192.0.2.1/\"\ninterval = \"1d\"\n")
        _ = try daemon.nextLine()
        for source in [["--socket", stage.socket], ["--no-daemon"]] {
            func status(_ arguments: String...) throws -> CInt {
                try reach.run(["probe"] + source + arguments, in: stage.namespace.name).status
            }
            #expect(try status("http://192.0.2.1/", "tcp://192.0.2.1:80") == 0)
            #expect(try status("http://192.0.2.1/", "tcp://192.0.2.1:81") == 1)
            #expect(try status("http://[2001:db8:1::1]/") == 3)
            #expect(try status("http://192.0.2.1/", "--interface", "none0") == 3)
            #expect(try status("gopher://192.0.2.1/") == 2)
            #expect(try status("--timeout", "400s", "http://192.0.2.1/") == 2)
        }
        #expect(try reach.run(["probe", "--socket", stage.socket, "web"]).status == 0)
        #expect(try reach.run(["probe", "--socket", stage.socket, "other"]).status == 2)
        #expect(try reach.run(["probe", "--socket", stage.directory.path + "/none", "http://192.0.2.1/"]).status == 4)
        #expect(try reach.run(["probes", "--socket", stage.directory.path + "/none"]).status == 4)
        let json = try reach.run(["probe", "--no-daemon", "--json", "http://192.0.2.1/"], in: stage.namespace.name)
        #expect(
            JSONKeys.all(in: json.standardOutput).subtracting(ManualPage("reach-events.7").arguments(of: "Va")) == [])
        #expect(JSONKeys.all(in: json.standardOutput).isSuperset(of: ["connect_us", "outcome", "http_status"]))
    }

    @Test(.enabled(if: canRun && getuid() == 0, "it takes root, namespaces and nginx"))
    func `another user may use configured probes, and makes attempts of other URLs without the daemon`() throws {
        let stage = try Stage()
        defer { stage.namespace.remove() }
        let daemon = try stage.start(
            "[[probe]]\nname = \"web\"\ntarget = \"http://192.0.2.1/\"\ninterval = \"1d\"\n")
        _ = try daemon.nextLine()
        try ChildProcess.run(["chmod", "755", stage.directory.path])
        // Only root may have access to the build directory.
        for program in [reach.path, reachd.path] {
            try ChildProcess.run(["install", "-m", "755", program, stage.directory.path])
        }
        func status(_ target: String, _ options: String...) throws -> CInt {
            let command = [
                "exec setpriv --reuid 54321 --regid 54321 --clear-groups \"$@\"", "sh", stage.directory.path + "/reach",
                "probe",
                target,
            ]
            return try BuiltProgram(named: "/bin/sh").run(
                ["-c"] + command + options, environment: ["REACH_SOCKET": nil, "XDG_RUNTIME_DIR": nil],
                in: stage.namespace.name
            ).status
        }
        #expect(try status("web", "--socket", stage.socket) == 0)
        #expect(try status("http://192.0.2.1/", "--socket", stage.socket) == 4)
        #expect(try status("http://192.0.2.1/", "--no-daemon") == 0)
    }

    @Test(.enabled(if: canRun, "\(whyNot)"))
    func `a thousand probes are printed in full, and idle clients of the metrics do not block others for long`()
        throws
    {
        let stage = try Stage()
        defer { stage.namespace.remove() }
        let probes = (0..<1000).map {
            "[[probe]]\nname = \"probe-\($0)\"\ntarget = \"tcp://192.0.2.1:80\"\ninterval = \"1d\"\n"
        }
        let daemon = try stage.start(probes.joined() + "[metrics]\nlisten = \"127.0.0.1:9101\"\n")
        _ = try daemon.nextLine()
        #expect(try reach.run(["probes", "--json", "--socket", stage.socket]).lines.count == 1000)
        let script = """
            import socket, urllib.request
            def connect():
                s = socket.create_connection(("127.0.0.1", 9101))
                s.settimeout(20)
                return s
            # Fifteen who say nothing, one who never ends its request, and one more.
            idle = [connect() for _ in range(14)]
            endless = connect()
            try:
                for _ in range(1000): endless.sendall(b"x" * 1000)
            except OSError:
                pass
            print(urllib.request.urlopen("http://127.0.0.1:9101/metrics").read().count(b"reach_probe_info{"))
            s = connect()
            s.sendall(b"DELETE / HTTP/1.1\\r\\n\\r\\n")
            print(s.recv(100).split(b"\\r\\n")[0].decode())
            print(all(s.recv(100) == b"" for s in idle))
            """
        let output = try stage.namespace.run("python3", "-c", script)
        #expect(output == "1000\nHTTP/1.1 405 Method Not Allowed\nTrue\n")
    }

    // MARK: - Compared with blackbox_exporter

    @Test(
        .enabled(
            if: canRun && TestProgram.path("prometheus-blackbox-exporter") != nil && CertificateAuthority.isAvailable,
            "it takes namespaces, nginx, openssl and prometheus-blackbox-exporter"))
    func `phases equal those of blackbox_exporter, within 5 ms or 5 percent`() throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue("web", names: ["IP:192.0.2.1"])
        let stage = try Stage(
            """
            server { listen 192.0.2.1:443 ssl; ssl_certificate \(identity.certificatePath);
              ssl_certificate_key \(identity.keyPath); location / { proxy_pass http://127.0.0.1:8080; proxy_buffering off; } }
            """, ports: [443])
        defer { stage.namespace.remove() }
        // Slow to begin, and slow to end.
        let slow = try ScriptedServer(in: stage.peer, port: 8080) { connection in
            connection.readRequest()
            usleep(120_000)
            connection.write("HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nab")
            usleep(80_000)
            connection.write("cd")
        }
        defer { withExtendedLifetime(slow) {} }
        // Where the kernel has netem, the handshakes take long enough to be compared, too.
        _ = try? stage.namespace.run("tc", "qdisc", "add", "dev", "up0", "root", "netem", "delay", "30ms")
        let file = try stage.directory.file(
            "blackbox.yml",
            "modules: { web: { prober: http, timeout: 5s, http: { tls_config: { insecure_skip_verify: true }, preferred_ip_protocol: ip4 } } }\n"
        )
        let blackbox = try TestProgram(
            ["prometheus-blackbox-exporter", "--config.file=" + file, "--web.listen-address=127.0.0.1:9115"],
            listensOn: [9115], in: stage.namespace)
        defer { withExtendedLifetime(blackbox) {} }
        let daemon = try stage.start(
            "[[probe]]\nname = \"web\"\ntarget = \"https://192.0.2.1/\"\ninterval = \"1d\"\nany_certificate = true\n")
        _ = try daemon.nextLine()
        // One attempt of each fills caches of neighbours and pages. Then the shortest of at least seven counts: other
        // processes use the processors as well, which only adds to a phase. So there are more on a busy machine. A
        // transfer begins when its first byte is seen, which may be late, so that it may be too short as well: there
        // the one in the middle counts.
        var mine: [String: [Double]] = [:]
        var theirs: [String: [Double]] = [:]
        func typical(_ phase: String) -> (mine: Double, theirs: Double) {
            func choose(_ values: [Double]?) -> Double {
                guard let sorted = values?.sorted(), let shortest = sorted.first else { return .infinity }
                return phase == "transfer" ? sorted[sorted.count / 2] : shortest
            }
            return (choose(mine[phase]), choose(theirs[phase]))
        }
        func agree(_ phase: String) -> Bool {
            let (value, other) = typical(phase)
            return abs(value - other) <= max(0.005, 0.05 * other)
        }
        for round in 0..<60 where round < 8 || !mine.keys.allSatisfy(agree) {
            let json = try JSONReader.read(
                Array(try reach.run(["probe", "--json", "--socket", stage.socket, "web"]).standardOutput.utf8))
            #expect(json["outcome"]?.string == "ok")
            let text = try stage.fetch("http://127.0.0.1:9115/probe?module=web&target=https://192.0.2.1/")
            guard round > 0 else { continue }
            for phase in ["connect", "tls", "processing", "transfer"] {
                let microseconds = json["phases"]?[phase + "_us"]?.integer ?? .max
                mine[phase, default: []].append(Double(microseconds) / 1e6)
                let line = text.split(separator: "\n").first {
                    $0.hasPrefix("probe_http_duration_seconds{phase=\"\(phase)\"}")
                }
                theirs[phase, default: []].append(line?.split(separator: " ").last.flatMap { Double($0) } ?? .infinity)
            }
        }
        for (phase, values) in mine {
            let (value, other) = typical(phase)
            print("\(phase): \(value * 1000) ms, blackbox_exporter \(other * 1000) ms")
            #expect(agree(phase), "\(phase): \(values), \(theirs[phase] ?? [])")
        }
    }

    // MARK: - Prometheus's files

    @Test(.enabled(if: TestProgram.path("promtool") != nil, "promtool is not installed (apt-get install prometheus)"))
    func `Prometheus accepts the alert rules, and they use only documented metrics`() throws {
        let rules = ProjectFile.path("contrib/prometheus/reach.rules.yml")
        try ChildProcess.run(["promtool", "check", "rules", rules])
        try ChildProcess.run(["promtool", "test", "rules", ProjectFile.path("contrib/prometheus/reach.rules.test.yml")])
        let manual = ProjectFile.text("man/reachd.8")
        for file in ["contrib/prometheus/reach.rules.yml", "contrib/prometheus/reach.dashboard.json"] {
            for word in ProjectFile.text(file).split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") })
            where word.hasPrefix("reach_") {
                let name = ["_bucket", "_sum", "_count"].reduce(String(word)) { name, suffix in
                    name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
                }
                #expect(manual.contains(name), "\(file): \(word)")
            }
        }
        #expect((try? JSONReader.read(Array(ProjectFile.text("contrib/prometheus/reach.dashboard.json").utf8))) != nil)
    }

    private func text(_ path: String) throws -> String { try ChildProcess.run(["cat", path]) }

    private func checkByPromtool(_ text: String, _ directory: TemporaryDirectory) throws {
        guard TestProgram.path("promtool") != nil else { return print("promtool is not installed: not checked") }
        let file = try directory.file("scraped", text)
        try ChildProcess.run(["sh", "-c", "promtool check metrics < \(file)"])
    }
}
