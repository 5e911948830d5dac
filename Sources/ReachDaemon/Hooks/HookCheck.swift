/// Whether a file may be run as a hook: only what root, or the daemon's own user, has written and nobody else can change.
package enum HookCheck {
    /// What stat(2) says of it.
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
        /// It is no hook, and needs no word: notes, what an editor or a package manager left, a script switched off.
        case ignore
        /// Somebody meant it to run, and it must not.
        case refuse(String)
    }

    private static let leftovers = [
        "~", ".bak", ".swp", ".dpkg-old", ".dpkg-new", ".dpkg-dist", ".dpkg-tmp", ".rpmsave", ".rpmnew", ".rpmorig",
        ".ucf-old", ".ucf-new", ".ucf-dist",
    ]

    /// - Parameter user: Who the daemon runs as.
    package static func file(named name: String, _ facts: Facts, user: UInt32) -> Finding {
        if name.hasPrefix(".") || leftovers.contains(where: name.hasSuffix) { return .ignore }
        guard facts.isRegular else { return .refuse("it is no regular file") }
        guard facts.mode & 0o111 != 0 else { return .ignore }
        return danger(facts, user: user).map { .refuse($0) } ?? .run
    }

    /// - Returns: Why nothing in this directory may be run.
    package static func directory(_ facts: Facts, user: UInt32) -> String? { danger(facts, user: user) }

    private static func danger(_ facts: Facts, user: UInt32) -> String? {
        if facts.owner != 0, facts.owner != user { return "it belongs to user \(facts.owner)" }
        if facts.mode & 0o022 != 0 { return "others than its owner can write to it" }
        return nil
    }
}
