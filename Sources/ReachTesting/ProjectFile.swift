internal import Glibc

/// Files of the project that tests hold against the program, such as its manual.
package enum ProjectFile {
    /// The contents of a file, by its path from the top of the project; empty if it is not there.
    package static func text(_ path: String) -> String {
        guard let file = fopen(self.path(path), "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Where a file is, by its path from the top of the project.
    package static func path(_ path: String) -> String { root + "/" + path }

    /// This file is three directories below it.
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
}
