/// Where a daemon keeps files of one kind: root's, or that of a user.
package struct DaemonDirectory {
    private let handed: String
    private let machine: String
    private let base: String
    private let usualBase: String

    /// - Parameters:
    ///   - handed: The variable by which systemd hands it over, which goes before all else.
    ///   - machine: The directory of root's daemon.
    ///   - base: The variable of the XDG Base Directory Specification for a user's files of the kind.
    ///   - usualBase: Where these are without that variable, below the user's home.
    package init(handed: String, machine: String, base: String, usualBase: String) {
        (self.handed, self.machine, self.base, self.usualBase) = (handed, machine, base, usualBase)
    }

    /// - Returns: `nil` for a user without a home.
    package func path(isRoot: Bool, environment: (String) -> String?) -> String? {
        if let path = Self.handed(environment(handed)) { return path }
        if isRoot { return machine }
        // The specification ignores relative paths.
        if let path = environment(base), path.hasUTF8Prefix("/") { return path + "/reach" }
        return environment("HOME").flatMap { $0.hasUTF8Prefix("/") ? "\($0)/\(usualBase)/reach" : nil }
    }

    /// The directory in the value of a variable of systemd, which is a list: the first is the daemon's own
    /// (systemd.exec(5)).
    package static func handed(_ value: String?) -> String? { value?.split(scalar: ":").first.map(String.init) }
}
