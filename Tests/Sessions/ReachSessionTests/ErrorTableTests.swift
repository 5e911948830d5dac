import Foundation
import ReachTesting
import ReachTransfer
import Testing

/// The article of all words of errors, compared with what the code can say.
@Suite struct ErrorTableTests {
    @Test func `each word of an error is in the article that says what to do`() throws {
        let article = ProjectFile.text("Sources/Sessions/ReachSession/ReachSession.docc/Errors.md")
        var words = Set(TransferFailure.Reason.allCases.map(\.rawValue))
        let folder = URL(filePath: ProjectFile.path("Sources/Sessions"))
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /(?:RequestError|self\.init)\(\s*\.[a-zA-Z]+, "([a-z0-9-]+)"/) {
                words.insert(String(match.1))
            }
        }
        #expect(words.count > 60)
        #expect(words.filter { !article.contains("`\($0)`") }.sorted() == [])
    }
}
