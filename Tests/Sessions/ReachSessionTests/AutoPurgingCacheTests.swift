import ReachCore
import ReachSession
import ReachTesting
import Synchronization
import Testing

/// The purging cache with a lock and a clock inside. ``PurgingCacheTests`` has the rules.
@Suite(.timeLimit(.minutes(1))) struct AutoPurgingCacheTests {
    /// A value that uses its cache when it is released.
    private final class Busy: Sendable {
        let cache: AutoPurgingCache<Int, Busy>
        let released: EventLog<Int>

        init(_ cache: AutoPurgingCache<Int, Busy>, _ released: EventLog<Int>) {
            (self.cache, self.released) = (cache, released)
        }

        deinit { released.append(cache.count) }
    }

    @Test func `the least recently used values are purged, by the cache's own clock`() {
        let seconds = Mutex<Int64>(0)
        let cache = AutoPurgingCache<String, Int>(capacity: 100, preferredSize: 60) {
            seconds.withLock { seconds in
                seconds += 1
                return BootTime(nanoseconds: seconds * 1_000_000_000)
            }
        }
        for (number, key) in ["a", "b", "c"].enumerated() { #expect(cache.add(number, for: key, bytes: 30) == []) }
        #expect(cache.totalBytes == 90 && cache.count == 3 && cache.capacity == 100 && cache.preferredSize == 60)
        #expect(cache.value(for: "a") == 0 && cache.value(for: "z") == nil)
        #expect(cache.add(3, for: "d", bytes: 30) == ["b", "c"])
        #expect(cache.value(for: "a") == 0 && cache.value(for: "d") == 3 && cache.totalBytes == 60)
        let results = [cache.remove("a"), cache.remove("a"), cache.removeAll(), cache.removeAll()]
        #expect(results == [true, false, true, false])
        #expect(cache.totalBytes == 0 && AutoPurgingCache<Int, Int>().capacity == 104_857_600)
    }

    @Test func `a value that uses the cache while it is released does not wait for itself`() {
        let released = EventLog<Int>()
        let cache = AutoPurgingCache<Int, Busy>(capacity: 100, preferredSize: 50)
        cache.add(Busy(cache, released), for: 1, bytes: 40)
        cache.add(Busy(cache, released), for: 1, bytes: 40)
        #expect(released.values == [1], "replaced")
        cache.add(Busy(cache, released), for: 2, bytes: 40)
        cache.add(Busy(cache, released), for: 3, bytes: 40)
        #expect(released.values == [1, 1, 1], "purged")
        cache.remove(3)
        cache.add(Busy(cache, released), for: 4, bytes: 1)
        cache.removeAll()
        #expect(released.values == [1, 1, 1, 0, 0] && cache.count == 0)
    }

    @Test func `many threads may use it`() async {
        let cache = AutoPurgingCache<Int, Int>(capacity: 1_000, preferredSize: 600)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for round in 0..<2_000 {
                        cache.add(round, for: (worker * 31 + round) % 97, bytes: 10)
                        _ = cache.value(for: round % 97)
                        if round.isMultiple(of: 7) { cache.remove(round % 97) }
                    }
                }
            }
        }
        #expect(cache.totalBytes <= 1_000 && cache.totalBytes == Int64(cache.count) * 10)
    }
}
