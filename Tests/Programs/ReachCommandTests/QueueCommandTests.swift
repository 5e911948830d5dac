internal import Foundation
internal import ReachControl
internal import ReachCore
internal import ReachTesting
internal import Testing

/// `reach queue` with the daemon that is built, and servers on the loopback.
@Suite(.timeLimit(.minutes(5))) struct QueueCommandTests {
    private let reach = BuiltProgram.reach

    /// A daemon with a queue of its own.
    private final class Stage {
        let directory: TemporaryDirectory
        private(set) var daemon: RunningProgram
        var socket: String { directory.path + "/socket" }
        private let arguments: [String]

        init(configuration: String = "") throws {
            directory = try TemporaryDirectory()
            try directory.file("reach.toml", configuration + "\n", mode: 0o644)
            arguments = [
                "--config", directory.path + "/reach.toml", "--socket", directory.path + "/socket", "--state",
                directory.path, "--events",
            ]
            daemon = try Self.start(arguments)
        }

        private static func start(_ arguments: [String]) throws -> RunningProgram {
            let daemon = try BuiltProgram(named: "reachd").start(arguments)
            _ = try daemon.nextLine()
            return daemon
        }

        func kill() throws {
            daemon.send(SIGKILL)
            _ = try daemon.finish()
        }

        func restart() throws { daemon = try Self.start(arguments) }

        /// `reach queue` with these words.
        func queue(_ words: [String]) throws -> BuiltProgram.Result {
            try BuiltProgram.reach.run(["queue"] + words, environment: ["REACH_SOCKET": socket])
        }

        /// `reach queue import` with this file as its standard input.
        func importing(_ file: String) throws -> BuiltProgram.Result {
            try BuiltProgram(named: "/bin/sh").run(
                ["-c", "exec \"$0\" queue import <\"$1\"", BuiltProgram.reach.path, file],
                environment: ["REACH_SOCKET": socket])
        }

        func follow(_ words: [String]) throws -> RunningProgram {
            try BuiltProgram.reach.start(["queue"] + words, environment: ["REACH_SOCKET": socket])
        }

        /// The number of the request that was added.
        func add(_ words: [String]) throws -> String {
            let added = try queue(["add"] + words)
            try #require(added.status == 0, "\(added.standardError)")
            return try #require(added.lines.first)
        }
    }

    /// Something that is not the same everywhere.
    private static func letter(_ place: Int) -> UInt8 {
        let sum: Int = place &* 31 &+ (place >> 8)
        return UInt8(33 + sum % 90)
    }

    private static func answer(_ body: String, status: String = "200 OK") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nX-Name: v\r\nConnection: close\r\n\r\n\(body)"
    }

    private func object(_ line: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func `a request is sent as curl would send it, and its answer is fetched`() throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.answer("the answer"))
        }
        let stage = try Stage()
        let id = try stage.add(["-H", "X-A: 1", "-d", "a=1", "-d", "b=2", "http://127.0.0.1:\(server.port)/path"])
        let waited = try stage.queue(["wait", "--timeout", "20s", id])
        #expect(waited.status == 0, "\(waited)")
        let last = try object(try #require(waited.lines.last))
        #expect(last["type"] as? String == "queue-item" && last["state"] as? String == "done")
        #expect(last["status"] as? Int == 200 && last["answer_bytes"] as? Int == 10)
        let request = try #require(server.requests.values.first)
        #expect(request.hasPrefix("POST /path HTTP/1.1\r\n"))
        #expect(request.contains("\r\nX-A: 1\r\n"))
        #expect(request.lowercased().contains("\r\ncontent-type: application/x-www-form-urlencoded\r\n"))
        #expect(request.hasSuffix("\r\n\r\na=1&b=2"))
        #expect(try stage.queue(["result", id]).standardOutput == "the answer")
        let answer = try object(try #require(try stage.queue(["result", "--json", id]).lines.first))
        #expect(answer["type"] as? String == "queue-answer" && answer["data"] as? String == "dGhlIGFuc3dlcg==")
        let file = stage.directory.path + "/answer"
        #expect(try stage.queue(["result", "-o", file, id]).status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "the answer")
        let explained = try stage.queue(["explain", id])
        #expect(explained.standardOutput.contains("It was answered"))
    }

    @Test func `a file of some megabytes arrives as it is, and the answer is written into another`() throws {
        let body = Data((0..<(2 << 20)).map(Self.letter))
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.answer("stored", status: "201 Created"))
        }
        let stage = try Stage()
        let source = stage.directory.path + "/a file"
        try body.write(to: URL(filePath: source))
        let output = stage.directory.path + "/answer"
        let url = "http://127.0.0.1:\(server.port)/d/"
        let added = try stage.queue(["add", "--accept", "201", "-T", source, "-o", output, url])
        #expect(added.status == 0, "\(added)")
        #expect(added.lines.count == 1 && Int(added.lines[0]) != nil)
        #expect(try String(contentsOfFile: output, encoding: .utf8) == "stored")
        let request = try #require(server.requests.values.first)
        #expect(request.hasPrefix("PUT /d/a%20file HTTP/1.1\r\n"))
        #expect(request.contains("\r\nContent-Length: \(body.count)\r\n"))
        #expect(request.utf8.suffix(body.count).elementsEqual(body))
    }

    @Test func `a form with a large file arrives in parts, and the answer goes to a pipe`() throws {
        let body = Data((0..<(2 << 20)).map(Self.letter))
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.answer("stored"))
        }
        let stage = try Stage()
        let source = stage.directory.path + "/photo"
        try body.write(to: URL(filePath: source))
        let url = "http://127.0.0.1:\(server.port)/"
        let added = try stage.queue([
            "add", "-F", "title=a \"b\"", "-F", "file=@\(source);type=image/png", "-o", "-", url,
        ])
        #expect(added.status == 0 && added.standardOutput == "stored", "\(added)")
        #expect(Int(added.standardError.dropLast()) != nil)
        let request = try #require(server.requests.values.first)
        let mark = try #require(request.firstRange(of: "boundary=")?.upperBound)
        let boundary = String(request[mark...].prefix { $0 != "\r\n" })
        let expected =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na \"b\"\r\n--\(boundary)\r\n"
            + "Content-Disposition: form-data; name=\"file\"; filename=\"photo\"\r\nContent-Type: image/png\r\n\r\n"
            + String(decoding: body, as: UTF8.self) + "\r\n--\(boundary)--\r\n"
        #expect(request.hasPrefix("POST / HTTP/1.1\r\n"))
        #expect(request.utf8.suffix(expected.utf8.count).elementsEqual(expected.utf8))
        #expect(request.contains("Content-Length: \(expected.utf8.count)\r\n"))
    }

    @Test func `headers from a file and credentials are sent, and a dry run shows neither and sends nothing`() throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.answer(""))
        }
        let stage = try Stage()
        try stage.directory.file(
            "headers", "Accept: text/*\nX-Api-Key: secret\nAuthorization: Bearer secret\n", mode: 0o600)
        let words = ["-H", "@" + stage.directory.path + "/headers", "http://127.0.0.1:\(server.port)/"]
        let dry = try stage.queue(["add", "--dry-run", "--when", "any"] + words)
        #expect(dry.status == 0)
        #expect(
            dry.lines == [
                "GET http://127.0.0.1:\(server.port)/", "Accept: text/*", "X-Api-Key: (not shown)",
                "Authorization: (not shown)", "sent when: any", "priority: normal",
            ])
        #expect(try stage.queue(["list", "--json"]).standardOutput.isEmpty)
        #expect(try stage.queue(["wait", stage.add(words)]).status == 0)
        let request = try #require(server.requests.values.first)
        #expect(
            request.contains("\r\nX-Api-Key: secret\r\n") && request.contains("\r\nAuthorization: Bearer secret\r\n"))
    }

    @Test(arguments: [
        ([], "PUT http://a.example/files/body"), (["--upload-protocol", "tus"], "POST http://a.example/files/"),
        (["--upload-protocol", "tus", "-X", "PATCH"], "PATCH http://a.example/files/"),
    ])
    func `the URL of what makes resumable uploads stays as it is`(words: [String], line: String) throws {
        let directory = try TemporaryDirectory()
        let file = try directory.file("body", "x")
        let dry = try BuiltProgram.reach.run(
            ["queue", "add", "--dry-run", "-T", file] + words + ["http://a.example/files/"])
        #expect(dry.status == 0 && dry.lines.first == line, "\(dry)")
    }

    @Test func `curl commands are imported, all or none`() throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.answer(""))
        }
        let stage = try Stage()
        let url = "http://127.0.0.1:\(server.port)"
        let file = try stage.directory.file(
            "commands", "curl -s '\(url)/a' -H 'X-A: 1'\ncurl \\\n  -d b=1 \(url)/b\n", mode: 0o600)
        let imported = try stage.importing(file)
        #expect(imported.status == 0 && imported.lines.count == 2, "\(imported)")
        for id in imported.lines { #expect(try stage.queue(["wait", id]).status == 0) }
        let heads = Set(server.requests.values.map { $0.prefix { $0 != "\r\n" } })
        #expect(heads == ["GET /a HTTP/1.1", "POST /b HTTP/1.1"])
        let bad = try stage.directory.file("bad", "curl \(url)/c\ncurl -k \(url)/d\n", mode: 0o600)
        let refused = try stage.importing(bad)
        #expect(refused.status == 2 && refused.standardOutput.isEmpty)
        #expect(refused.standardError.contains("command 2: curl's -k"), "\(refused.standardError)")
        #expect(try stage.queue(["import", "--", "curl", "-X", "PUT", url + "/e"]).lines.count == 1)
        #expect(try stage.queue(["list", "--json"]).lines.count == 3)
    }

    @Test func `a request waits for its condition, is held, released and cancelled`() throws {
        let stage = try Stage()
        let id = try stage.add(["--when", "interface=nosuch0", "--priority", "low", "http://127.0.0.1:1/"])
        let explained = try stage.queue(["explain", id])
        #expect(explained.lines.first == "request \(id) is waiting (class)", "\(explained.standardOutput)")
        #expect(explained.standardOutput.contains("by lo, does not satisfy 'interface=nosuch0'."))
        #expect(try stage.queue(["hold", id]).status == 0)
        let held = try object(try #require(try stage.queue(["show", "--json", id]).lines.first))
        #expect(held["state"] as? String == "held")
        #expect((held["blockers"] as? [String])?.contains("hold") == true)
        #expect(try stage.queue(["release", "--json", id]).standardOutput.contains("\"action\":\"release\""))
        #expect(try stage.queue(["wait", "--timeout", "100ms", id]).status == 124)
        let waiting = try stage.follow(["wait", id])
        #expect(try stage.queue(["list", "--state", "waiting"]).standardOutput.contains("interface=nosuch0"))
        #expect(try waiting.nextLine().contains("\"state\":\"waiting\""))
        #expect(try waiting.lines(during: .milliseconds(300)).isEmpty)
        #expect(try stage.queue(["cancel", id]).status == 0)
        let ended = try waiting.finish()
        #expect(ended.status == 1)
        #expect(ended.standardOutput.contains("\"event\":\"cancelled\""))
        #expect(ended.standardError == "reach: request \(id) is cancelled: user\n")
        #expect(try stage.queue(["cancel", id]).status == 1)
        #expect(try stage.queue(["list"]).standardOutput.contains("no request is on its way"))
    }

    @Test func `the list has what is on its way, and on request what is over, the newest of that first`() throws {
        let stage = try Stage()
        let ids = try (0..<4).map { _ in try stage.add(["--when", "interface=nosuch0", "http://127.0.0.1:1/"]) }
        for id in ids[..<2] { #expect(try stage.queue(["cancel", id]).status == 0) }
        func listed(_ words: [String]) throws -> [String] {
            try stage.queue(["list"] + words).lines.compactMap { line in ids.first { line.hasPrefix($0 + " ") } }
        }
        #expect(try listed([]) == [ids[2], ids[3]])
        #expect(try listed(["--limit", "1"]) == [ids[2]])
        #expect(try listed(["--all"]) == [ids[2], ids[3], ids[1], ids[0]])
        #expect(try listed(["--all", "--limit", "3"]) == [ids[2], ids[3], ids[1]])
        #expect(try listed(["--state", "cancelled"]) == [ids[1], ids[0]])
        #expect(try stage.queue(["list"]).standardOutput.contains("--all lists those that are over, too"))
        #expect(try stage.queue(["list", "--limit", "0"]).status == 2)
        #expect(try stage.queue(["list", "--all", "--state", "dead"]).status == 2)
    }

    @Test func `retry sends a dead request again`() throws {
        let isWell = EventLog<Bool>()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(isWell.values.isEmpty ? Self.answer("no", status: "404 Not Found") : Self.answer("yes"))
        }
        let stage = try Stage()
        let id = try stage.add(["http://127.0.0.1:\(server.port)/"])
        let dead = try stage.queue(["wait", id])
        #expect(dead.status == 1)
        #expect(dead.standardError.hasPrefix("reach: request \(id) is dead"))
        #expect(try stage.queue(["list", "--state", "dead", "--json"]).lines.count == 1)
        let other = try stage.add(["http://127.0.0.1:\(server.port)/"])
        #expect(try stage.queue(["wait", other]).status == 1)
        isWell.append(true)
        #expect(try stage.queue(["retry", other]).standardOutput == "request \(other) is sent again\n")
        #expect(try stage.queue(["wait", other]).status == 0)
        let retried = try stage.queue(["retry", "--all"])
        #expect(retried.status == 0 && retried.standardOutput == "1 request is sent again\n")
        #expect(try stage.queue(["wait", id]).status == 0)
        #expect(try stage.queue(["result", id]).standardOutput == "yes")
        #expect(try stage.queue(["retry", id]).status == 1)
    }

    @Test func `a killed daemon loses nothing, and commands that wait keep waiting`() throws {
        let stage = try Stage()
        let id = try stage.add(["--when", "interface=nosuch0", "http://127.0.0.1:1/"])
        let waiting = try stage.follow(["wait", id])
        let top = try stage.follow(["top"])
        #expect(try waiting.nextLine().contains("\"type\":\"queue-item\""))
        #expect(try top.nextLine().contains("\"event\":\"watching\""))
        #expect(try stage.queue(["hold", id]).status == 0)
        #expect(try waiting.nextLine().contains("\"event\":\"suspended\""))
        #expect(try top.nextLine().contains("\"event\":\"suspended\""))
        try stage.kill()
        try stage.restart()
        #expect(try stage.queue(["show", id]).standardOutput.hasPrefix("request \(id) is held"))
        #expect(try waiting.nextLine().contains("\"state\":\"held\""))
        #expect(try top.nextLine().contains("\"event\":\"watching\""))
        #expect(try stage.queue(["cancel", id]).status == 0)
        #expect(try waiting.finish().status == 1)
        top.send(SIGTERM)
        #expect(try top.finish().status == 0)
    }

    @Test(arguments: [
        (["add", "--when", "sunny", "http://127.0.0.1/"], 2, "when: "), (["add", "ftp://127.0.0.1/"], 2, "url: "),
        (["add", "--priority", "9", "http://127.0.0.1/"], 2, "priority: "), (["show", "99"], 1, "no request 99"),
        (["explain", "99"], 1, "no request 99"), (["result", "99"], 1, "99"), (["wait", "99"], 1, "no request 99"),
        (["hold", "98", "99"], 1, "no request 98"),
    ])
    func `a refusal of the queue ends with its status and a sentence`(
        words: [String], status: CInt, sentence: String
    ) throws {
        let result = try Stage().queue(words)
        #expect(result.status == status && result.standardOutput.isEmpty)
        #expect(result.standardError.contains(sentence), "\(result.standardError)")
    }

    @Test func `a full or missing queue is reported`() throws {
        let small = try Stage(configuration: "[queue]\nrequests = 1\nrequests_per_user = 1")
        _ = try small.add(["--when", "interface=nosuch0", "http://127.0.0.1:1/"])
        let full = try small.queue(["add", "--when", "interface=nosuch0", "http://127.0.0.1:1/"])
        #expect(full.status == 75 && full.standardOutput.isEmpty, "\(full)")
        let none = try Stage(configuration: "[queue]\nenabled = false").queue(["list"])
        #expect(none.status == 69 && none.standardError == "reach: this daemon keeps no queue\n")
    }

    /// `script` provides a terminal, and `q` is pressed before top reads it.
    @Test func `on a terminal a wait is one line, and top restores the screen`() throws {
        let stage = try Stage()
        let id = try stage.add(["--when", "interface=nosuch0", "http://127.0.0.1:1/"])
        func onTerminal(_ words: String, keys: String = "") throws -> String {
            let command = "stty cols 100; \(reach.path) queue \(words); echo status $?"
            return try ChildProcess.run([
                "env", "REACH_SOCKET=\(stage.socket)", "TERM=xterm", "sh", "-c",
                "(printf '\(keys)'; sleep 3) | script -qc '\(command)' /dev/null",
            ])
        }
        let waited = try onTerminal("wait --timeout 500ms \(id)")
        // What is wanted is said once.
        #expect(
            waited.contains("\rwaiting for ") && !waited.contains("waiting for interface=nosuch0 for "), "\(waited)")
        #expect(waited.contains("the path to http://127.0.0.1:1, by lo, does not satisfy 'interface=nosuch0'"))
        #expect(waited.contains("status 124"))
        let top = try onTerminal("top", keys: "q")
        #expect(top.contains("\u{1b}[?1049h") && top.contains("\u{1b}[?1049l"), "\(top)")
        #expect(top.contains("status 0"))
    }

    @Test func `every key that is printed is in the manual`() throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(Self.answer("a"))
        }
        let stage = try Stage()
        var printed = try stage.queue(["add", "--json", "http://127.0.0.1:\(server.port)/"]).standardOutput
        printed += try stage.queue(["wait", "1"]).standardOutput
        printed += try stage.queue(["add", "--json", "--when", "interface=nosuch0", "http://127.0.0.1:1/"])
            .standardOutput
        for words in [["explain", "2"], ["result", "1"], ["list"], ["hold", "2"]] {
            printed += try stage.queue(words + ["--json"]).standardOutput
        }
        #expect(JSONKeys.all(in: printed).isSuperset(of: ["kept", "remedy", "headers", "action", "answer_bytes"]))
        #expect(JSONKeys.all(in: printed).subtracting(ManualPage("reach-events.7").arguments(of: "Va")) == [])
    }
}

/// Tests without a daemon.
@Suite(.timeLimit(.minutes(5))) struct QueueUsageTests {
    @Test(arguments: [
        (["add"], "URL"), (["add", "-H", "nocolon", "http://h/"], "Name: value"),
        (["add", "-d", "a", "-T", "b", "http://h/"], "exclude each other"),
        (["add", "--expires", "soon", "http://h/"], "is not a duration"),
        (["add", "--accept", "9", "http://h/"], "is no status"), (["show", "x"], "x"), (["hold"], "--all"),
        (["hold", "--all", "1"], "exclude each other"), (["retry", "--reason", "expired", "1"], "--all"),
        (["result", "--json", "-o", "f", "1"], "exclude each other"), (["wait", "--timeout", "-1", "1"], "timeout"),
    ])
    func `an error on the command line is reported, and ends with 2`(arguments: [String], word: String) throws {
        let result = try BuiltProgram.reach.run(["queue"] + arguments)
        #expect(result.status == 2 && result.standardOutput.isEmpty)
        #expect(result.standardError.contains(word), "\(result.standardError)")
    }

    @Test(arguments: [["list"], ["add", "http://127.0.0.1/"], ["wait", "1"], ["top"], ["result", "1"]])
    func `without a daemon there is no queue`(arguments: [String]) throws {
        let result = try BuiltProgram.reach.run(["queue"] + arguments + ["--socket", "/nonexistent/socket"])
        #expect(result.status == 4 && result.standardOutput.isEmpty)
        #expect(
            result.standardError
                == "reach: no daemon answers at /nonexistent/socket; start one: reachd --socket /nonexistent/socket &\n"
        )
    }

    @Test(arguments: [["-T", "/nonexistent/file"], ["-d", "@/nonexistent/file"], ["-T", "/"]])
    func `an unreadable body ends with 66, before the daemon is asked`(arguments: [String]) throws {
        let result = try BuiltProgram.reach.run(
            ["queue", "add", "--socket", "/nonexistent/socket"] + arguments + ["http://127.0.0.1/"])
        #expect(result.status == 66)
        #expect(result.standardError.contains(arguments[1].hasPrefix("@") ? "/nonexistent/file" : arguments[1]))
    }
}
