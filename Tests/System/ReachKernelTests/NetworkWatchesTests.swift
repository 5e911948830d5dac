internal import ReachCore
internal import Testing

@testable internal import ReachKernel

@Suite struct NetworkWatchesTests {
    private func snapshot(_ epoch: UInt64) -> NetworkSnapshot {
        NetworkSnapshot(
            internet: Verdict(.unknown, reason: .cannotObserve), epoch: epoch, routes: [], links: [], ownAddresses: [])
    }

    @Test func `only a snapshot that differs is sent, and each time that there is none`() {
        let watches = NetworkWatches()
        watches.add(1) { _ in }
        #expect(watches.update(snapshot(1)) && !watches.update(snapshot(1)) && watches.update(snapshot(2)))
        #expect(watches.update(nil) && watches.update(nil))
    }

    @Test func `a handler that an earlier one removed is not called`() {
        let watches = NetworkWatches()
        var called: [UInt64] = []
        watches.add(1) { _ in
            called.append(1)
            watches.remove(2)
        }
        for id in [2, 3] as [UInt64] { watches.add(id) { _ in called.append(id) } }
        watches.send(nil)
        #expect(called == [1, 3])
    }

    @Test func `without handlers there is no snapshot`() {
        let watches = NetworkWatches()
        for id in [1, 2] as [UInt64] { watches.add(id) { _ in } }
        _ = watches.update(snapshot(1))
        watches.remove(1)
        #expect(watches.snapshot == snapshot(1))
        watches.remove(2)
        #expect(watches.snapshot == nil && watches.isEmpty)
    }
}
