internal import Glibc

/// The project's own files, such as the manual, which tests compare with the programs.
package enum ProjectFile {
    /// The contents of a file, by its path from the top of the project; empty if it does not exist.
    package static func text(_ path: String) -> String {
        guard let file = fopen(self.path(path), "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The full path of a file, by its path from the top of the project.
    package static func path(_ path: String) -> String { root + "/" + path }

    /// The top of the project, three levels above this file.
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
}
