import ReachCore
import ReachProbe
import Testing

/// Where no name is resolved: whether the rest of the Internet answers.
@Suite struct NamesAloneTests {
    private var bench = ValidationBench()

    init() { bench.update([.sample()]) }

    private mutating func loseNames() {
        bench.answer = .limited(.nameNotResolved)
        bench.doubt()
        bench.pass(.seconds(8))
        #expect(bench.connectivity == .limited)
    }

    @Test mutating func `an endpoint that answers at its last address shows that names alone fail`() {
        bench.isAnswered = true
        loseNames()
        #expect(bench.reason == .nameNotResolved)
        bench.isAnswered = false
        bench.pass(.seconds(3600))
        #expect(bench.connectivity == .limited && bench.reason == nil, "the line died meanwhile")
    }

    @Test mutating func `where nothing answers, that no name is resolved says nothing about names`() {
        bench.noteWitness()
        bench.pass(.seconds(60))
        loseNames()
        #expect(bench.reason == nil, "what answered before proves nothing")
    }

    @Test mutating func `a probe by address that succeeds shows it, in its own family, and as long as it is recent`() {
        loseNames()
        bench.noteWitness(in: .ipv6)
        #expect(bench.reason == nil)
        bench.noteWitness()
        #expect(bench.reason == .nameNotResolved)
        bench.pass(.seconds(3600))
        #expect(bench.reason == nil)
    }

    @Test mutating func `data that sockets receive shows it`() {
        loseNames()
        bench.hasTraffic = true
        bench.pass(.seconds(30))
        #expect(bench.reason == .nameNotResolved)
    }

    @Test mutating func `it is said of names alone`() {
        bench.isAnswered = true
        bench.answer = .limited(.noAnswer)
        bench.doubt()
        bench.pass(.seconds(8))
        #expect(bench.connectivity == .limited && bench.reason == nil)
        bench.answer = .full
        bench.pass(.seconds(600))
        #expect(bench.connectivity == .full && bench.reason == nil)
    }

    @Test mutating func `a line that went silent proves nothing by what it answered before`() {
        bench.noteWitness()
        bench.answer = .limited(.nameNotResolved)
        bench.silence(SilenceEvidence(transmissions: 4, destinations: 1, duration: .seconds(2), handshakes: 12))
        bench.pass(.seconds(1))
        #expect(bench.connectivity == .limited && bench.reason == nil)
    }
}
