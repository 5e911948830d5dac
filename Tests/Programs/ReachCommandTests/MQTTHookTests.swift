import Foundation
import Glibc
import ReachTesting
import Testing

/// contrib/hooks/mqtt with a real broker, which knows a password.
@Suite(
    .enabled(if: TestProgram.path("mosquitto") != nil, "there is no mosquitto"),
    .enabled(if: TestProgram.path("mosquitto_pub") != nil, "there is no mosquitto_pub"), .timeLimit(.minutes(1)))
struct MQTTHookTests {
    /// This machine's name as the topics have it.
    private static let host = ProcessInfo.processInfo.hostName.replacing(#/[^A-Za-z0-9_-]/#, with: "_").prefix(64)

    @Test func `a target and a probe become sensors that Home Assistant finds, also with odd names`() throws {
        let directory = try TemporaryDirectory()
        let passwords = directory.path + "/passwords"
        try ChildProcess.run(["mosquitto_passwd", "-b", "-c", passwords, "reach", "secret"])
        let port = try TestProgram.freePort()
        let settings = try directory.file(
            "broker.conf",
            "listener \(port) 127.0.0.1\nallow_anonymous false\npassword_file \(passwords)\nuser root\n")
        let broker = try BuiltProgram(named: try #require(TestProgram.path("mosquitto"))).start(["-c", settings])
        defer { broker.send(SIGTERM) }
        let options = "-h 127.0.0.1\n-p \(port)\n-u reach\n-P secret"
        let configuration = try directory.file("mqtt.conf", "MQTT_OPTIONS='\(options)'\n")
        func run(_ variables: [String: String]) throws -> BuiltProgram.Result {
            var environment: [String: String?] = ["REACH_MQTT_CONF": configuration, "REACH_EVENT": "change"]
            environment.merge(variables.mapValues { $0 }) { $1 }
            let hook = ProjectFile.path("contrib/hooks/mqtt")
            return try BuiltProgram(named: "/bin/sh").run(["-c", "echo {} | \(hook)"], environment: environment)
        }
        let lost = ["REACH_TARGET": "internet", "REACH_STATUS": "not-reachable", "REACH_REASON": "no-carrier"]
        // The broker may not listen yet.
        var first = try run(lost)
        for _ in 0..<50 where first.status != 0 {
            usleep(100_000)
            first = try run(lost)
        }
        #expect(first.status == 0, "\(first)")
        let probe = ["REACH_TARGET": "probe:a/b\"#", "REACH_STATUS": "reachable", "REACH_EVENT": "probe"]
        #expect(try run(probe).status == 0)

        let said = try ChildProcess.run([
            "mosquitto_sub", "-h", "127.0.0.1", "-p", "\(port)", "-u", "reach", "-P", "secret", "-t", "#", "-v", "-W",
            "5",
            "-C", "6",
        ])
        let lines = said.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
        let messages = Dictionary(lines.map { ($0[0], $0[1]) }) { $1 }
        let host = Self.host
        #expect(messages["reach/\(host)/internet/state"] == "OFF")
        #expect(messages["reach/\(host)/probe_a_b__/state"] == "ON")
        for (topic, text) in messages where !topic.hasSuffix("/state") {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
            guard topic.hasSuffix("/config") else { continue }
            let state = try #require(object["state_topic"] as? String)
            #expect(messages[state] != nil, "\(topic) names \(state)")
            #expect(object["device_class"] as? String == "connectivity")
            // Home Assistant has this word for a state that is not known, and leaves the sensor as it was for any other.
            #expect(object["value_template"] as? String == "{{ 'None' if value == 'unknown' else value }}")
        }
        let refused = try directory.file("mqtt.conf", "MQTT_OPTIONS='-h 127.0.0.1\n-p \(port)\n-u reach\n-P wrong'\n")
        #expect(refused == configuration)
        let result = try run(lost)
        #expect(result.status == 1 && result.standardError.contains("the broker did not take it"), "\(result)")
    }

    /// A broker that keeps nothing over a restart, what its subscribers see, and a daemon with a target and a probe.
    private final class Service {
        let directory: TemporaryDirectory
        let port: Int
        private let settings: String
        private let daemon: RunningProgram
        private var broker: RunningProgram?
        let service: RunningProgram

        init() throws {
            directory = try TemporaryDirectory()
            port = Int(try TestProgram.freePort())
            settings = try directory.file(
                "broker.conf", "listener \(port) 127.0.0.1\nallow_anonymous true\nuser root\n")
            let probe = "[[probe]]\nname = \"self\"\ntarget = \"tcp://127.0.0.1:\(port)\"\ninterval = \"1s\"\n"
            let file = try directory.file("reach.toml", "[targets]\nloop = \"interface:lo\"\n" + probe)
            let socket = directory.path + "/socket"
            daemon = try BuiltProgram(named: "reachd").start(
                ["--config", file, "--socket", socket, "--state", directory.path + "/state", "--events"])
            _ = try daemon.nextLine(within: .seconds(20))
            let programs = BuiltProgram.reach.path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
            let environment: [String: String?] = [
                "REACH_MQTT_CONF": try directory.file("mqtt.conf", "MQTT_OPTIONS='-h 127.0.0.1\n-p \(port)'\n"),
                "REACH_MQTT_SERVING": directory.path, "REACH_SOCKET": socket, "REACH_CONFIG": file,
                "PATH": "\(programs):/usr/sbin:/usr/bin:/sbin:/bin",
            ]
            broker = try Self.startBroker(settings)
            service = try BuiltProgram(named: ProjectFile.path("contrib/hooks/mqtt")).start(
                ["--serve"], environment: environment)
        }

        private static func startBroker(_ settings: String) throws -> RunningProgram {
            try BuiltProgram(named: try #require(TestProgram.path("mosquitto"))).start(["-c", settings])
        }

        func restartBroker() throws {
            broker?.send(SIGTERM)
            _ = try broker?.finish(within: .seconds(10))
            broker = try Self.startBroker(settings)
        }

        func endDaemon() throws {
            daemon.send(SIGTERM)
            _ = try daemon.finish(within: .seconds(5))
        }

        /// The retained messages, once one topic has a text.
        func messages(once topic: String, is text: String) throws -> [String: String] {
            let deadline = ContinuousClock.now + .seconds(20)
            while true {
                // It ends with 27 when no more come.
                let subscription = "mosquitto_sub -h 127.0.0.1 -p \(port) -t '#' -v -W 1 2>/dev/null; true"
                let said = try ChildProcess.run(["sh", "-c", subscription])
                let lines = said.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
                let messages = Dictionary(lines.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
                if messages[topic] == text || ContinuousClock.now > deadline { return messages }
            }
        }

        func publish(_ topic: String, _ text: String) throws {
            try ChildProcess.run(["mosquitto_pub", "-h", "127.0.0.1", "-p", "\(port)", "-t", topic, "-m", text])
        }

        func end() {
            service.send(SIGTERM)
            broker?.send(SIGTERM)
        }
    }

    @Test func `everything is published at the start and after a reconnection, and is unavailable with its source`()
        throws
    {
        let service = try Service()
        defer { service.end() }
        let host = Self.host
        let names = ["internet", "loop", "probe_self"]
        for turn in ["start", "reconnection"] {
            let messages = try service.messages(once: "reach/\(host)/probe_self/state", is: "ON")
            #expect(messages["reach/\(host)/availability"] == "online", "\(turn)")
            for name in names {
                #expect(messages["reach/\(host)/\(name)/state"] != nil, "\(turn): \(messages)")
                let text = try #require(messages["homeassistant/binary_sensor/reach_\(host)/\(name)/config"])
                let sensor = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
                #expect(sensor["availability_topic"] as? String == "reach/\(host)/availability")
                #expect(sensor["expire_after"] as? Int == 900)
            }
            if turn == "start" { try service.restartBroker() }
        }
        try service.endDaemon()
        try service.publish("homeassistant/status", "online")
        let topic = "reach/\(host)/availability"
        #expect(try service.messages(once: topic, is: "offline")[topic] == "offline")
    }

    @Test func `sensors are unavailable once the service was stopped`() throws {
        let service = try Service()
        defer { service.end() }
        let topic = "reach/\(Self.host)/availability"
        #expect(try service.messages(once: topic, is: "online")[topic] == "online")
        service.service.send(SIGTERM)
        #expect(try service.messages(once: topic, is: "offline")[topic] == "offline")
    }
}
