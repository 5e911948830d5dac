import Foundation
import ReachTesting
import Testing

/// contrib/hooks/mqtt with a real broker, which knows a password.
@Suite(
    .enabled(if: TestProgram.path("mosquitto") != nil, "there is no mosquitto"),
    .enabled(if: TestProgram.path("mosquitto_pub") != nil, "there is no mosquitto_pub"), .timeLimit(.minutes(1)))
struct MQTTHookTests {
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
        let host = ProcessInfo.processInfo.hostName.replacing(#/[^A-Za-z0-9_-]/#, with: "_").prefix(64)
        #expect(messages["reach/\(host)/internet/state"] == "OFF")
        #expect(messages["reach/\(host)/probe_a_b__/state"] == "ON")
        for (topic, text) in messages where !topic.hasSuffix("/state") {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
            guard topic.hasSuffix("/config") else { continue }
            let state = try #require(object["state_topic"] as? String)
            #expect(messages[state] != nil, "\(topic) names \(state)")
            #expect(object["device_class"] as? String == "connectivity")
        }
        let refused = try directory.file("mqtt.conf", "MQTT_OPTIONS='-h 127.0.0.1\n-p \(port)\n-u reach\n-P wrong'\n")
        #expect(refused == configuration)
        let result = try run(lost)
        #expect(result.status == 1 && result.standardError.contains("the broker did not take it"), "\(result)")
    }
}
