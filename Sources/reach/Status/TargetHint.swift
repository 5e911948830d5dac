internal import ReachControl
internal import ReachCore

/// What to say about a name that is not resolved, and that may be a mistyped target of the daemon's configuration.
enum TargetHint {
    /// - Parameter targets: Targets whose names are not resolved.
    static func sentences(for targets: [Target], _ client: inout ControlClient) -> [String] {
        guard !targets.isEmpty, let names = try? client.targetNames() else { return [] }
        return targets.compactMap { target in
            let word = target.description
            guard let meant = NearestWord.find(word, among: names), meant != word else { return nil }
            return "'\(DisplayText.sanitized(word))' is not a configured target; did you mean "
                + "'\(DisplayText.sanitized(meant))'?"
        }
    }
}
