package import ReachCore
package import ReachRecords

extension JSONWriter {
    /// Writes a diagnosis, as `reach explain --probe --json` prints it.
    package mutating func diagnosis(_ diagnosis: Diagnosis, started: Instant, duration: Duration) {
        object { json in
            json.field("v", 1)
            json.field("type", "diagnosis")
            json.times(started.wall, started.boot)
            json.field("target", diagnosis.target)
            json.field("outcome", diagnosis.outcome.rawValue)
            json.field("party", diagnosis.blame?.party.rawValue)
            json.field("layer", diagnosis.blame?.layer.rawValue)
            json.field("subject", diagnosis.blame?.subject.rawValue)
            json.field("text", diagnosis.blame?.text)
            json.field("duration_us", duration.microseconds)
            json.field("between", diagnosis.blame?.between.map(\.rawValue) ?? [])
            if let quality = diagnosis.quality {
                json.quality(quality)
            } else {
                json.field("quality", nil as String?)
            }
            json.field("facts", array: { json in for fact in diagnosis.facts { json.fact(fact) } })
            json.steps(diagnosis.steps)
        }
    }

    private mutating func quality(_ quality: Diagnosis.Quality) {
        field(
            "quality",
            object: { json in
                json.figures(of: quality.line)
                json.field("stretch", quality.stretch)
            })
    }

    private mutating func fact(_ fact: Diagnosis.Fact) {
        object { json in
            json.field("fact", fact.word)
            json.field("text", fact.text)
            json.field("weight", Int64(fact.weight))
            json.field("speaks_for", fact.speaksFor)
            json.field("speaks_against", fact.speaksAgainst)
        }
    }
}

extension Diagnosis {
    /// Reads a diagnosis that ``JSONWriter/diagnosis(_:started:duration:)`` wrote.
    package init(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        self.init(
            target: try reader.value("target", \.string), outcome: try reader.word("outcome") ?? .unknown,
            blame: try Blame(reader), steps: try reader.steps(),
            facts: try (json["facts"] == nil ? [] : reader.objects("facts")).map { fact throws(StatusReadingError) in
                try Fact(fact)
            },
            quality: json["quality"].flatMap { try? Quality(StatusReader($0)) })
    }
}

extension Diagnosis.Blame {
    /// - Returns: `nil` where there is none, or where this version does not know its words.
    fileprivate init?(_ reader: StatusReader) throws(StatusReadingError) {
        let (party, layer) = (
            try reader.word("party", Diagnosis.Party.self), try reader.word("layer", OutageLayer.self)
        )
        let subject = try reader.word("subject", Diagnosis.Subject.self)
        guard let party, let layer, let subject, let text = try reader.optional("text", \.string) else { return nil }
        let between = try reader.texts("between").compactMap { Diagnosis.Party(rawValue: $0) }
        self.init(party, layer, subject, Clause(name: text), between: between)
    }
}

extension Diagnosis.Fact {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        self.init(
            try reader.value("fact", \.string), try reader.value("text", \.string),
            weight: Int(try reader.value("weight", \.integer)), speaksFor: try reader.texts("speaks_for"),
            speaksAgainst: try reader.texts("speaks_against"))
    }
}

extension Diagnosis.Quality {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        self.init(try LineQuality(figures: reader), stretch: try reader.optional("stretch", \.string))
    }
}
