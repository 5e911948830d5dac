import Foundation
import ReachDaemon
import ReachTesting
import Testing

/// SECURITY.md has the limits that the daemon has without a configuration.
@Suite struct SecurityLimitTests {
    /// The defaults of all keys, as `table.key`, and as the configuration writes them.
    private static func defaults() throws -> [String: String] {
        var (table, values) = ("", [String: String]())
        for line in try ReadConfiguration([]).text.split(separator: "\n") {
            if line.hasPrefix("[") { table = String(line.dropFirst().dropLast()) }
            let parts = line.components(separatedBy: " = ")
            guard parts.count == 2, !line.hasPrefix("#") else { continue }
            let value = parts[1].components(separatedBy: "  #")[0]
            values[table + "." + parts[0]] = value.trimmingCharacters(in: ["\""])
        }
        return values
    }

    /// A value as people write it, as the configuration does: "16 MiB", "50 %", "8 bytes a second", "30d".
    private func written(_ text: Substring) -> String {
        let words = text.split(separator: " ")
        guard let first = words.first, words.count > 1, let number = Int(first) else { return String(text) }
        return words[1] == "MiB" ? "\(number << 20)" : "\(number)"
    }

    @Test func `each key of SECURITY.md's table of limits has its default there`() throws {
        let defaults = try Self.defaults()
        let lines = ProjectFile.text("SECURITY.md").components(separatedBy: "\n")
        let rows = lines.drop { $0 != "| what | key, and default |" }.dropFirst(2).prefix { $0.hasPrefix("|") }
        var checked = 0
        for row in rows {
            for match in row.matches(of: /`([a-z]+\.[a-z_]+)`(?: ([0-9][^`,;|]*))?/) {
                guard let value = match.2 else { continue }
                let key = String(match.1)
                let text = value.trimmingCharacters(in: .whitespaces)
                #expect(defaults[key] == written(text[...]), "\(key)")
                checked += 1
            }
        }
        #expect(checked > 15)
        for key in defaults.keys where key.hasPrefix("limits.") {
            #expect(rows.contains { $0.contains("`\(key)`") }, "\(key)")
        }
    }

    @Test func `SECURITY.md says how often hooks run for a user's dead requests`() {
        let text = ProjectFile.text("SECURITY.md")
        #expect(
            text.contains(
                "| runs of a hook about dead requests of one user in a day | \(RequestHookLimit.eventsPerDay);"))
    }
}
