internal import Glibc
internal import ReachCore
internal import ReachLoop
package import ReachTOML

/// The location of a configuration file.
package struct ConfigurationFile: Hashable, Sendable {
    package let path: String
    /// Whether a missing file is an error, because the user named it.
    package let isRequired: Bool

    package init(path: String, isRequired: Bool) {
        self.path = path
        self.isRequired = isRequired
    }

    /// A larger file is not a configuration: no one writes this much by hand.
    static let sizeLimit = 1 << 20

    /// Finds the file to read: the one the user named, else root's or the user's own.
    ///
    /// - Returns: `nil` if neither a name nor a directory is known.
    package static func find(
        named path: String?, isRoot: Bool, environment: (String) -> String?
    ) -> ConfigurationFile? {
        if let path { return ConfigurationFile(path: path, isRequired: true) }
        return directory(isRoot: isRoot, environment: environment)
            .map { ConfigurationFile(path: $0 + "/reach.toml", isRequired: false) }
    }

    /// The directory of root's, or the user's own, configuration and hooks.
    package static func directory(isRoot: Bool, environment: (String) -> String?) -> String? {
        DaemonDirectory(
            handed: "CONFIGURATION_DIRECTORY", machine: "/etc/reach", base: "XDG_CONFIG_HOME", usualBase: ".config"
        )
        .path(isRoot: isRoot, environment: environment)
    }

    /// Reads the file and the files in ``folder``. If it is missing and not required, only those.
    package func load() throws(ConfigurationError) -> Configuration { try readFiles().configuration }

    /// The same, with the places of the keys.
    package func readFiles() throws(ConfigurationError) -> ReadConfiguration {
        var files: [(path: String, text: [UInt8])] = []
        do throws(SystemError) {
            files.append((path, try Self.contents(of: path)))
        } catch {
            guard error.number == ENOENT, !isRequired else { throw Self.unreadable(path, error) }
        }
        if let folder { files += try ConfigurationFolder(folder).files() }
        for (path, text) in files where text.count > Self.sizeLimit {
            throw Self.failure(path, "it is longer than \(Self.sizeLimit) bytes", expected: "a configuration")
        }
        return try ReadConfiguration(files)
    }

    /// The directory of further files, which are read after this one: `reach.d` next to `reach.toml`. Other kinds of
    /// files, such as pipes, have none.
    package var folder: String? { path.before(".toml").map { $0 + ".d" } }

    static func unreadable(_ path: String, _ error: SystemError) -> ConfigurationError {
        failure(path, "it cannot be read: \(SystemError.text(error.number))", expected: "a file that can be read")
    }

    static func failure(_ path: String, _ problem: String, expected: String) -> ConfigurationError {
        ConfigurationError(file: path, errors: [ConfigurationValidationError(line: nil, problem, expected: expected)])
    }

    /// Reads the file up to a piece beyond the limit. Pipes and terminals are read to their end, for
    /// `--config /dev/stdin`.
    private static func contents(of path: String) throws(SystemError) -> [UInt8] {
        try contents(of: FileDescriptor(owning: try SystemError.check("open") { open(path, O_RDONLY | O_CLOEXEC) }))
    }

    static func contents(of file: borrowing FileDescriptor) throws(SystemError) -> [UInt8] {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while text.count <= sizeLimit {
            let count = read(file.rawValue, &piece, piece.count)
            if count == 0 { break }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(call: "read") }
            text += piece[..<count]
        }
        return text
    }
}
