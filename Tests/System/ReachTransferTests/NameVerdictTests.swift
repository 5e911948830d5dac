import ReachCore
import Testing

@testable import ReachTransfer

struct NameVerdictTests {
    private func failure(_ outcomes: AddressLookupOutcome...) -> NameFailure {
        NameVerdict(outcomes).failure(of: "a.example")
    }

    @Test func `an address of one family counts, whatever the server says of the other`() {
        let others: [AddressLookupOutcome] = [
            .answer(.noSuchName(seconds: 5)), .answer(.none(seconds: 5)), .answer(.failure(code: 2)), .silent,
        ]
        for other in others {
            let found = AddressLookupOutcome.answer(.addresses(["192.0.2.7"], seconds: 5))
            #expect(NameVerdict([other, found]).addresses == ["192.0.2.7"])
            #expect(NameVerdict([found, other]).addresses == ["192.0.2.7"])
        }
    }

    @Test func `a name does not exist only if that is so in both families`() {
        let missing = AddressLookupOutcome.answer(.noSuchName(seconds: 5))
        #expect(failure(missing, missing) == .notFound("a.example: there is no such name"))
        #expect(failure(missing, .answer(.none(seconds: 5))) == .notFound("a.example has no address"))
        #expect(failure(missing, .silent) == .silent("a.example: no name server answered"))
        #expect(
            failure(missing, .answer(.failure(code: 2)))
                == .serverFailure("a.example: the name servers failed (code 2)"))
    }
}
