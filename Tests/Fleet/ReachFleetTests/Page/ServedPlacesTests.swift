import ReachCore
import ReachFleet
import Testing

@Suite struct ServedPlacesTests {
    private var places = ServedPlaces()
    private let now = BootTime(nanoseconds: 1_000_000_000)

    /// Opens connections with the numbers of a range, of which none has to go for another.
    private mutating func fill(_ numbers: Range<Int32>) {
        for number in numbers { #expect(places.open(number, at: now) == nil) }
    }

    @Test mutating func `where all places are taken, the one goes whose request is missing for longest`() {
        fill(0..<240)
        places.answer(0)
        #expect(places.open(1000, at: now) == 1)
        // It has not gone yet, and is not named again.
        #expect(places.open(1001, at: now) == 2)
        places.close(1)
        places.close(2)
        places.close(7)
        #expect(places.open(1002, at: now) == nil)
        #expect(places.open(1003, at: now) == 3)
    }

    @Test mutating func `who reads an answer goes only where every request is complete, and the newest never`() {
        fill(0..<240)
        for number in Int32(0)..<240 { places.answer(number) }
        #expect(places.open(1000, at: now) == 0)
        #expect(places.open(1001, at: now) == 1000)
    }

    @Test mutating func `for one more who follows the news, the first of them ends, and the rest have room`() {
        fill(0..<192)
        for number in Int32(0)..<192 {
            places.answer(number)
            #expect(places.follow(number) == nil)
        }
        fill(1000..<1048)
        #expect(places.open(2000, at: now) == 1000)
        places.answer(2000)
        #expect(places.follow(2000) == 0)
        places.answer(1001)
        #expect(places.follow(1001) == 1)
    }

    @Test mutating func `a request and its answer have two minutes together, and the news have no end`() {
        fill(0..<4)
        places.answer(1)
        places.answer(2)
        #expect(places.follow(2) == nil)
        #expect(places.overdue(at: now + ServedPlaces.patience) == [])
        let late = now + ServedPlaces.patience + .milliseconds(1)
        #expect(places.open(4, at: late) == nil)
        #expect(places.overdue(at: late) == [0, 1, 3])
        #expect(places.overdue(at: late) == [])
    }
}
