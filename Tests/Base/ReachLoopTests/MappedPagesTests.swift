import Foundation
import ReachCore
import Testing

@testable import ReachLoop

@Suite struct MappedPagesTests {
    /// The resident pages of mappings of files that can be read or run but not written, in KiB.
    private func residentCode() throws -> Int {
        var isCode = false
        var total = 0
        for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first?.last != ":" {
                isCode = words.count > 5 && words[1].hasPrefix("r-x") && words[5].hasPrefix("/")
            } else if isCode, words[0] == "Rss:" {
                total += Int(words[1]) ?? 0
            }
        }
        return total
    }

    @Test func `pages that are not read again are unmapped, and code runs on`() throws {
        let before = try residentCode()
        MappedPages.release()
        let after = try residentCode()
        #expect(after < before, "of \(before) KiB of code \(after) remain mapped")
        #expect(try residentCode() > 0)
    }

    @Test func `work at several times is followed by one release`() throws {
        let loop = try EventLoop()
        let pages = MappedPages(on: loop)
        for _ in 0..<100 { pages.releaseAtRest() }
        let before = try residentCode()
        // Checks what is mapped as soon as the release has run, which is due at the same time and was asked for before.
        var after = 0
        loop.schedule(at: SystemClock.boot + MappedPages.delay) {
            after = (try? self.residentCode()) ?? 0
            loop.stop()
        }
        loop.run()
        #expect(after < before, "of \(before) KiB of code \(after) remain mapped")
    }
}
