internal import ReachCore

/// Has shells complete the words after `reach run ... --` as those of the command that they name, as sudo's are.
///
/// ArgumentParser's scripts offer only files there.
enum CommandCompletion {
    private static let function = "__reach_complete_command"

    /// - Parameter script: What ArgumentParser generates for `reach`; other texts stay as they are.
    static func added(to script: String) -> String {
        if script.hasUTF8Prefix("#!/bin/bash\n") {
            return replacing("\n_reach() {\n", in: script, by: bash + "\n_reach() {\n    \(function) && return\n")
        }
        if script.hasUTF8Prefix("#compdef ") {
            return replacing("\n_reach() {\n", in: script, by: "\n_reach() {\n" + zsh)
        }
        let files = #"_positional "reach run" -ge 1' -"#
        return replacing(files + "F", in: script, by: files + "fka '(\(function))'\n" + fish)
    }

    private static func replacing(_ old: String, in script: String, by new: String) -> String {
        guard let place = script.utf8Range(of: old) else { return script }
        return script[..<place.lowerBound] + new + script[place.upperBound...]
    }

    /// Without bash-completion there are the names of commands, and files.
    private static let bash = """

        \(function)() {
            local -i index
            [[ "${COMP_WORDS[1]}" = run ]] || return
            for ((index = 2; index < COMP_CWORD; index++)); do
                [[ "${COMP_WORDS[index]}" = -- ]] || continue
                ((index++))
                if declare -F _comp_command_offset >/dev/null; then
                    _comp_command_offset "${index}"
                elif declare -F _command_offset >/dev/null; then
                    _command_offset "${index}"
                else
                    local action=file
                    ((index < COMP_CWORD)) || action=command
                    mapfile -t COMPREPLY < <(compgen -A "${action}" -- "${COMP_WORDS[COMP_CWORD]}")
                fi
                return 0
            done
            return 1
        }

        """

    private static let zsh = """
            local -i terminator="${words[(i)--]}"
            if [[ "${words[2]}" = run ]] && ((terminator < CURRENT)); then
                shift "${terminator}" words
                ((CURRENT -= terminator))
                _normal
                return
            fi


        """

    private static let fish = """

        function \(function)
            set -l words (commandline -opc)
            set -l terminator (contains -i -- -- $words); or return
            set -e words[1..$terminator]
            complete -C (string join -- ' ' (string escape -- $words) (commandline -ct))
        end

        """
}
