import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Cases taken from AFAutoPurgingImageCache have the names of its tests, and its image of 13,600 bytes.
@Suite struct PurgingCacheTests {
    private typealias Cache = PurgingCache<String, Int>
    private let imageSize: Int64 = 13_600

    private func at(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `testImageIsReturnedFromCacheForIdentifier, and none for another`() {
        var cache = Cache()
        cache.insert(1, for: "logo", bytes: imageSize, at: at(0))
        #expect(cache.value(for: "logo", at: at(1)) == 1)
        #expect(cache.value(for: "logo-filter", at: at(1)) == nil)
        #expect(cache.capacity == 104_857_600 && cache.preferredSize == 62_914_560)
    }

    @Test func `testDuplicateImageAddedToCacheIsReturned, and counted once`() {
        var cache = Cache()
        cache.insert(1, for: "image", bytes: 100, at: at(0))
        cache.insert(2, for: "image", bytes: 70, at: at(1))
        #expect(cache.value(for: "image", at: at(2)) == 2 && cache.size == 70 && cache.count == 1)
    }

    @Test func `testImageIsRemovedWithIdentifier`() {
        var cache = Cache()
        cache.insert(1, for: "logo", bytes: imageSize, at: at(0))
        let results = [cache.remove("other"), cache.remove("logo"), cache.remove("logo")]
        #expect(results == [false, true, false])
        #expect(cache.value(for: "logo", at: at(1)) == nil && cache.size == 0)
    }

    @Test func `testThatMemoryUsageIncreasesWhenAddingImage, and all can be removed`() {
        var cache = Cache()
        cache.insert(1, for: "logo", bytes: imageSize, at: at(0))
        #expect(cache.size == imageSize)
        let results = [cache.removeAll(), cache.removeAll()]
        #expect(results == [true, false] && cache.size == 0 && cache.count == 0)
    }

    @Test func `testThatImagesArePurgedWhenCapcityIsReached`() {
        var cache = Cache(capacity: 10 * imageSize, preferredSize: 6 * imageSize)
        for index in 1...10 {
            cache.insert(index, for: "image-\(index)", bytes: imageSize, at: at(0))
            #expect(cache.size == Int64(index) * imageSize)
        }
        let purged = cache.insert(11, for: "image-11", bytes: imageSize, at: at(0))
        #expect(cache.size == 6 * imageSize && purged == (1...5).map { "image-\($0)" })
    }

    @Test func `testThatPrioritizedImagesWithOldestLastAccessDatesAreRemovedDuringPurge`() {
        var cache = Cache(capacity: 10 * imageSize, preferredSize: 6 * imageSize)
        for index in 0..<10 { cache.insert(index, for: "image-\(index)", bytes: imageSize, at: at(Int64(index))) }
        #expect(cache.value(for: "image-0", at: at(20)) == 0)
        cache.insert(10, for: "image-10", bytes: imageSize, at: at(21))
        for index in 0...10 {
            #expect((cache.value(for: "image-\(index)", at: at(30)) != nil) == (index == 0 || index >= 6))
        }
    }

    @Test func `a value that alone is too large is purged together with the others`() {
        var cache = Cache(capacity: 100, preferredSize: 60)
        cache.insert(1, for: "a", bytes: 50, at: at(0))
        #expect(cache.insert(2, for: "b", bytes: 1_000, at: at(1)) == ["a", "b"])
        #expect(cache.size == 0 && cache.count == 0)
    }

    @Test func `invalid sizes are replaced by the nearest valid ones`() {
        var cache = Cache(capacity: 10, preferredSize: 50)
        #expect(cache.preferredSize == 10)
        cache.insert(1, for: "a", bytes: -5, at: at(0))
        #expect(cache.size == 0 && cache.count == 1)
        #expect(Cache(capacity: -1, preferredSize: -1).capacity == 0)
    }

    @Test func `the cache agrees with a model, a list in the order of use`() {
        var generator = SeededGenerator(seed: 41)
        var cache = PurgingCache<Int, Int>(capacity: 1_000, preferredSize: 600)
        var model: [(key: Int, bytes: Int64)] = []
        for step in 0..<5_000 {
            let key = Int.random(in: 0..<60, using: &generator), now = at(Int64(step / 3))
            if generator.oneIn(2) {
                let bytes = Int64.random(in: 0...120, using: &generator)
                model.removeAll { $0.key == key }
                model.append((key, bytes))
                if model.reduce(0, { $0 + $1.bytes }) > 1_000 {
                    while model.reduce(0, { $0 + $1.bytes }) > 600 { model.removeFirst() }
                }
                cache.insert(key, for: key, bytes: bytes, at: now)
            } else {
                let index = model.firstIndex { $0.key == key }
                #expect((cache.value(for: key, at: now) != nil) == (index != nil))
                if let index { model.append(model.remove(at: index)) }
            }
            #expect(cache.size == model.reduce(0) { $0 + $1.bytes } && cache.count == model.count)
        }
    }
}
