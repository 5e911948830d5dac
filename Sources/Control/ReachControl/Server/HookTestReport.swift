internal import ReachCore

/// What the hooks did with a sample event.
package struct HookTestReport: Equatable, Sendable {
    package struct Outcome: Equatable, Sendable {
        /// The hook's file name, or the path of what must not be run.
        package var hook: String
        /// Whether it ended with status 0.
        package var isOK: Bool
        /// A sentence about its end, or why it was not run.
        package var end: String
        /// Its output, a line each.
        package var output: [String] = []

        package init(hook: String, isOK: Bool, end: String, output: [String] = []) {
            self.hook = hook
            self.isOK = isOK
            self.end = end
            self.output = output
        }
    }

    /// The directory of the hooks; `nil` if none is known.
    package var directory: String?
    package var outcomes: [Outcome]

    package init(directory: String?, outcomes: [Outcome]) {
        self.directory = directory
        self.outcomes = outcomes
    }
}

extension JSONWriter {
    mutating func hookTest(_ report: HookTestReport) {
        field("directory", report.directory)
        objects("hooks", report.outcomes) { json, outcome in
            json.field("hook", outcome.hook)
            json.field("ok", outcome.isOK)
            json.field("end", outcome.end)
            json.field("output", outcome.output)
        }
    }
}

extension HookTestReport {
    init?(reading values: [String: JSONValue]) {
        guard let hooks = values["hooks"]?.array else { return nil }
        directory = values["directory"]?.string
        outcomes = []
        for hook in hooks {
            guard let name = hook["hook"]?.string, let isOK = hook["ok"]?.bool, let end = hook["end"]?.string else {
                return nil
            }
            let output = (hook["output"]?.array ?? []).compactMap(\.string)
            outcomes.append(Outcome(hook: name, isOK: isOK, end: end, output: output))
        }
    }
}
