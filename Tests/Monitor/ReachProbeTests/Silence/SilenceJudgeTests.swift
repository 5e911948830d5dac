import ReachCore
import ReachKernel
import ReachTesting
import Testing

@testable import ReachProbe

@Suite struct SilenceJudgeTests {
    private func suspicion(
        _ sockets: [StalledSocket], received milliseconds: Int?, ignoring ignored: Set<UInt32> = []
    ) -> SilenceJudge.Suspicion? {
        var sample = SilenceSample()
        milliseconds.map { sample.noteReception(.milliseconds($0)) }
        sockets.forEach { sample.add($0) }
        return SilenceJudge.suspicion(in: sample, ignoring: ignored)
    }

    @Test func `several transmissions to two hosts without an answer for a second are a suspicion`() {
        let found = suspicion([.sample(to: 1, repetitions: 2), .sample(to: 2, repetitions: 2)], received: 1200)
        // 300, 700 and 900 ms ago, twice: none of these a second ago.
        #expect(found == nil)
        let later = suspicion([.sample(to: 1, repetitions: 3), .sample(to: 2, repetitions: 3)], received: 2000)
        #expect(later?.transmissions == 8)
        #expect(later?.destinations == 2)
        #expect(later?.duration == .milliseconds(1700))
        #expect(later?.users == [1000])
    }

    @Test func `one server is enough, where all traffic goes to it`() {
        // Five transmissions, the first one 6.5 s ago.
        let found = suspicion([.sample(to: 1, repetitions: 5)], received: 50_000)
        #expect(found?.destinations == 1 && found?.users == [1000])
        #expect(suspicion([.sample(to: 1, repetitions: 2)], received: 50_000) == nil)
    }

    @Test func `dead servers are none while another socket receives something`() {
        let sockets = (0..<50).map { StalledSocket.sample(to: $0, repetitions: 5) }
        #expect(suspicion(sockets, received: 300) == nil)
        #expect(suspicion(sockets, received: 950) == nil)
        #expect(suspicion(sockets, received: 8000) != nil)
    }

    @Test func `what was sent before something was received does not count`() {
        let sockets = (0..<3).map { StalledSocket.sample(to: $0, repetitions: 5, sinceLast: 1100) }
        // The last transmissions were 1.1 s ago, those before 4.3 s ago.
        #expect(suspicion(sockets, received: 1200) == nil)
        #expect(suspicion(sockets, received: 4400)?.transmissions == 6)
    }

    @Test func `on a path where nothing was ever received the last minute counts`() {
        #expect(suspicion([.sample(to: 1, repetitions: 3), .sample(to: 2, repetitions: 3)], received: nil) != nil)
    }

    @Test func `sockets of ignored users do not count`() {
        let sockets = [StalledSocket.sample(to: 1, repetitions: 4), .sample(to: 2, user: 1001, repetitions: 4)]
        #expect(suspicion(sockets, received: nil)?.users == [1000, 1001])
        #expect(suspicion(sockets, received: nil, ignoring: [1000])?.users == [1001])
        #expect(suspicion(sockets, received: nil, ignoring: [1000, 1001]) == nil)
        let more = sockets + [.sample(to: 3, user: 1001, repetitions: 4)]
        #expect(suspicion(more, received: nil, ignoring: [1000])?.users == [1001])
    }
}
