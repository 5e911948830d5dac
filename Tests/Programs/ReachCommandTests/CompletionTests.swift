internal import ReachTesting
internal import Testing

@Suite struct CompletionTests {
    @Test(
        arguments: ["reach", "reachd", "reach-fleet"], [("bash", "NAME.bash"), ("zsh", "_NAME"), ("fish", "NAME.fish")])
    func `the installed completions match the program`(name: String, place: (shell: String, file: String)) throws {
        let fresh = try BuiltProgram(named: name).run(["--generate-completion-script", place.shell])
        let file = place.file.split(separator: "NAME", omittingEmptySubsequences: false).joined(separator: name)
        #expect(fresh.status == 0)
        let kept = ProjectFile.text("contrib/completions/" + file)
        #expect(fresh.standardOutput == kept, "out of date: `make completions` updates it")
    }
}
