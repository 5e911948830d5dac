internal import ReachCore

/// Reads binary property lists (`bplist00`, as defined by CFBinaryPList.c).
///
/// Objects refer to each other by number, so one object can occur in several places, and a few bytes can encode a tree
/// of millions of values. The reader therefore limits the depth and the total number of values.
struct BinaryPropertyListReader {
    /// The maximum number of values. Each value takes at least one byte, so a list in which no object occurs in several
    /// places stays below it.
    private let valueLimit: Int
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let tableStart: Int
    private var values = 0
    private var depth = 0

    static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        var reader = try BinaryPropertyListReader(bytes)
        return try reader.object(reader.number(at: bytes.count - 16, size: 8))
    }

    /// Reads the trailer, the last 32 bytes: 6 unused ones, the sizes, the number of objects, the root, and the offset
    /// of the offset table.
    private init(_ bytes: [UInt8]) throws(PropertyListError) {
        guard bytes.count >= 40, bytes.starts(with: "bplist0".utf8) else {
            throw .damaged("no binary property list of version 0", offset: 0)
        }
        self.bytes = bytes
        valueLimit = max(bytes.count * 4, 1024)
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        objectCount = Self.number(bytes[(trailer + 8)..<(trailer + 16)]) ?? .max
        tableStart = Self.number(bytes[(trailer + 24)..<(trailer + 32)]) ?? .max
        guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, 1...trailer ~= objectCount, 8...trailer ~= tableStart,
            objectCount <= (trailer - tableStart) / offsetSize
        else { throw .damaged("the trailer contradicts itself", offset: trailer) }
    }

    private mutating func object(_ index: Int) throws(PropertyListError) -> PropertyListValue {
        guard 0..<objectCount ~= index else { throw .damaged("no object \(index)", offset: tableStart) }
        values += 1
        guard values <= valueLimit else { throw .limit("\(valueLimit) values") }
        let place = number(at: tableStart + index * offsetSize, size: offsetSize)
        guard 8..<tableStart ~= place else { throw .damaged("an object outside the list", offset: tableStart) }
        let low = Int(bytes[place] & 15)
        switch bytes[place] >> 4 {
        case 0x0 where low == 8 || low == 9: return .bool(low == 9)
        case 0x1 where low <= 4: return .integer(try integer(at: place, size: 1 << low))
        case 0x2 where low == 2 || low == 3: return .real(try real(at: place, size: 1 << low))
        case 0x3 where low == 3: return .date(try date(at: place))
        case 0x4: return .data(Array(try content(at: place, unit: 1)))
        case 0x5, 0x7: return .string(try text(at: place))
        case 0x6: return .string(try text16(at: place))
        case 0x8: return .integer(try integer(at: place, size: low + 1))
        case 0xa, 0xc: return .array(try nested { reader throws(PropertyListError) in try reader.elements(at: place) })
        case 0xd:
            return .dictionary(try nested { reader throws(PropertyListError) in try reader.members(at: place) })
        default: throw .damaged("no such kind of object", offset: place)
        }
    }

    private mutating func nested<Result>(
        _ body: (inout BinaryPropertyListReader) throws(PropertyListError) -> Result
    ) throws(PropertyListError) -> Result {
        guard depth < PropertyListValue.depthLimit else { throw .limit("\(PropertyListValue.depthLimit) levels") }
        depth += 1
        let result = try body(&self)
        depth -= 1
        return result
    }

    private mutating func elements(at place: Int) throws(PropertyListError) -> [PropertyListValue] {
        var elements: [PropertyListValue] = []
        for index in references(try content(at: place, unit: referenceSize)) { elements.append(try object(index)) }
        return elements
    }

    private mutating func members(at place: Int) throws(PropertyListError) -> [String: PropertyListValue] {
        let all = references(try content(at: place, unit: 2 * referenceSize))
        var members: [String: PropertyListValue] = [:]
        for (key, value) in zip(all.prefix(all.count / 2), all.suffix(all.count / 2)) {
            guard case .string(let name) = try object(key) else {
                throw .damaged("a key that is no text", offset: place)
            }
            guard members.updateValue(try object(value), forKey: name) == nil else {
                throw .damaged("a key a second time", offset: place)
            }
        }
        return members
    }

    // MARK: - Bytes

    private func references(_ content: ArraySlice<UInt8>) -> [Int] {
        stride(from: content.startIndex, to: content.endIndex, by: referenceSize)
            .map { number(at: $0, size: referenceSize) }
    }

    /// The content after an object's first byte. Its low half is the number of units, or 15 if an integer with that
    /// number follows.
    private func content(at place: Int, unit: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
        var count = Int(bytes[place] & 15)
        var start = place + 1
        if count == 15 {
            guard start < tableStart, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else {
                throw .damaged("no length", offset: start)
            }
            let size = 1 << Int(bytes[start] & 15)
            guard start + 1 + size <= tableStart else { throw .damaged("cut off", offset: start) }
            count = number(at: start + 1, size: size)
            start += 1 + size
        }
        guard 0...(tableStart - start) / unit ~= count else { throw .damaged("cut off", offset: place) }
        return bytes[start..<(start + count * unit)]
    }

    private func fixed(at place: Int, size: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
        guard place + 1 + size <= tableStart else { throw .damaged("cut off", offset: place) }
        return bytes[(place + 1)..<(place + 1 + size)]
    }

    /// A number, or `Int.max` if it is too large for `Int`.
    private func number(at place: Int, size: Int) -> Int { Self.number(bytes[place..<(place + size)]) ?? .max }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Reads an integer. Of those with up to 8 bytes only the ones with 8 are signed; 16 bytes are used for values
    /// beyond the signed range of 8.
    private func integer(at place: Int, size: Int) throws(PropertyListError) -> Int64 {
        let content = try fixed(at: place, size: size)
        let low = content.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if size <= 8 { return Int64(bitPattern: low) }
        let high = content.prefix(size - 8)
        let number = Int64(bitPattern: low)
        guard high.allSatisfy({ $0 == (number < 0 ? 0xff : 0) }) else {
            throw .damaged("a number of more than 64 bits", offset: place)
        }
        return number
    }

    private func real(at place: Int, size: Int) throws(PropertyListError) -> Double {
        let pattern = try fixed(at: place, size: size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return size == 4
            ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: pattern))) : Double(bitPattern: pattern)
    }

    private func date(at place: Int) throws(PropertyListError) -> Timestamp {
        let seconds = try real(at: place, size: 8) + BinaryPropertyListWriter.secondsFrom1970To2001
        // A timestamp's 64 bits of nanoseconds do not reach further.
        guard abs(seconds) < 9_223_372_036 else { throw .damaged("a date beyond 1677 to 2262", offset: place) }
        return Timestamp(nanosecondsSince1970: Int64((seconds * 1_000_000_000).rounded()))
    }

    /// Reads a string in ASCII, or in UTF-8 for the newer kind.
    private func text(at place: Int) throws(PropertyListError) -> String {
        guard let text = String(validating: try content(at: place, unit: 1), as: UTF8.self) else {
            throw .damaged("not text", offset: place)
        }
        return text
    }

    private func text16(at place: Int) throws(PropertyListError) -> String {
        let content = try content(at: place, unit: 2)
        let units = stride(from: content.startIndex, to: content.endIndex, by: 2).map {
            UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw .damaged("not text", offset: place) }
        return text
    }
}
