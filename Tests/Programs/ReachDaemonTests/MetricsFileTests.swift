import Glibc
import ReachLoop
import ReachTesting
import Testing

@testable import ReachDaemon

struct MetricsFileTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/reach.prom" }

    init() throws { directory = try TemporaryDirectory() }

    @Test func `a link or a FIFO next to the metrics file is neither followed nor waited for`() throws {
        let victim = directory.path + "/victim"
        let plants: [(String) -> CInt] = [{ symlink(victim, $0) }, { link(victim, $0) }, { mkfifo($0, 0o666) }]
        for plant in plants {
            try MetricsFile.replace(victim, with: Array("untouched".utf8))
            try #require(plant(path + ".new") == 0)
            try MetricsFile.replace(path, with: Array("metrics".utf8))
            #expect(try text(of: victim) == "untouched")
            #expect(try text(of: path) == "metrics")
        }
    }

    @Test func `a metrics file whose place cannot be had is an error`() throws {
        try #require(mkdir(path + ".new", 0o700) == 0)
        #expect(throws: SystemError.self) { try MetricsFile.replace(path, with: []) }
    }

    private func text(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
