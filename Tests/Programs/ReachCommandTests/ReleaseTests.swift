internal import Glibc
internal import ReachTesting
internal import Testing

/// `contrib/release`, in a repository of its own.
@Suite struct ReleaseTests {
    private let directory: TemporaryDirectory
    private var tree: String { directory.path + "/tree" }

    init() throws {
        directory = try TemporaryDirectory()
        try ChildProcess.run(["mkdir", tree])
        // What contrib/release reads and writes, as it is now.
        let paths = [
            "contrib/release", "contrib/sbom", "contrib/deps", "Package.resolved", "contrib/debian/changelog",
            "contrib/rpm/reach.spec", "contrib/arch/PKGBUILD",
            "Documentation/library.md",
            "CHANGELOG.md", ".gitignore", "Sources/Base/ReachCore/Support/ProjectVersion.swift", "man",
        ]
        try ChildProcess.run(
            ["cp", "-r", "--parents"] + paths + [tree], in: ProjectFile.path(""))
        try git("init", "--quiet")
        try git("add", ".")
        try git("commit", "--quiet", "--message", "Begin")
    }

    @discardableResult
    private func git(_ arguments: String...) throws -> String {
        let author = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
        return try ChildProcess.run(["git", "-C", tree] + author + arguments)
    }

    @discardableResult
    private func release(_ arguments: String...) throws -> String {
        let names = ["GIT_AUTHOR", "GIT_COMMITTER"].flatMap { ["\($0)_NAME=Test", "\($0)_EMAIL=test@example.org"] }
        return try ChildProcess.run(["env"] + names + [tree + "/contrib/release"] + arguments)
    }

    @Test func `every place has the new version, and the tag is made only when asked for`() throws {
        try release("--check")
        try release("9.8.7")
        try release("--check")
        #expect(try git("grep", "-l", "9\\.8\\.7").split(separator: "\n").count == 14)
        #expect(try git("log", "--format=%s", "-1") == "Release 9.8.7\n")
        #expect(try git("status", "--porcelain") == "")
        #expect(try git("tag") == "")
        try release("--tag", "9.8.7")
        #expect(try git("cat-file", "-t", "v9.8.7") == "tag\n")
        #expect(throws: ChildProcess.Failure.self) { try release("9.8.7") }
    }

    @Test func `the tarball of a commit has the same bytes each time`() throws {
        try release("9.8.7")
        #expect(try release("9.8.7").contains("already"))
        let first = try release("--files", "9.8.7")
        #expect(first.contains("  reach-9.8.7.tar.gz") && first.contains("  reach-9.8.7.spdx.json"))
        try ChildProcess.run(["touch", tree + "/Documentation/library.md"])
        #expect(try release("--files", "9.8.7") == first)
    }

    @Test func `a place with another version is named`() throws {
        try ChildProcess.run(["sed", "-i", "s/^pkgver=.*/pkgver=7.7.7/", tree + "/contrib/arch/PKGBUILD"])
        let failure = #expect(throws: ChildProcess.Failure.self) { try release("--check") }
        #expect(failure?.standardError.contains("contrib/arch/PKGBUILD has 7.7.7") == true)
    }

    @Test func `a work tree with changes is not released`() throws {
        try ChildProcess.run(["touch", tree + "/new"])
        let failure = #expect(throws: ChildProcess.Failure.self) { try release("9.8.7") }
        #expect(failure?.standardError.contains("the work tree has changes") == true)
        #expect(throws: ChildProcess.Failure.self) { try release("--files", "9.8.7") }
    }
}

extension ChildProcess {
    /// Runs a command in a directory.
    @discardableResult
    fileprivate static func run(_ command: [String], in directory: String) throws(Failure) -> String {
        try run(["env", "--chdir", directory] + command)
    }
}
