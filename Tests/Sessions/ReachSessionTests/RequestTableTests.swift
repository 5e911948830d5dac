import ReachQueue
import Testing

@testable import ReachSession

/// A table that remembers the last value must not differ from a dictionary.
@Suite struct RequestTableTests {
    @Test func `a table answers as a dictionary does, whatever was asked for before`() {
        let table = RequestTable<[Int]>()
        var model: [RequestID: [Int]] = [:]
        var random = SystemRandomNumberGenerator()
        for step in 0..<2_000 {
            let id = RequestID(rawValue: .random(in: 1...4, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: (table[id], model[id]) = ([step], [step])
            case 1: (table[id], model[id]) = (nil, nil)
            case 2: #expect(table.removeValue(forKey: id) == model.removeValue(forKey: id))
            case 3:
                table[id, default: []].append(step)
                model[id, default: []].append(step)
            case 4:
                table[id]?.removeAll { $0.isMultiple(of: 2) }
                model[id]?.removeAll { $0.isMultiple(of: 2) }
            default: break
            }
            #expect(table[id] == model[id])
        }
        #expect(table.values.map(\.count).sorted() == model.values.map(\.count).sorted())
        table.removeAll()
        #expect((1...4).allSatisfy { table[RequestID(rawValue: $0)] == nil })
    }
}
