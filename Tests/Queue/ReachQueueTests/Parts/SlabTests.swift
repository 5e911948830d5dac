import ReachTesting
import Testing

@testable import ReachQueue

@Suite struct SlabTests {
    @Test func `a place is given again only after its element was removed`() {
        var slab = Slab<String>()
        let (first, second) = (slab.insert("a"), slab.insert("b"))
        #expect(first != second && slab[first] == "a" && slab[second] == "b")
        slab.remove(first)
        let third = slab.insert("c")
        #expect(third == first && slab[third] == "c" && slab[second] == "b" && slab.capacity == 2)
    }

    @Test func `a column has its initial value wherever none was set`() {
        var column = SlabColumn<String, Int>(-1)
        let index = SlabIndex<String>(rawValue: 3)
        #expect(column[index] == -1)
        column[index] += 8
        #expect(column[index] == 7 && column[SlabIndex(rawValue: 2)] == -1 && column[SlabIndex(rawValue: 9)] == -1)
    }

    @Test(arguments: 0..<10)
    func `lists that share their links stay apart`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var links = LinkedLists<String>()
        var ends = [LinkedLists<String>.Ends(), LinkedLists<String>.Ends()]
        var model: [[SlabIndex<String>]] = [[], []]
        for _ in 0..<1000 {
            let index = SlabIndex<String>(rawValue: Int32.random(in: 0..<20, using: &random))
            let list = Int.random(in: 0..<2, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !links.isListed(index):
                links.append(index, to: &ends[list])
                model[list].append(index)
            case 1 where !links.isListed(index):
                links.prepend(index, to: &ends[list])
                model[list].insert(index, at: 0)
            case 2 where model[list].contains(index):
                links.remove(index, from: &ends[list])
                model[list].removeAll { $0 == index }
            case 3 where !model[list].isEmpty:
                links.rotate(&ends[list])
                model[list].append(model[list].removeFirst())
            default: break
            }
            for list in 0..<2 {
                var found: [SlabIndex<String>] = []
                var next = ends[list].first
                while let index = next {
                    found.append(index)
                    next = links.following(index)
                }
                #expect(found == model[list])
            }
        }
    }
}
