import Glibc
import ReachControl
import ReachCore
import ReachTesting
import Testing

/// `reach explain --probe` in homes at a provider, each broken in one way.
@Suite(.enabled(if: ProviderNetwork.whyNot == nil, "\(ProviderNetwork.whyNot ?? "")"), .timeLimit(.minutes(5)))
struct DiagnosisProgramTests {
    private struct Outcome: Sendable {
        let diagnosis: Diagnosis
        let status: Int
        let duration: Int64
        let keys: Set<String>
    }

    @Test func `each broken layer is blamed on the right party, within ten seconds`() async throws {
        #expect(DiagnosisScene.all.count { $0.party != nil } >= 30)
        let network = try ProviderNetwork()
        defer { network.remove() }
        let results = try await ParallelWork.map(DiagnosisScene.all.count, width: 8, within: .seconds(240)) { number in
            let scene = DiagnosisScene.all[number]
            let home = try HomeNetwork(number + 1, at: network)
            defer { home.remove() }
            try scene.breaks(home)
            let (output, status) = try home.explain(
                scene.target, servers: scene.servers, endpoints: scene.endpoints, environment: scene.environment)
            let json = try JSONReader.read(Array(output.utf8))
            return Outcome(
                diagnosis: try Diagnosis(reading: json), status: status, duration: json["duration_us"]?.integer ?? .max,
                keys: JSONKeys.all(in: output))
        }
        for (scene, result) in zip(DiagnosisScene.all, results) { check(scene, result) }
        let found = zip(DiagnosisScene.all, results).compactMap { scene, result in
            (try? result.get()).map { (scene, $0.diagnosis) }
        }
        try comparePublished(with: DiagnosisPage.text(found))
    }

    /// The tests have a transcript of each scene, as the program prints it now, and the documentation has some. Where
    /// REACH_DIAGNOSIS_PAGE is a directory, what both are made of is written there.
    private func comparePublished(with page: String) throws {
        let fresh = DiagnosisTranscript.all(in: page)
        let transcripts = fresh.map(\.text).joined()
        if let directory = getenv("REACH_DIAGNOSIS_PAGE").map({ String(cString: $0) }) {
            try page.write(toFile: directory + "/Diagnosis.md")
            return try transcripts.write(toFile: directory + "/diagnosis.txt")
        }
        let kept = ProjectFile.text("Tests/Programs/Transcripts/diagnosis.txt").split(separator: "\n")
        let printed = transcripts.split(separator: "\n")
        #expect(printed.difference(from: kept).map { "\($0)" } == [], "REACH_DIAGNOSIS_PAGE makes the transcripts")
        let published = DiagnosisTranscript.all(in: ProjectFile.text("Documentation/Diagnosis.md"))
        #expect(published.count >= 6)
        for old in published { #expect(fresh.first { $0.name == old.name } == old) }
    }

    @Test func `each layer, subject and party that the program can blame has a transcript`() {
        let broken = DiagnosisScene.all.filter { $0.party != nil }
        #expect(Set(broken.compactMap(\.layer)) == Set(OutageLayer.allCases))
        #expect(Set(broken.compactMap(\.subject)) == Set(Diagnosis.Step.Subject.allCases))
        // What is undecided is in the table of contrib/scenes/faults.
        #expect(Set(broken.compactMap(\.party)) == Set(Diagnosis.Party.allCases).subtracting([.undecided]))
    }

    private func check(_ scene: DiagnosisScene, _ result: Result<Outcome, any Error>) {
        guard let outcome = try? result.get() else {
            Issue.record("\(scene.name): \(result)")
            return
        }
        let diagnosis = outcome.diagnosis
        let steps = diagnosis.steps.map { "\($0.finding) \($0.subject.rawValue): \($0.text)" }.joined(separator: "\n")
        let report = "\(scene.name): \(diagnosis.blame?.text ?? "no blame")\n\(steps)"
        #expect(diagnosis.outcome == scene.outcome, "\(report)")
        #expect(diagnosis.blame?.party == scene.party, "\(report)")
        #expect(diagnosis.blame?.layer == scene.layer, "\(report)")
        #expect(diagnosis.blame?.subject == scene.subject, "\(report)")
        let statuses: [Diagnosis.Outcome: Int] = [.ok: 0, .degraded: 0, .failed: 1, .unknown: 3]
        #expect(outcome.status == statuses[diagnosis.outcome], "\(scene.name)")
        #expect(outcome.duration < 11_000_000, "\(scene.name)")
    }
}
