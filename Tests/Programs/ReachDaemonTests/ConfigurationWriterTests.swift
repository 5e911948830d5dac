import ReachCore
@testable import ReachDaemon
import ReachKernel
import ReachTOML
import ReachTesting
import Testing

/// `reachd --dump-config`: what is written reads back the same.
@Suite struct ConfigurationWriterTests {
    private func read(_ text: String, file: String = "reach.toml") throws(ConfigurationError) -> ReadConfiguration {
        try ReadConfiguration([(file, Array(text.utf8))])
    }

    @Test func `the defaults are marked, and read back the same`() throws {
        let text = try ReadConfiguration([]).text
        #expect(try read(text).configuration == Configuration())
        #expect(text.contains("log_level = \"info\"  # default\n"))
        #expect(text.contains("[hooks]\n# directory: not set\ntimeout = \"30s\"  # default\n"))
    }

    @Test func `the example with all its keys reads back the same`() throws {
        let example = ProjectFile.text("contrib/reach.toml").split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in
                let isKey = line.hasPrefix("#") && line.dropFirst().first?.isWhitespace == false
                return isKey || line.hasPrefix("#    ") ? String(line.dropFirst()) : String(line)
            }
        let first = try read(example.joined(separator: "\n"))
        let written = first.text
        #expect(try read(written).configuration == first.configuration)
        #expect(first.configuration.probes.count == 4 && first.configuration.targets.count == 3)
    }

    @Test func `a key that is set has its file and line, and texts are escaped`() throws {
        let text = #"""
            [connectivity]
            endpoints = ["http://a.example/204", { url = "http://b.example/", header = "X-B: 1" },
              { url = "https://c.example/", body = "\u0007\"\\ü" }]
            timeout = "1.5s"
            [targets]
            "backup.example" = "https://backup.example/"
            [[probe]]
            name = "a"
            target = "dns:example.net"
            latency = "1500us"
            """#
        let first = try read(text, file: "a\nb.toml")
        let written = first.text
        #expect(written.contains("timeout = \"1500ms\"  # a\\u{a}b.toml:4\n"), "\(written)")
        #expect(written.contains("\"backup.example\" = "))
        #expect(written.contains("latency = \"1500us\"\n"))
        #expect(try read(written).configuration == first.configuration)
    }

    // MARK: - Several files

    @Test func `a later file's key replaces an earlier one, and lists of tables grow`() throws {
        let both = try ReadConfiguration([
            (
                "reach.toml",
                Array(
                    """
                    [hold]
                    up = "1s"
                    down = "2s"
                    [internet]
                    anchors = ["192.0.2.1", "192.0.2.2"]
                    [targets]
                    a = "192.0.2.1"
                    b = "192.0.2.2"
                    [[interface]]
                    match = "wwan*"
                    metered = true
                    [[probe]]
                    name = "one"
                    target = "icmp://192.0.2.1"
                    """.utf8)
            ),
            (
                "reach.d/10.toml",
                Array(
                    """
                    [hold]
                    up = "5s"
                    [internet]
                    anchors = ["192.0.2.3"]
                    [targets]
                    a = "192.0.2.9"
                    [[interface]]
                    match = "wwan0"
                    metered = false
                    [[probe]]
                    name = "two"
                    target = "icmp://192.0.2.2"
                    """.utf8)
            ),
        ])
        let configuration = both.configuration
        #expect(configuration.hold.up == .seconds(5) && configuration.hold.down == .seconds(2))
        #expect(configuration.internet.anchors.map(\.description) == ["192.0.2.3"])
        #expect(configuration.targets[named: "a"]?.description == "192.0.2.9")
        #expect(configuration.targets[named: "b"]?.description == "192.0.2.2" && configuration.targets.count == 2)
        let policy = configuration.engineOptions.observer.policy
        #expect(policy.first(\.isMetered, for: "wwan0") == false && policy.first(\.isMetered, for: "wwan1") == true)
        #expect(configuration.probes.map(\.name) == ["one", "two"])
        #expect(both.places["hold.up"]?.file == "reach.d/10.toml" && both.places["hold.down"]?.file == "reach.toml")
    }

    @Test func `each error names its own file, in the order of the files`() {
        let error = #expect(throws: ConfigurationError.self) {
            try ReadConfiguration([
                ("reach.toml", Array("\n\n\n[hold]\nuo = 1\n[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'".utf8)),
                ("reach.d/1.toml", Array("[[probe]]\nname = 'a'\ntarget = 'icmp://192.0.2.1'\n".utf8)),
                ("reach.d/2.toml", Array("oops\n[limits]\nconnections = 0".utf8)),
            ])
        }
        let places = error?.lines.map { $0.prefix { $0 != " " } }
        #expect(places == ["reach.toml:5:", "reach.d/1.toml:2:", "reach.d/2.toml:1:", "reach.d/2.toml:3:"])
    }

    @Test func `a contradiction between files is reported where the later key is`() {
        let error = #expect(throws: ConfigurationError.self) {
            try ReadConfiguration([
                ("reach.toml", Array("[hold]\nup = '10s'".utf8)),
                ("reach.d/1.toml", Array("\n[hold]\nmaximum = '5s'".utf8)),
            ])
        }
        #expect(error?.description.hasPrefix("reach.d/1.toml:3: hold.maximum: it is shorter than a hold") == true)
    }
}
