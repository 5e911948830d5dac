internal import Glibc

/// A temporary directory, removed with the value.
package final class TemporaryDirectory: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let path: String

    package init() throws(Failure) {
        var template = Array("/tmp/reach-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(description: "mkdtemp: \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { _ = try? ChildProcess.run(["rm", "-rf", path]) }

    /// Writes a file into the directory.
    ///
    /// - Returns: The file's path.
    @discardableResult
    package func file(_ name: String, _ text: String, mode: UInt32 = 0o644) throws(Failure) -> String {
        let path = self.path + "/" + name
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        // Sets the mode exactly, whatever the user's umask.
        fchmod(file, mode)
        var text = text
        let written = text.withUTF8 { write(file, $0.baseAddress, $0.count) }
        guard written == text.utf8.count else { throw Failure(description: "\(path): not written") }
        return path
    }
}
