internal import ReachTesting
internal import Testing

/// What `make build` has the programs print of themselves.
@Suite struct CompletionTests {
    private static let names = ["reach", "reachd", "reach-fleet", "reach-desktop"]
    private static let shells = [
        (shell: "bash", place: "NAME.bash", check: ["bash", "-n"]), ("zsh", "_NAME", ["zsh", "-n"]),
        ("fish", "NAME.fish", ["fish", "--no-execute"]),
    ]

    private static func program(_ name: String) -> String { BuiltProgram(named: name).path }

    @Test func `completions and schema are made as the programs print them, and the shells read them`() throws {
        let directory = try TemporaryDirectory()
        try ChildProcess.run([ProjectFile.path("contrib/generate"), directory.path] + Self.names.map(Self.program))
        for name in Self.names {
            for (shell, place, check) in Self.shells {
                let file =
                    directory.path + "/"
                    + place.split(separator: "NAME", omittingEmptySubsequences: false).joined(separator: name)
                let printed = try BuiltProgram(named: name).run(["--generate-completion-script", shell])
                #expect(printed.status == 0)
                #expect(try ChildProcess.run(["cat", file]) == printed.standardOutput)
                guard (try? ChildProcess.run(["sh", "-c", "command -v \(shell)"])) != nil else {
                    print("not read: \(shell) is not installed")
                    continue
                }
                try ChildProcess.run(check + [file])
            }
        }
        let schema = try BuiltProgram.reach.run(["schema"])
        #expect(try ChildProcess.run(["cat", directory.path + "/reach.schema.json"]) == schema.standardOutput)
        #expect(schema.standardOutput.contains("https://json-schema.org/draft/2020-12/schema"))
        #expect(schema.standardOutput.contains("\"$id\": \"https://example.org/reach/reach.schema.json\""))
    }

    @Test func `a program that prints no completions ends the build`() throws {
        let directory = try TemporaryDirectory()
        let mute = try directory.file("reach", "#!/bin/sh\necho error\n", mode: 0o755)
        let result = try BuiltProgram(named: ProjectFile.path("contrib/generate")).run([directory.path + "/made", mute])
        #expect(result.status == 1 && result.standardError.contains("prints no reach.bash"), "\(result)")
    }
}
