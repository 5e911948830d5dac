import Foundation
import ReachTesting
import Testing

/// contrib/hooks/notify, with programs in the places of reach, sendmail and notify-send that write down what they get.
@Suite struct NotifyHookTests {
    private struct Stage {
        let directory: TemporaryDirectory
        var record: String { (try? String(contentsOfFile: directory.path + "/record", encoding: .utf8)) ?? "" }

        init(_ settings: String) throws {
            directory = try TemporaryDirectory()
            for name in ["reach", "sendmail", "notify-send"] {
                try directory.file(
                    name,
                    """
                    #!/bin/sh
                    # In one piece, since channels run at the same time.
                    all=$(printf '%s' \(name); printf ' <%s>' "$@"; echo; [ -t 0 ] || cat)
                    printf '%s\\n' "$all" >>'\(directory.path)/record'

                    """,
                    mode: 0o755)
            }
            try directory.file("notify.conf", "SENDMAIL=\(directory.path)/sendmail\n" + settings)
        }

        /// Starts the hook.
        func start(_ arguments: [String] = [], _ variables: [String: String] = [:]) throws -> RunningProgram {
            var environment: [String: String?] = [
                "PATH": directory.path + ":/usr/bin:/bin", "REACH_NOTIFY_CONF": directory.path + "/notify.conf",
                "REACH_NOTIFY_STATE": directory.path + "/state", "REACH_TARGET": "internet",
                "REACH_CHANGED": "status path", "REACH_TIME": "2026-11-21T03:10:00Z",
                "REACH_STATUS": "not-reachable", "REACH_REASON": "no-carrier", "REACH_CONNECTIVITY": "none",
                "REACH_PORTAL": "", "REACH_INTERFACE": "", "REACH_CLASS": "", "REACH_SKIPPED": "0",
            ]
            environment.merge(variables.mapValues { $0 }) { $1 }
            let command = [
                "-c", "echo '{\"type\":\"change\"}' | \"$0\" \"$@\"", ProjectFile.path("contrib/hooks/notify"),
            ]
            return try BuiltProgram(named: "/bin/sh").start(command + arguments, environment: environment)
        }

        func run(_ arguments: [String] = [], _ variables: [String: String] = [:]) throws -> BuiltProgram.Result {
            try start(arguments, variables).finish()
        }

        /// Puts a program into the place of `sleep` that ends when the test lets it. What is shorter than a minute is
        /// slept.
        func holdSleep() throws {
            try directory.file(
                "sleep",
                """
                #!/bin/sh
                case $1 in [0-9] | 0.*) exec /bin/sleep "$1" ;; esac
                while [ -d '\(directory.path)' ]; do
                    # It counts from when the outage began: a slow machine leaves it less to sleep.
                    for more in 0 1 2 3 4 5 6 7 8 9; do
                        rm '\(directory.path)/slept-'"$(($1 + more))" 2>/dev/null && exit
                    done
                    /bin/sleep 0.02
                done

                """, mode: 0o755)
        }

        /// Lets one sleep of so many seconds end, or of up to nine less, and waits until it has.
        func endSleep(_ seconds: Int) throws -> Bool {
            let file = directory.path + "/slept-\(seconds)"
            try directory.file("slept-\(seconds)", "")
            for _ in 0..<600 where access(file, F_OK) == 0 { usleep(50_000) }
            return access(file, F_OK) != 0
        }
    }

    @Test func `an outage goes out by mail, ntfy, webhook and to the desktop`() throws {
        let stage = try Stage(
            "MAIL_TO=a@example.org\nMAIL_FROM=r@example.org\nNTFY_URL=https://ntfy.example/net\nNTFY_HEADERS=/etc/h\n"
                + "WEBHOOK_URL=https://hook.example/\nDESKTOP=yes\nWHEN=unmetered\n")
        let result = try stage.run()
        #expect(result.status == 0 && result.standardError.isEmpty, "\(result)")
        let record = stage.record
        #expect(record.contains("sendmail <-t> <-oi>\nTo: a@example.org\nFrom: r@example.org\nSubject: ["))
        #expect(record.contains("internet is not reachable\nDate: "))
        #expect(record.contains("internet is not reachable: no-carrier."))
        #expect(record.contains("<--when> <unmetered> <--expires> <1d> <--order> <reach-notify-ntfy>"))
        #expect(record.contains("<-H> <@/etc/h>") && record.contains("<Priority: high>"))
        #expect(record.contains("<https://ntfy.example/net>"))
        #expect(record.contains("<-d> <@-> <https://hook.example/>\n{\"type\":\"change\"}\n"))
        #expect(record.contains("notify-send <--app-name=reach> <--urgency=critical>"))
    }

    @Test(arguments: [
        ("SLACK_URL=https://chat.example/s", "<-X> <POST>", "https://chat.example/s", ["text"]),
        (
            "MATRIX_URL=https://chat.example/rooms/!r MATRIX_HEADERS=/etc/h", "<-X> <PUT>",
            "https://chat.example/rooms/!r/send/m.room.message/", ["body", "m.mentions", "msgtype"]
        ),
        (
            "TELEGRAM_URL=https://chat.example/bot1 TELEGRAM_CHAT=42", "<-X> <POST>",
            "https://chat.example/bot1/sendMessage", ["chat_id", "text"]
        ),
        (
            "GOTIFY_URL=https://chat.example/ GOTIFY_HEADERS=/etc/h", "<-H> <@/etc/h>", "https://chat.example/message",
            ["message", "priority", "title"]
        ),
        (
            "PUSHOVER_TOKEN=t PUSHOVER_USER=u PUSHOVER_URL=https://chat.example/p", "<-X> <POST>",
            "https://chat.example/p", ["message", "priority", "title", "token", "user"]
        ),
    ])
    func `each chat gets JSON in its form`(settings: String, option: String, address: String, keys: [String]) throws {
        let stage = try Stage(settings + "\n")
        let portal = ["REACH_STATUS": "reachable", "REACH_CONNECTIVITY": "portal", "REACH_PORTAL": "http://a/\"\\{}"]
        let result = try stage.run([], portal)
        #expect(result.status == 0 && result.standardError.isEmpty, "\(result)")
        let lines = stage.record.split(separator: "\n")
        let call = try #require(lines.first { $0.contains("<add>") })
        #expect(call.contains(option) && call.contains("<" + address), "\(call)")
        let body = try #require(lines.first { $0.hasPrefix("{") })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        #expect(object.keys.sorted() == keys)
        let said = object.values.compactMap { $0 as? String }
        #expect(said.contains { $0.contains(#"http://a/"\{}"#) }, "\(body)")
    }

    /// Each as a target's name, which a name of 199 bytes before it pushes to where it is cut.
    private static let evilNames = [
        "<!channel>", "<https://a/|b>", "a&amp;b", "@room", "*b* _i_ `c` ~s~", "\"quoted\"", "back\\slash\\", "--help",
        "-e", "$(touch x)", "`touch x`", "%s%n%99999d", "=?utf-8?B?QkNDOg==?=", "Bcc: x@y", ".", "größe", "日本語",
        "\u{1f4a3}\u{1f4a3}", "a\u{301}\u{202e}b", "</a><script>",
    ]

    @Test(arguments: evilNames)
    func `every form keeps to its own rules, whatever a name has`(name: String) throws {
        let stage = try Stage(
            """
            MAIL_TO=a@example.org SLACK_URL=https://chat/s MATRIX_URL=https://chat/m TELEGRAM_URL=https://chat/t TELEGRAM_CHAT=1
            GOTIFY_URL=https://chat/g PUSHOVER_TOKEN=t PUSHOVER_USER=u NTFY_URL=https://chat/n DESKTOP=yes

            """)
        for prefix in ["", String(repeating: "x", count: 199)] {
            let target = prefix + name
            let result = try stage.run([], ["REACH_TARGET": target])
            #expect(result.status == 0 && result.standardError.isEmpty, "\(result)")
            let bytes = try Data(contentsOf: URL(filePath: stage.directory.path + "/record"))
            let record = try #require(String(data: bytes, encoding: .utf8), "half a character")
            try FileManager.default.removeItem(atPath: stage.directory.path + "/record")
            var cut = target
            while cut.utf8.count > 200 { cut.unicodeScalars.removeLast() }
            let lines = record.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            for line in lines where line.hasPrefix("{") {
                let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                let texts = object.values.compactMap { $0 as? String }
                let isSlack = object.count == 1
                let shown = isSlack ? Self.marked(cut) : cut
                #expect(texts.contains { $0.contains(shown.dropLast(prefix.isEmpty ? 0 : 2)) }, "\(line)")
                if isSlack { #expect(!line.contains("<") && !line.contains(">")) }
            }
            #expect(lines.filter { $0.hasPrefix("{") }.count == 5)
            let subject = Self.headers("Subject", of: lines)
            #expect(
                subject.allSatisfy { $0.utf8.count <= 78 || !$0.contains("=?") }
                    && subject.joined().utf8.allSatisfy { $0 < 0x80 })
            #expect(Self.decoded(subject).hasSuffix("] \(cut) is not reachable"), "\(subject)")
            let head = lines.drop { !$0.hasPrefix("To: ") }.prefix { !$0.isEmpty }
            #expect(head.count > 4 && !head.contains { $0.hasPrefix("Bcc:") })
            #expect(record.contains("notify-send <--app-name=reach> <--urgency=critical> <--> <\(cut) is not"))
        }
    }

    private static func marked(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// A header's lines, without its name.
    private static func headers(_ name: String, of lines: [String]) -> [String] {
        guard let first = lines.firstIndex(where: { $0.hasPrefix(name + ": ") }) else { return [] }
        let rest = lines[(first + 1)...].prefix { $0.hasPrefix(" ") }.map { String($0.dropFirst()) }
        return [String(lines[first].dropFirst(name.count + 2))] + rest
    }

    /// What a mail program shows of words of RFC 2047.
    private static func decoded(_ words: [String]) -> String {
        guard words.first?.hasPrefix("=?utf-8?B?") == true else { return words.joined() }
        let bytes = words.map { Data(base64Encoded: String($0.dropFirst(10).dropLast(2))) ?? Data() }
        return bytes.map { String(data: $0, encoding: .utf8) ?? "half a character" }.joined()
    }

    @Test(arguments: [
        (["REACH_STATUS": "reachable", "REACH_CONNECTIVITY": "full"], "internet is reachable through eth0 (wired)."),
        (["REACH_STATUS": "reachable", "REACH_CONNECTIVITY": "limited"], "the Internet does not answer behind it."),
        (
            [
                "REACH_STATUS": "reachable", "REACH_CONNECTIVITY": "limited",
                "REACH_CONNECTIVITY_REASON": "name-not-resolved",
            ], "Names are not resolved by eth0 (wired), though the Internet answers behind it."
        ),
        (
            ["REACH_STATUS": "reachable", "REACH_CONNECTIVITY": "portal", "REACH_PORTAL": "http://login/\nBcc: x@y"],
            "behind eth0 (wired): http://login/Bcc: x@y"
        ),
        (
            ["REACH_STATUS": "unknown", "REACH_REASON": "stale"],
            "It is not known whether internet is reachable: stale."
        ),
        (["REACH_SKIPPED": "1"], "One earlier change was followed quickly"),
        (["REACH_SKIPPED": "3"], "3 earlier changes"),
    ])
    func `the sentence says what happened`(variables: [String: String], sentence: String) throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        let link = ["REACH_INTERFACE": "eth0", "REACH_CLASS": "wired"]
        #expect(try stage.run([], link.merging(variables) { $1 }).status == 0)
        #expect(stage.record.contains(sentence), "\(stage.record)")
        #expect(!stage.record.contains("\nBcc:"))
    }

    @Test(arguments: [
        ("open", "ending", 1), ("ending", "ending", 0), ("captive", "open", 0), ("", "ending", 1), ("ending", "", 0),
    ])
    func `a session with a portal that is about to end is one message`(
        before: String, after: String, messages: Int
    ) throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        let variables = [
            "REACH_STATUS": "reachable", "REACH_LAST_STATUS": "reachable", "REACH_CONNECTIVITY": "full",
            "REACH_LAST_CONNECTIVITY": "full", "REACH_CHANGED": "portal", "REACH_PORTAL_SESSION": after,
            "REACH_PREVIOUS_PORTAL_SESSION": before, "REACH_PORTAL_SECONDS": "299", "REACH_INTERFACE": "wlan0",
            "REACH_PORTAL_PAGE": "https://login.example/\nBcc: x@y",
        ]
        #expect(try stage.run([], variables).status == 0)
        #expect(stage.record.split(separator: "sendmail").count == messages)
        guard messages > 0 else { return }
        #expect(stage.record.contains("another 299 seconds: https://login.example/Bcc: x@y"), "\(stage.record)")
    }

    /// A hook that is busy gets only the newest event of a target, whose previous state may be one that it never saw.
    @Test(arguments: [
        ("portal", "reachable", "2", 1), ("connectivity portal", "reachable", "0", 1),
        ("connectivity", "reachable", "0", 0),
        ("status portal", "not-reachable", "0", 1),
    ])
    func `the end of a session is told also if other changes hide it`(
        changed: String, before: String, skipped: String, messages: Int
    ) throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        let variables = [
            "REACH_STATUS": "reachable", "REACH_LAST_STATUS": before, "REACH_CONNECTIVITY": "full",
            "REACH_LAST_CONNECTIVITY": "unknown", "REACH_CHANGED": changed, "REACH_PORTAL_SESSION": "ending",
            "REACH_PREVIOUS_PORTAL_SESSION": skipped == "0" ? "open" : "ending", "REACH_PORTAL_SECONDS": "60",
            "REACH_SKIPPED": skipped,
        ]
        #expect(try stage.run([], variables).status == 0)
        #expect(stage.record.split(separator: "sendmail").count == messages)
        if messages > 0 { #expect(stage.record.contains("another 60 seconds"), "\(stage.record)") }
    }

    @Test func `a name from elsewhere adds no line to a mail`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        #expect(try stage.run([], ["REACH_TARGET": "x\nBcc: b@example.org\r"]).status == 0)
        #expect(stage.record.contains("] xBcc: b@example.org is not reachable\n"))
    }

    @Test(arguments: [["REACH_CHANGED": "path metered"], ["REACH_TARGET": "office"]])
    func `other changes and other targets are not reported`(variables: [String: String]) throws {
        let stage = try Stage("MAIL_TO=a@example.org\nTARGETS='internet probe:*'\n")
        #expect(try stage.run([], variables).status == 0)
        #expect(stage.record.isEmpty)
    }

    @Test(arguments: [
        // The cable is pulled, and plugged in again: the status, and a moment later what checks prove.
        ("reachable full", "not-reachable full", 1), ("not-reachable full", "not-reachable none", 0),
        ("not-reachable none", "reachable unknown", 1), ("reachable unknown", "reachable full", 0),
        ("reachable unknown", "reachable limited", 1), ("reachable limited", "reachable full", 1),
        ("reachable limited", "reachable none", 0), ("reachable full", "reachable portal", 1),
        ("unknown unknown", "not-reachable unknown", 1),
    ])
    func `a status and what is proved of it a moment later are one message`(
        before: String, after: String, messages: Int
    ) throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        let (before, after) = (
            before.split(separator: " ").map(String.init), after.split(separator: " ").map(String.init)
        )
        var variables = [
            "REACH_LAST_STATUS": before[0], "REACH_LAST_CONNECTIVITY": before[1], "REACH_STATUS": after[0],
            "REACH_CONNECTIVITY": after[1], "REACH_CHANGED": before[0] == after[0] ? "connectivity" : "status path",
        ]
        #expect(try stage.run([], variables).status == 0)
        #expect(stage.record.split(separator: "sendmail").count == messages)
        variables["REACH_SKIPPED"] = "2"
        variables["REACH_PREVIOUS_STATUS"] = "unknown"
        #expect(try stage.run([], variables).status == 0)
        #expect(stage.record.contains("2 earlier changes") == (messages > 0), "it is compared with what was told last")
        variables["REACH_LAST_STATUS"] = nil
        #expect(try stage.run([], variables).status == 0)
        #expect(stage.record.contains("2 earlier changes"), "what was told last is not known")
    }

    @Test func `what cannot be sent is said, and the rest is sent`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\nWEBHOOK_URL=https://hook.example/\nSENDMAIL=/bin/false\n")
        let result = try stage.run()
        #expect(result.status == 1 && result.standardError.contains("notify: mail: not accepted yet"), "\(result)")
        #expect(stage.record.contains("https://hook.example/"))
        let missing = try stage.run([], ["REACH_NOTIFY_CONF": "/nonexistent"])
        #expect(missing.status == 78 && missing.standardError.contains("there is no /nonexistent"))
    }

    @Test func `a test message needs no event`() throws {
        let stage = try Stage("DESKTOP=yes\n")
        #expect(try stage.run(["--test"]).status == 0)
        #expect(stage.record.contains("<A test of the hook notify>") && stage.record.contains("nothing has happened"))
    }

    private static let dead = [
        "REACH_EVENT": "request-dead", "REACH_TARGET": "request:7", "REACH_REQUEST": "7", "REACH_REASON": "http-status",
        "REACH_STATUS": "", "REACH_CHANGED": "",
    ]

    @Test func `a request that failed for good is reported`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        #expect(try stage.run([], Self.dead).status == 0)
        #expect(stage.record.contains("Request 7 failed\n"))
        #expect(stage.record.contains("Request 7 will not be tried again: http-status."))
    }

    @Test func `a message that failed for good causes no other message`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\nNTFY_URL=https://ntfy.example/net\n")
        try stage.directory.file("reach", "#!/bin/sh\necho '{\"id\":7,\"order\":\"reach-notify\"}'\n", mode: 0o755)
        #expect(try stage.run([], Self.dead).status == 0)
        #expect(stage.record == "")
        try stage.directory.file("reach", "#!/bin/sh\nexit 1\n", mode: 0o755)
        #expect(try stage.run([], Self.dead).status == 1)
        #expect(stage.record == "", "a request that cannot be read may be its own")
    }

    private static let lost = [
        "REACH_LAST_STATUS": "reachable", "REACH_LAST_CONNECTIVITY": "full", "REACH_STATUS": "not-reachable",
    ]
    private static let back = [
        "REACH_LAST_STATUS": "not-reachable", "REACH_LAST_CONNECTIVITY": "none", "REACH_STATUS": "reachable",
        "REACH_CONNECTIVITY": "full", "REACH_INTERFACE": "eth3", "REACH_CLASS": "wired",
    ]

    private func wait(for text: String, in stage: Stage, seconds: Int = 30) -> Bool {
        for _ in 0..<seconds * 20 where !stage.record.contains(text) { usleep(50_000) }
        return stage.record.contains(text)
    }

    @Test func `an outage that is too short is not reported, nor is its end`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\nAFTER=60s\n")
        #expect(try stage.run([], Self.lost).status == 0)
        #expect(try stage.run([], Self.back).status == 0)
        #expect(stage.record.isEmpty, "\(stage.record)")
    }

    @Test func `begin, length and name are those of the event, however late the hook runs`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\nTARGETS=office\n")
        let target = ["REACH_TARGET": "198.51.100.7", "REACH_NAME": "office"]
        let lost = Self.lost.merging(target) { $1 }
        let back = Self.back.merging(target) { $1 }.merging(["REACH_TIME": "2026-11-21T03:11:35.25Z"]) { $1 }
        #expect(try stage.run([], lost).status == 0)
        #expect(stage.record.contains("office is not reachable\n"), "\(stage.record)")
        #expect(try stage.run([], back).status == 0)
        #expect(stage.record.contains("It is back after 95 s."), "\(stage.record)")
        // The daemon knows it better than seconds say, as far as it has seen the outage from its begin.
        for (since, words) in [("2026-11-21T03:10:00.812Z", "6.3 s"), ("2026-11-21T03:10:50Z", "95 s")] {
            let outage = ["REACH_OUTAGE_SINCE": since, "REACH_OUTAGE_TEXT": "6.3 s"]
            #expect(try stage.run([], lost).status == 0)
            #expect(try stage.run([], back.merging(outage) { $1 }).status == 0)
            #expect(stage.record.contains("It is back after \(words)."), "\(stage.record)")
        }
    }

    @Test func `what fell due in the outage and did not leave is reported with the return`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\nAFTER=61s\n")
        try stage.holdSleep()
        #expect(try stage.run([], Self.lost).status == 0)
        #expect(stage.record.isEmpty)
        #expect(try stage.run([], Self.back.merging(["REACH_TIME": "2026-11-21T03:11:30Z"]) { $1 }).status == 0)
        let record = stage.record
        let begin = try #require(record.range(of: "internet is not reachable: no-carrier."), "\(record)")
        let end = try #require(record.range(of: "It is back after 90 s."), "\(record)")
        #expect(begin.upperBound < end.lowerBound)
        #expect(try stage.endSleep(61))
        #expect(stage.record == record, "once")
    }

    @Test func `a probe that is no longer configured is over`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\nREPEAT=62s\nALERTMANAGER_URL=https://alerts.example\n")
        try stage.holdSleep()
        let probe = ["REACH_EVENT": "probe", "REACH_TARGET": "probe:nas", "REACH_NAME": "probe:nas"]
        let down = ["REACH_STATUS": "not-reachable", "REACH_REASON_TEXT": "it did not answer in time"]
        #expect(try stage.run([], probe.merging(down) { $1 }).status == 0)
        #expect(stage.record.contains("probe:nas is not reachable: it did not answer in time."), "\(stage.record)")
        let removed = ["REACH_STATUS": "unknown", "REACH_REASON": "unwatched"]
        let record = stage.record
        #expect(try stage.run([], probe.merging(removed) { $1 }).status == 0)
        #expect(try stage.endSleep(62))
        let more = String(stage.record.dropFirst(record.count))
        #expect(more.components(separatedBy: "<add>").count == 2 && more.contains("\"endsAt\":"), "\(more)")
        #expect(more.contains("\"target\":\"probe:nas\"") && !more.contains("sendmail"), "only the open alert ends")
        #expect(try stage.run([], probe.merging(removed) { $1 }).status == 0)
        #expect(stage.record.count == record.count + more.count)
    }

    @Test func `a mail that comes while another is sent is sent as well`() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.path + "/mails", withIntermediateDirectories: false)
        try directory.file(
            "sendmail",
            """
            #!/bin/sh
            cat >>'\(directory.path)/sent'
            while [ -d '\(directory.path)' ] && [ ! -e '\(directory.path)/go' ]; do /bin/sleep 0.02; done

            """, mode: 0o755)
        let start = {
            try BuiltProgram(named: "/bin/sh").start(
                [ProjectFile.path("contrib/hooks/send-mail"), directory.path + "/mails"],
                environment: ["SENDMAIL": directory.path + "/sendmail", "REACH_MAIL_CONF": "/dev/null"])
        }
        var sent: String { (try? String(contentsOfFile: directory.path + "/sent", encoding: .utf8)) ?? "" }
        try directory.file("mails/1.mail", "To: first@example.org\n\n")
        let first = try start()
        for _ in 0..<600 where !sent.contains("first") { usleep(50_000) }
        try directory.file("mails/2.mail", "To: second@example.org\n\n")
        #expect(try start().finish().status == 0)
        try directory.file("go", "")
        #expect(try first.finish().status == 0)
        #expect(sent.contains("first") && sent.contains("second"))
    }

    @Test func `an outage that lasts is reported once and again, and its end with its length`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\nAFTER=61s\nREPEAT=90s\n")
        try stage.holdSleep()
        #expect(try stage.run([], Self.lost).status == 0)
        #expect(stage.record.isEmpty)
        #expect(try stage.endSleep(61))
        #expect(wait(for: "internet is not reachable\n", in: stage), "\(stage.record)")
        #expect(stage.record.contains("It has lasted for"))
        #expect(!stage.record.contains("still"))
        #expect(try stage.endSleep(90))
        #expect(wait(for: "internet is not reachable still\n", in: stage), "\(stage.record)")
        #expect(try stage.run([], Self.back).status == 0)
        #expect(
            wait(for: "internet is reachable through eth3 (wired). It is back after ", in: stage), "\(stage.record)")
        let last = stage.record
        #expect(try stage.endSleep(90))
        #expect(stage.record == last, "nothing is repeated of what is over")
    }

    @Test func `an outage that begins while another channel hangs is reported all the same`() throws {
        let stage = try Stage("")
        let path = stage.directory.path
        let hangs = try stage.directory.file(
            "hangs", "#!/bin/sh\nwhile [ -d '\(path)' ] && [ ! -e '\(path)/end' ]; do sleep 0.05; done\n", mode: 0o755)
        try stage.directory.file(
            "notify.conf", "MAIL_TO=a@example.org\nSENDMAIL=\(hangs)\nNTFY_URL=https://ntfy.example/net\n")
        let first = try stage.start([], Self.lost)
        #expect(wait(for: "https://ntfy.example/net", in: stage))
        #expect(wait(for: "internet is not reachable", in: stage), "\(stage.record)")
        let second = try stage.start([], Self.back)
        #expect(wait(for: "It is back after", in: stage), "\(stage.record)")
        // Neither run of the hook waits for as long as the channel hangs.
        #expect(try first.finish().status == 1)
        #expect(try second.finish().status == 1)
        try stage.directory.file("end", "")
    }

    @Test func `a relay gets the mail by curl, and no list of processes the password`() throws {
        let stage = try Stage("MAIL_TO='a@example.org, Bea <b@example.org>'\nMAIL_FROM='R <r@example.org>'\n")
        try stage.directory.file(
            "curl",
            "#!/bin/sh\nprintf '<%s>' \"$@\" >>'\(stage.directory.path)/record'\ncat >>'\(stage.directory.path)/record'\n",
            mode: 0o755)
        let conf = try stage.directory.file(
            "mail.conf", "RELAY=smtp://mail.example.org:587\nUSER=u\nPASSWORD='p\"w'\n", mode: 0o600)
        #expect(try stage.run([], Self.lost.merging(["REACH_MAIL_CONF": conf]) { $1 }).status == 0)
        let record = stage.record
        #expect(record.contains("<--url><smtp://mail.example.org:587>") && record.contains("<--ssl-reqd>"), "\(record)")
        #expect(record.contains("<--mail-from><r@example.org>"))
        #expect(record.contains("<--mail-rcpt><a@example.org><--mail-rcpt><b@example.org>"))
        #expect(record.contains("user = \"u:p\\\"w\"\n") && !record.contains("<u:p"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.directory.path + "/state/mail") == [])
    }

    @Test func `a probe that fails is reported as a target`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        let probe = [
            "REACH_EVENT": "probe", "REACH_TARGET": "probe:shop", "REACH_STATUS": "not-reachable",
            "REACH_REASON": "timeout", "REACH_CHANGED": "status",
        ]
        #expect(try stage.run([], probe).status == 0)
        #expect(stage.record.contains("probe:shop is not reachable: timeout."))
    }

    // MARK: - Lines

    private static func line(_ word: String, _ text: String) -> [String: String] {
        [
            "REACH_STATUS": "reachable", "REACH_LAST_STATUS": "reachable", "REACH_CONNECTIVITY": "full",
            "REACH_LAST_CONNECTIVITY": "full", "REACH_CHANGED": "quality", "REACH_QUALITY": word,
            "REACH_QUALITY_TEXT": text, "REACH_INTERFACE": "eth0", "REACH_CLASS": "wired",
        ]
    }
    private static let lossy = line("lossy", "lossy (8 %)")
    private static let good = line("good", "good (23 ms)")

    private func messages(_ stage: Stage) -> Int { stage.record.components(separatedBy: "sendmail").count - 1 }

    @Test func `a line that becomes lossy is one message, and so is its end`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        #expect(try stage.run([], Self.good).status == 0)
        #expect(messages(stage) == 0, "it never was anything else")
        #expect(try stage.run([], Self.lossy).status == 0)
        #expect(stage.record.contains("internet: the line is lossy\n"), "\(stage.record)")
        #expect(stage.record.contains("The line through eth0 (wired) is lossy (8 %)."), "\(stage.record)")
        // Other figures, another change while it is lossy, and a time without measurements.
        #expect(try stage.run([], Self.line("lossy", "lossy (12 %)")).status == 0)
        #expect(try stage.run([], Self.lossy.merging(["REACH_CHANGED": "metered"]) { $1 }).status == 0)
        #expect(try stage.run([], Self.line("", "")).status == 0)
        #expect(messages(stage) == 1, "\(stage.record)")
        #expect(try stage.run([], Self.good).status == 0)
        #expect(stage.record.contains("internet: the line is good again\n"), "\(stage.record)")
        #expect(stage.record.contains("is good (23 ms). It had not been so for "), "\(stage.record)")
        #expect(try stage.run([], Self.good).status == 0)
        #expect(messages(stage) == 2, "\(stage.record)")
    }

    @Test func `the end of a lossy line is reported also if the change itself was skipped`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        #expect(try stage.run([], Self.lossy).status == 0)
        let other = ["REACH_CHANGED": "metered", "REACH_SKIPPED": "3"]
        #expect(try stage.run([], Self.good.merging(other) { $1 }).status == 0)
        #expect(stage.record.contains("the line is good again"), "\(stage.record)")
    }

    @Test(arguments: [("lossy", 0), ("'lossy slow'", 1), ("''", 0)])
    func `a slow line is reported where that is wanted`(words: String, messages: Int) throws {
        let stage = try Stage("MAIL_TO=a@example.org\nQUALITY=\(words)\n")
        #expect(try stage.run([], Self.line("slow", "slow (712 ms)")).status == 0)
        #expect(self.messages(stage) == messages)
    }

    @Test func `a line that is lossy for a moment is not reported where outages must last`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\nAFTER=60s\n")
        #expect(try stage.run([], Self.lossy).status == 0)
        #expect(try stage.run([], Self.good).status == 0)
        #expect(stage.record.isEmpty, "\(stage.record)")
    }

    @Test func `an outage does not end a lossy line, nor does a lossy line an outage`() throws {
        let stage = try Stage("MAIL_TO=a@example.org\n")
        #expect(try stage.run([], Self.lossy).status == 0)
        #expect(try stage.run([], Self.lost.merging(["REACH_QUALITY": ""]) { $1 }).status == 0)
        #expect(stage.record.contains("internet is not reachable"))
        // The new line is measured before anything else is said of it.
        let both = ["REACH_CHANGED": "status quality"]
        #expect(try stage.run([], Self.good.merging(Self.back) { $1 }.merging(both) { $1 }).status == 0)
        #expect(stage.record.contains("It is back after") && stage.record.contains("the line is good again"))
        #expect(messages(stage) == 4, "\(stage.record)")
    }
}
