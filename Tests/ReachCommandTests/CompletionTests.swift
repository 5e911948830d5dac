internal import ReachTesting
internal import Testing

@Suite struct CompletionTests {
    @Test(arguments: [("bash", "reach.bash"), ("zsh", "_reach"), ("fish", "reach.fish")])
    func `the installed completions match the program`(shell: String, file: String) throws {
        let fresh = try BuiltProgram.reach.run(["--generate-completion-script", shell])
        #expect(fresh.status == 0)
        let kept = ProjectFile.text("contrib/completions/" + file)
        #expect(fresh.standardOutput == kept, "out of date: `make completions` updates it")
    }
}
