import Glibc
import ReachControl
import ReachCore
import ReachRecords
import ReachTesting
import Testing

/// `reach explain --probe` in homes at a provider, each broken in one way.
@Suite(.enabled(if: ProviderNetwork.whyNot == nil, "\(ProviderNetwork.whyNot ?? "")"), .timeLimit(.minutes(5)))
struct DiagnosisProgramTests {
    private struct Outcome: Sendable {
        let diagnosis: Diagnosis
        let status: Int
        let duration: Int64
    }

    /// An outcome, and how busy the machine was meanwhile.
    private struct Attempt: Sendable {
        let outcome: Result<Outcome, any Error>
        let pressure: Double

        init(_ number: Int, at network: ProviderNetwork) {
            let pressure = ProcessorPressure()
            outcome = Result { try DiagnosisProgramTests.play(DiagnosisScene.all[number], number, at: network) }
            self.pressure = pressure.share
        }
    }

    /// What a diagnosis finds is what answered within its limits of time, which are not those of a machine whose other
    /// programs take its processors for most of the time.
    private static let tolerable = 0.5

    /// The directory to write transcripts and page into, instead of comparing them.
    private static let writesPages = getenv("REACH_DIAGNOSIS_PAGE").map { String(cString: $0) }
    private static let kept = ProjectFile.text("Tests/Programs/Transcripts/diagnosis.txt")

    @Test func `each broken layer is blamed on the right party, within ten seconds`() async throws {
        let scenes = DiagnosisScene.all
        #expect(scenes.count { $0.party != nil } >= 30)
        let network = try ProviderNetwork()
        defer { network.remove() }
        var attempts = try await ParallelWork.map(scenes.count, width: 8, within: .seconds(240)) { number in
            Attempt(number, at: network)
        }.map { try $0.get() }
        for (number, scene) in scenes.enumerated() {
            // One at a time, and only where the machine was busy.
            for _ in 0..<3 {
                guard attempts[number].pressure > Self.tolerable, !faults(scene, attempts[number]).isEmpty else {
                    break
                }
                print("once more, since the machine was busy:", faults(scene, attempts[number]))
                attempts[number] = try await ParallelWork.map(1, width: 1, within: .seconds(60)) { _ in
                    Attempt(number, at: network)
                }[0].get()
            }
            #expect(faults(scene, attempts[number]) == [])
        }
        let found = zip(scenes, attempts).compactMap { scene, attempt in
            (try? attempt.outcome.get()).map { (scene, $0.diagnosis) }
        }
        try comparePublished(with: DiagnosisPage.text(found))
    }

    private static func play(_ scene: DiagnosisScene, _ number: Int, at network: ProviderNetwork) throws -> Outcome {
        let home = try HomeNetwork(number + 1, at: network)
        defer { home.remove() }
        try scene.breaks(home)
        let (output, status) = try home.explain(
            scene.target, servers: scene.servers, endpoints: scene.endpoints, environment: scene.environment)
        let json = try JSONReader.read(Array(output.utf8))
        return Outcome(
            diagnosis: try Diagnosis(reading: json), status: status, duration: json["duration_us"]?.integer ?? .max)
    }

    /// The tests have a transcript of each scene, as the program prints it now, and the documentation has some. Where
    /// REACH_DIAGNOSIS_PAGE is a directory, what both are made of is written there.
    private func comparePublished(with page: String) throws {
        let fresh = DiagnosisTranscript.all(in: page)
        let transcripts = fresh.map(\.text).joined()
        if let directory = Self.writesPages {
            try page.write(toFile: directory + "/Diagnosis.md")
            return try transcripts.write(toFile: directory + "/diagnosis.txt")
        }
        let (kept, printed) = (Self.kept.split(separator: "\n"), transcripts.split(separator: "\n"))
        #expect(printed.difference(from: kept).map { "\($0)" } == [], "REACH_DIAGNOSIS_PAGE makes the transcripts")
        let published = DiagnosisTranscript.all(in: ProjectFile.text("Documentation/Diagnosis.md"))
        #expect(published.count >= 6)
        for old in published { #expect(fresh.first { $0.name == old.name } == old) }
    }

    @Test func `each layer, subject and party that the program can blame has a transcript`() {
        let broken = DiagnosisScene.all.filter { $0.party != nil }
        #expect(Set(broken.compactMap(\.layer)) == Set(OutageLayer.allCases))
        #expect(Set(broken.compactMap(\.subject)) == Set(Diagnosis.Step.Subject.allCases))
        // What is undecided is in the table of Tests/Field/scenes/faults.
        #expect(Set(broken.compactMap(\.party)) == Set(Diagnosis.Party.allCases).subtracting([.undecided]))
    }

    /// What is not as the scene says.
    private func faults(_ scene: DiagnosisScene, _ attempt: Attempt) -> [String] {
        let outcome: Outcome
        switch attempt.outcome {
        case .success(let found): outcome = found
        case .failure(let error): return ["\(scene.name): \(error)"]
        }
        let diagnosis = outcome.diagnosis
        let statuses: [Diagnosis.Outcome: Int] = [.ok: 0, .degraded: 0, .failed: 1, .unknown: 3]
        var faults: [String] = []
        if diagnosis.outcome != scene.outcome { faults.append("outcome \(diagnosis.outcome)") }
        if diagnosis.blame?.party != scene.party { faults.append("another party") }
        if diagnosis.blame?.layer != scene.layer { faults.append("another layer") }
        if diagnosis.blame?.subject != scene.subject { faults.append("another subject") }
        if outcome.status != statuses[diagnosis.outcome] { faults.append("exit status \(outcome.status)") }
        if outcome.duration >= 11_000_000 { faults.append("it took \(outcome.duration) us") }
        let printed = DiagnosisTranscript.all(in: DiagnosisPage.text([(scene, diagnosis)]))
        if Self.writesPages == nil, !printed.allSatisfy({ Self.kept.contains($0.text) }) {
            faults.append("another transcript; REACH_DIAGNOSIS_PAGE makes them")
        }
        guard !faults.isEmpty else { return [] }
        let steps = diagnosis.steps.map { "\($0.finding) \($0.subject.rawValue): \($0.text)" }
        return ["\(scene.name): \(diagnosis.blame?.text ?? "no blame")"] + faults + steps
    }
}
