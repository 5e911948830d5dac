internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink

/// Makes one stream as planned, or says what differs.
struct StreamSetup {
    enum Word: String {
        case created, unchanged, updated, differs
    }

    struct Outcome {
        let stream: StreamPlan
        let word: Word
        /// As the server has it now.
        let configuration: JSONValue
        /// What still differs.
        let differences: [StreamPlan.Difference]

        var isDifferent: Bool { word == .differs }
    }

    let jetStream: JetStream
    let updates: Bool

    func run(_ plan: StreamPlan) throws(NATSError) -> Outcome {
        guard let found = try jetStream.stream(plan.name) else {
            return Outcome(stream: plan, word: .created, configuration: try create(plan), differences: [])
        }
        guard let configuration = found["config"] else { throw NATSError(.failed, "\(plan.name): no configuration") }
        let differences = plan.differences(from: configuration)
        guard !differences.isEmpty else {
            return Outcome(stream: plan, word: .unchanged, configuration: configuration, differences: [])
        }
        guard updates, differences.contains(where: { $0.effect == .tightens }) else {
            return Outcome(stream: plan, word: .differs, configuration: configuration, differences: differences)
        }
        let reply = try jetStream.updateStream(plan.name, plan.tightened(configuration).encoded)
        let updated = reply["config"] ?? .null
        let rest = plan.differences(from: updated)
        return Outcome(
            stream: plan, word: rest.isEmpty ? .updated : .differs, configuration: updated, differences: rest)
    }

    private func create(_ plan: StreamPlan) throws(NATSError) -> JSONValue {
        do throws(NATSError) {
            return try jetStream.createStream(plan.name, plan.configuration.encoded)["config"] ?? .null
        } catch {
            guard error.kind == .full else { throw error }
            // Another try fares no better.
            throw NATSError(
                .failed,
                "\(plan.name): \(error.description); give the server's store more (`--store-size` of `reach-fleet "
                    + "config`, with that much free on its disk) and restart it, or give events less: --event-bytes")
        }
    }
}

extension StreamSetup.Outcome {
    var text: String {
        let lines = differences.map { "  \($0.sentence)\n" }.joined()
        return "\(stream.name): \(word.rawValue) (\(stream.purpose))\n\(lines)"
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("v", 1)
            json.field("type", "fleet-stream")
            json.field("stream", stream.name)
            json.field("outcome", word.rawValue)
            json.field("differences", array: { json in for difference in differences { difference.write(to: &json) } })
        }
    }
}

extension StreamPlan.Difference {
    /// For people: which setting, what is there, what should be, and what to do.
    var sentence: String {
        let has = found.map(Self.text) ?? "not set"
        let advice =
            switch effect {
            case .tightens: "--update sets it"
            case .loosens: "left as it is, since that is stricter"
            case .fixed: "the server cannot change it; delete the stream first, with what it holds"
            }
        return "\(key) is \(DisplayText.sanitized(has)), not \(Self.text(wanted)): \(advice)"
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("setting", key)
            json.key("found")
            json.value(found ?? .null)
            json.key("wanted")
            json.value(wanted)
            json.field("effect", effect.rawValue)
        }
    }

    private static func text(_ value: JSONValue) -> String {
        String(decoding: value.encoded, as: UTF8.self)
    }
}
