internal import Glibc
internal import ReachLoop

/// Where a configuration comes from.
package struct ConfigurationFile: Hashable, Sendable {
    package let path: String
    /// The user named it, so its absence is a mistake.
    package let isRequired: Bool

    package init(path: String, isRequired: Bool) {
        self.path = path
        self.isRequired = isRequired
    }

    /// Nobody writes this much by hand: it is the wrong file.
    static let sizeLimit = 1 << 20

    /// The file to read: the one the user named, else root's or the user's own.
    ///
    /// - Returns: `nil` where there is no place to look.
    package static func find(
        named path: String?, isRoot: Bool, environment: (String) -> String?
    ) -> ConfigurationFile? {
        if let path { return ConfigurationFile(path: path, isRequired: true) }
        return directory(isRoot: isRoot, environment: environment)
            .map { ConfigurationFile(path: $0 + "/reach.toml", isRequired: false) }
    }

    /// Where root's, or the user's own, configuration and hooks are.
    package static func directory(isRoot: Bool, environment: (String) -> String?) -> String? {
        // systemd hands it over as the first of a list, to services that run as a user of their own.
        if let handed = environment("CONFIGURATION_DIRECTORY")?.split(separator: ":").first { return String(handed) }
        if isRoot { return "/etc/reach" }
        // The XDG base directory specification ignores relative paths.
        if let home = environment("XDG_CONFIG_HOME"), home.hasPrefix("/") { return home + "/reach" }
        return environment("HOME").flatMap { $0.hasPrefix("/") ? $0 + "/.config/reach" : nil }
    }

    /// Reads it; where it is not there and need not be, everything is at its default.
    package func load() throws(ConfigurationError) -> Configuration {
        let text: [UInt8]
        do throws(SystemError) {
            text = try Self.contents(of: path)
        } catch {
            if error.number == ENOENT, !isRequired { return Configuration() }
            throw failure("it cannot be read: \(SystemError.text(error.number))", expected: "a file that can be read")
        }
        guard text.count <= Self.sizeLimit else {
            throw failure("it is longer than \(Self.sizeLimit) bytes", expected: "a configuration")
        }
        return try Configuration.parse(text, file: path)
    }

    private func failure(_ problem: String, expected: String) -> ConfigurationError {
        ConfigurationError(file: path, mistakes: [ConfigurationValidationError(line: nil, problem, expected: expected)])
    }

    /// At most one byte more than the limit. A pipe or a terminal is read to its end, as `--config /dev/stdin` means.
    private static func contents(of path: String) throws(SystemError) -> [UInt8] {
        let file = FileDescriptor(owning: try SystemError.check("open") { open(path, O_RDONLY | O_CLOEXEC) })
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
