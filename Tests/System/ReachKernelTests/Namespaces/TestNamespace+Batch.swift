internal import ReachTesting

extension TestNamespace {
    /// Runs many `ip` commands, one a line, in few processes: an argument holds 128 KiB.
    func batch(_ commands: String) throws {
        var rest = commands.split(separator: "\n")[...]
        while !rest.isEmpty {
            let part = rest.prefix(1500).joined(separator: "\n")
            rest = rest.dropFirst(1500)
            let script = "printf '%s\\n' \"$1\" | ip -n \"$0\" -force -batch - 2>&1 || true"
            try ChildProcess.run(["sh", "-c", script, name, part])
        }
    }
}
