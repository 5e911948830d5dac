internal import ReachCore

/// Decides whether a file may run as a hook: only if it belongs to root or the daemon's own user, and no one else can
/// change it.
package enum HookCheck {
    /// The file's properties, from stat(2).
    package struct Facts: Hashable, Sendable {
        package var isRegular: Bool
        package var owner: UInt32
        package var mode: UInt32

        package init(isRegular: Bool, owner: UInt32, mode: UInt32) {
            self.isRegular = isRegular
            self.owner = owner
            self.mode = mode
        }
    }

    package enum Finding: Hashable, Sendable {
        case run
        /// It is not a hook, and is ignored silently: notes, an editor's or a package manager's leftovers, a script
        /// without execute permission.
        case ignore
        /// It looks like a hook, and must not run for this reason.
        case refuse(String)
    }

    private static let leftovers = [
        "~", ".bak", ".swp", ".dpkg-old", ".dpkg-new", ".dpkg-dist", ".dpkg-tmp", ".rpmsave", ".rpmnew", ".rpmorig",
        ".ucf-old", ".ucf-new", ".ucf-dist",
    ]

    /// - Parameter user: The daemon's own user.
    package static func file(named name: String, _ facts: Facts, user: UInt32) -> Finding {
        if name.hasUTF8Prefix(".") || leftovers.contains(where: name.hasUTF8Suffix) { return .ignore }
        guard facts.isRegular else { return .refuse("it is not a regular file") }
        guard facts.mode & 0o111 != 0 else { return .ignore }
        return danger(facts, user: user).map { .refuse($0) } ?? .run
    }

    /// - Returns: Why nothing in this directory may run; `nil` if it may.
    package static func directory(_ facts: Facts, user: UInt32) -> String? { danger(facts, user: user) }

    private static func danger(_ facts: Facts, user: UInt32) -> String? {
        FileTrust.problem(owner: facts.owner, mode: facts.mode, user: user)
    }
}
