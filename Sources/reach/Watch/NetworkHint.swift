internal import ReachControl
internal import ReachCore
internal import ReachTerminal

/// What to say about networks in conditions that the daemon's configuration does not name, and that are probably mistyped.
///
/// It is no error: a reload of the configuration can name them.
enum NetworkHint {
    static func sentences(for conditions: [NetworkCondition], _ client: inout ControlClient) -> [String] {
        let asked = conditions.flatMap { [$0.network].compactMap(\.self) + $0.excludedNetworks.sorted() }
        guard !asked.isEmpty, let names = try? client.networkNames() else { return [] }
        return asked.filter { !names.contains($0) && !NetworkRule.isIdentifier($0) }.map {
            "reachd's configuration names no network '\($0)'" + NearestWord.hint(for: $0, among: names)
        }
    }

    /// Prints the sentences on standard error if the daemon is the source.
    static func print(for conditions: [NetworkCondition], _ source: DaemonOptions.Source) {
        guard conditions.contains(where: \.namesNetworks), case .daemon(let path, _) = source,
            var client = try? ControlClient(path: path, patience: .seconds(1))
        else { return }
        print(sentences(for: conditions, &client))
    }

    static func print(_ sentences: [String]) {
        for sentence in sentences { StandardError.write("reach: \(sentence)\n") }
    }
}
