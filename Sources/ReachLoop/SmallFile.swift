internal import Glibc

/// Reads files of a few pages whole.
package enum SmallFile {
    /// More than any hosts file that people keep by hand; anything beyond is not read.
    private static let limit = 4 << 20

    /// The text of a file; empty if it cannot be read. Blocks on the disk.
    package static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while bytes.count < limit, case let count = read(file, &piece, piece.count), count > 0 {
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
