@testable import ReachDaemon
import ReachTOML
import ReachTesting
import Testing

/// contrib/reach.toml shows every key, with its default.
@Suite struct ConfigurationExampleTests {
    private let lines = ProjectFile.text("contrib/reach.toml").split(separator: "\n", omittingEmptySubsequences: false)

    private func parse(_ lines: [Substring]) throws(ConfigurationError) -> Configuration {
        try Configuration.parse(Array(lines.joined(separator: "\n").utf8), file: "reach.toml")
    }

    /// `#key`, but not `# words`.
    private func isDefault(_ line: Substring) -> Bool {
        line.hasPrefix("#") && line.dropFirst().first?.isWhitespace == false
    }

    @Test func `the file as it is equals the defaults`() throws {
        #expect(lines.count > 40)
        #expect(lines.allSatisfy { $0.isEmpty || $0.hasPrefix("#") })
        #expect(try parse(lines) == Configuration())
    }

    @Test func `the commented defaults are the defaults`() throws {
        #expect(try parse(lines.map { isDefault($0) ? $0.dropFirst() : $0 }) == Configuration())
    }

    @Test func `the examples are valid, and with them no key is missing`() throws {
        let uncommented = lines.map { isDefault($0) || $0.hasPrefix("#    ") ? $0.dropFirst() : $0 }
        let configuration = try parse(uncommented)
        #expect(configuration.targets.count == 3)
        #expect(configuration.interfaces.count == 1)
        let document = TOMLDocument.parse(Array(uncommented.joined(separator: "\n").utf8))
        var shown: Set<String> = []
        for entry in document.table.entries {
            switch entry.node.value {
            case .table(let table): shown.formUnion(table.entries.map { entry.key + "." + $0.key })
            case .tables(let tables): shown.formUnion(tables.flatMap(\.entries).map { entry.key + "." + $0.key })
            default: shown.insert(entry.key)
            }
        }
        #expect(Set(Configuration.keyNames).subtracting(shown) == ["targets.NAME"])
    }
}
