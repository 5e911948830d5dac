import ReachCore
import ReachFleet
import Testing

/// Who fills a stream, and how large it may be.
@Suite struct FullStreamTests {
    private static func info(_ bytes: Int64, of most: Int64) -> JSONValue {
        .object([
            "config": .object(["max_bytes": .integer(most)]), "state": .object(["bytes": .integer(bytes)]),
        ])
    }

    @Test func `a stream is nearly full by its own limit, and one without a limit never is`() {
        #expect(FleetDoctor.isNearlyFull(Self.info(800_000, of: 1_000_000)))
        #expect(!FleetDoctor.isNearlyFull(Self.info(799_999, of: 1_000_000)))
        #expect(!FleetDoctor.isNearlyFull(Self.info(1_000_000, of: 0)))
        #expect(!FleetDoctor.isNearlyFull(Self.info(1_000_000, of: -1)))
        #expect(!FleetDoctor.isNearlyFull(.object([:])))
    }

    @Test func `a host that writes far more than the others is named, the one with the most first`() {
        func names(_ sizes: [String: Int], hosts: Int) -> [String] {
            FleetDoctor.shares(
                Dictionary(uniqueKeysWithValues: sizes.map { (FleetNames.eventSubject(of: $0), $1) }), hosts: hosts
            ).map { String($0.sentence.prefix { $0 != " " }) }
        }
        #expect(names([:], hosts: 10) == [] && names(["a": 0], hosts: 10) == [])
        // Of ten hosts, four times a tenth.
        #expect(names(["a": 4_000, "b": 3_900, "c": 2_100], hosts: 10) == ["a"])
        #expect(names(["a": 40_000, "b": 50_000, "c": 10_000], hosts: 10) == ["b", "a"])
        // Of many hosts a quarter, and of two nearly all.
        #expect(names(["a": 2_500, "b": 2_400, "c": 5_100], hosts: 1_000) == ["c", "a"])
        #expect(names(["a": 8_900, "b": 1_100], hosts: 2) == [] && names(["a": 9_000, "b": 1_000], hosts: 2) == ["a"])
        let found = FleetDoctor.shares([FleetNames.eventSubject(of: "a"): 1_000, "other": 0], hosts: 4)
        #expect(found.first?.sentence.contains("a writes 100 % of the newest events") == true)
        #expect(found.first?.sentence.contains("the events of 3 others go early") == true)
        #expect(FleetDoctor.shares(["other": 1_000], hosts: 4) == [])
    }

    @Test(arguments: FleetWord.allCases)
    func `an agent is well while the engine gets what happens`(word: FleetWord) {
        let well: Set<FleetWord> = [.connecting, .connected, .behind, .metered, .left]
        #expect(word.isHealthy == well.contains(word))
    }
}
