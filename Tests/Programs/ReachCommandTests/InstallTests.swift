internal import Glibc
internal import ReachTesting
internal import Testing

/// `make install` and `make uninstall`, with stand-ins for the built programs.
@Suite struct InstallTests {
    private let directory: TemporaryDirectory
    private var stage: String { directory.path + "/stage" }

    init() throws {
        directory = try TemporaryDirectory()
        let programs = try ["reach", "reachd", "reach-fleet", "reach-desktop"].map {
            try directory.file($0, "#!/bin/sh\nprintf '\\n\\n'\n", mode: 0o755)
        }
        try ChildProcess.run([ProjectFile.path("contrib/generate"), directory.path + "/made"] + programs)
    }

    @discardableResult
    private func install(prefix: String, _ arguments: [String] = []) throws -> String {
        try ChildProcess.run(
            [
                "env", "DESTDIR=\(stage)", "PREFIX=\(prefix)", "BUILD=\(directory.path)", "STRIP=true", "OPENRC=yes",
                ProjectFile.path("contrib/install"),
            ] + arguments)
    }

    private func files(_ condition: String...) throws -> [String] {
        try ChildProcess.run(["find", stage, "-not", "-type", "d"] + condition).split(separator: "\n").map(String.init)
    }

    @Test(arguments: ["/usr", "/usr/local"])
    func `units and scripts start the installed programs`(prefix: String) throws {
        try install(prefix: prefix)
        let starters = try ChildProcess.run([
            "grep", "-rhoE", "^(ExecStart=|command=\")[^\" ]*", stage + prefix + "/lib/systemd", stage + "/etc/init.d",
        ])
        let programs = starters.split(separator: "\n").map { $0.drop { $0 != "/" } }
        #expect(programs.count == 14)
        for program in programs {
            #expect(program.hasPrefix(prefix + "/"))
            #expect(access(stage + program, X_OK) == 0, "\(program)")
        }
    }

    @Test func `all files are installed`() throws {
        try install(prefix: "/usr")
        let installed = Set(try files().map { $0.split(separator: "/").last.map(String.init) ?? "" })
        let wanted = try ChildProcess.run([
            "find", ProjectFile.path("man"), ProjectFile.path("contrib/systemd"),
            ProjectFile.path("contrib/sysusers.d"), ProjectFile.path("contrib/dbus"),
            ProjectFile.path("contrib/openrc"), ProjectFile.path("Sources/Control/ReachControl/Interfaces"),
            ProjectFile.path("contrib/prometheus"), ProjectFile.path("contrib/hooks"), "-type", "f",
            "-not",
            "-name", "*.swift", "-not", "-name", "*.test.yml", "-not", "-name", "try*", "-printf", "%f\n",
        ]).split(separator: "\n").map(String.init)
        #expect(wanted.count >= 12)
        #expect(installed.isSuperset(of: wanted), "\(Set(wanted).subtracting(installed))")
        for (source, name) in [("alerts.yml", "reach-fleet.rules.yml"), ("grafana.json", "reach-fleet.dashboard.json")]
        {
            let place = "\(stage)/usr/share/reach/prometheus/\(name)"
            try ChildProcess.run(["cmp", place, ProjectFile.path("contrib/fleet/\(source)")])
        }
        #expect(access(stage + "/etc/reach/hooks.d", F_OK) == 0)
        #expect(access(stage + "/etc/reach/reach.toml", F_OK) != 0, "this file belongs to the administrator")
    }

    @Test func `Debian's package has the version of the programs`() throws {
        let version = try BuiltProgram.reach.run(["--version"]).lines.first?.split(separator: " ").last ?? ""
        #expect(!version.isEmpty)
        #expect(ProjectFile.text("contrib/debian/changelog").hasPrefix("reach (\(version)) "))
        #expect(try BuiltProgram(named: "reachd").run(["--version"]).lines == ["reachd \(version)"])
    }

    @Test func `uninstalling leaves only files of others`() throws {
        try install(prefix: "/usr/local")
        try install(prefix: "/usr/local", ["--remove"])
        #expect(try files() == [])
        #expect(try ChildProcess.run(["find", stage, "-name", "*reach*"]) == "")

        try install(prefix: "/usr/local")
        try ChildProcess.run(["touch", stage + "/etc/reach/reach.toml", stage + "/etc/reach/hooks.d/mine"])
        try install(prefix: "/usr/local", ["--remove"])
        #expect(try files().count == 2)
    }
}
