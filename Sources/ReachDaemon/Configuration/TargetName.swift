internal import ReachCore

/// The names that the user may give to targets: whatever could be a host's, since clients write them in its place.
enum TargetName {
    static let expected =
        "a name of letters, digits, hyphens, underscores and dots that is no address, nor \"internet\""

    static func problem(of name: String) -> String? {
        guard let target = try? Target(name), case .name = target.subject else {
            return "\"\(name)\" cannot be the name of a target"
        }
        return nil
    }
}
