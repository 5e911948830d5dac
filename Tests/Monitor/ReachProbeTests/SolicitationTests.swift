import ReachCore
import Testing

@testable import ReachProbe

@Suite struct SolicitationTests {
    @Test(
        arguments: [
            (.reachable, 0, .answered), (.failed, 0, .silent), (.noarp, 0, .notNeeded), (.permanent, 0, .notNeeded),
            (.incomplete, 4299, nil), (.incomplete, 4300, .silent), (NeighbourState.none, 4299, nil),
            (NeighbourState.none, 4300, .silent), (nil, 4299, nil), (nil, 4300, .notNeeded),
            (.stale, 9299, nil), (.stale, 9300, .unconfirmed), (.delay, 9299, nil), (.delay, 9300, .unconfirmed),
            (.probe, 9299, nil), (.probe, 9300, .silent),
        ] as [(NeighbourState?, Int64, SolicitationAnswer?)])
    func `the kernel's entry says whether a host answers, or nothing until the kernel has asked long enough`(
        state: NeighbourState?, milliseconds: Int64, answer: SolicitationAnswer?
    ) {
        #expect(Solicitation.answer(state, after: .milliseconds(milliseconds)) == answer)
    }
}
