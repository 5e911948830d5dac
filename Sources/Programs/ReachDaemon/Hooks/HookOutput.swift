/// Splits a hook's output into lines for the log, up to a limit.
struct HookOutput {
    static let lineLimit = 1024
    static let limit = 16 * 1024

    private var line: [UInt8] = []
    private var count = 0

    /// Adds output.
    ///
    /// - Returns: The lines that are complete.
    mutating func append(_ bytes: some Collection<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            guard count < Self.limit else { break }
            count += 1
            if byte == UInt8(ascii: "\n") || line.count == Self.lineLimit { finishLine(into: &lines) }
            if byte != UInt8(ascii: "\n") { line.append(byte) }
            if count == Self.limit {
                finishLine(into: &lines)
                lines.append("(further output omitted)")
            }
        }
        return lines
    }

    /// Ends the output.
    ///
    /// - Returns: The text after the last newline.
    mutating func end() -> [String] {
        var lines: [String] = []
        finishLine(into: &lines)
        return lines
    }

    private mutating func finishLine(into lines: inout [String]) {
        if !line.isEmpty { lines.append(String(decoding: line, as: UTF8.self)) }
        line = []
    }
}
