import ReachTesting
import Testing

/// Values that others chose, and that a shell must not run while it completes: the real shells, with a program that
/// offers them.
@Suite struct CompletionAttackTests {
    private static let shells = [
        ("bash", "bash", "reach.bash"), ("zsh", "zsh", "_reach"), ("fish", "fish", "reach.fish"),
    ]

    /// A program in the place of reach, which does not leave such values out.
    private static let program = #"""
        #!/bin/sh
        printf '%s\n' 'interface:$(touch${IFS}Z)' '`touch${IFS}Z`' 'eth7' "interface:';touch Z;'"
        """#

    @Test(arguments: shells)
    func `a shell runs nothing of what it completes`(name: String, shell: String, file: String) throws {
        guard Self.has(shell) else { return print("not tested: \(shell) is not installed") }
        let directory = try TemporaryDirectory()
        _ = try directory.file("reach", Self.program, mode: 0o755)
        let script = try BuiltProgram.reach.run(["--generate-completion-script", name]).standardOutput
        _ = try directory.file(file, script)
        let command = "cd \(directory.path) && PATH=\(directory.path):$PATH && export PATH && "
        let offered = try ChildProcess.run(["sh", "-c", command + Self.completion(by: shell)])
        #expect(try ChildProcess.run(["sh", "-c", "ls \(directory.path)"]).contains("Z") == false, "\(offered)")
        #expect(offered.contains("eth7"), "\(offered)")
    }

    private static func has(_ shell: String) -> Bool {
        (try? ChildProcess.run(["sh", "-c", "command -v \(shell)"])) != nil
    }

    private static func completion(by shell: String) -> String {
        switch shell {
        case "bash":
            #"""
            bash --norc -c 'source ./reach.bash; COMP_WORDS=(reach status ""); COMP_CWORD=2; COMP_LINE="reach status "
            COMP_POINT=13; _reach reach "" status; printf "%s\n" "${COMPREPLY[@]}"'
            """#
        case "zsh":
            #"""
            zsh -f -c 'zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z "fpath=(\$PWD \$fpath); autoload -U compinit; compinit -u -D"
            zpty -w z "setopt no_beep; bindkey \"^I\" complete-word; echo rea\"\"dy"
            zpty -r -m z line "*ready*" >/dev/null; zpty -w -n z "reach status "$'"'"'\t\t'"'"'
            for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.3; while zpty -rt z line; do print -r -- "$line"; done; done; zpty -d z'
            """#
        default:
            "fish --no-config -c 'source ./reach.fish; complete -C \"reach status \"' 2>/dev/null"
        }
    }
}
