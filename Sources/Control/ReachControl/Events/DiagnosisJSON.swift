package import ReachClient
package import ReachCore
package import ReachRecords

extension JSONWriter {
    /// Writes a diagnosis, as `reach explain --probe --json` prints it.
    package mutating func diagnosis(_ diagnosis: Diagnosis, started: Instant, duration: Duration) {
        line("diagnosis", at: started, DiagnosisLine(diagnosis: diagnosis, duration: duration).writeMembers)
    }
}

extension Diagnosis {
    /// Reads a diagnosis that ``JSONWriter/diagnosis(_:started:duration:)`` wrote.
    package init(reading json: JSONValue) throws(StatusReadingError) {
        self = try DiagnosisLine(reading: json).diagnosis
    }
}

private struct DiagnosisLine: JSONObject {
    static var blank: Self {
        Self(diagnosis: Diagnosis(target: "", outcome: .unknown, blame: nil, steps: []), duration: .zero)
    }

    var diagnosis: Diagnosis
    /// How long it took.
    var duration: Duration

    mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("target", &diagnosis.target)
        line.optionalWord("outcome", &diagnosis.outcome, unknown: .unknown)
        blameMembers(&line)
        line.optional("quality", &diagnosis.quality)
        line.optional("facts", &diagnosis.facts)
        line.member("steps", &diagnosis.steps)
    }

    /// Reading finds none where this version does not know its words.
    private mutating func blameMembers(_ line: inout some JSONMembers & ~Copyable) {
        let blame = diagnosis.blame
        var (party, layer, subject) = (blame?.party, blame?.layer, blame?.subject)
        var taken: Duration? = duration
        var (text, between) = (blame?.text, blame?.between.map(\.rawValue) ?? [])
        line.word("party", &party)
        line.word("layer", &layer)
        line.word("subject", &subject)
        line.optional("text", &text)
        line.microseconds("duration_us", &taken)
        line.optional("between", &between)
        duration = taken ?? duration
        guard let party, let layer, let subject, let text else { return }
        diagnosis.blame = Diagnosis.Blame(
            party, layer, subject, Clause(name: text), between: between.compactMap(Diagnosis.Party.init(rawValue:)))
    }
}

extension Diagnosis.Quality: JSONObject {
    package static var blank: Self { Self(.blank, stretch: nil) }

    package mutating func members(_ json: inout some JSONMembers & ~Copyable) {
        line.members(&json)
        json.optional("stretch", &stretch)
    }
}

extension Diagnosis.Fact: JSONObject {
    package static var blank: Self { Self("", "", weight: 0, speaksFor: [], speaksAgainst: []) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("fact", &word)
        line.member("text", &text)
        line.member("weight", &weight)
        line.optional("speaks_for", &speaksFor)
        line.optional("speaks_against", &speaksAgainst)
    }
}
