internal import ReachCore

/// Writes binary property lists (`bplist00`). Equal strings, numbers and data are written once, as Apple's writer does.
struct BinaryPropertyListWriter {
    static let secondsFrom1970To2001 = 978_307_200.0

    /// An object, which refers to its members by number.
    private enum Object {
        case plain([UInt8])
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var objects: [Object] = []
    /// The numbers of the plain objects, by their bytes: 0 and -0 are equal, but have different bytes.
    private var indexes: [[UInt8]: Int] = [:]

    static func write(_ value: PropertyListValue) -> [UInt8] {
        var writer = BinaryPropertyListWriter()
        _ = writer.add(value)
        return writer.document()
    }

    /// Adds a value and its members.
    ///
    /// - Returns: The number of the object. A container has a smaller number than its members, so the root is 0.
    private mutating func add(_ value: PropertyListValue) -> Int {
        switch value {
        case .array(let elements):
            let index = reserve()
            objects[index] = .array(elements.map { add($0) })
            return index
        case .dictionary(let members):
            let index = reserve()
            let sorted = members.sorted { $0.key < $1.key }
            let keys = sorted.map { add(.string($0.key)) }
            objects[index] = .dictionary(keys: keys, values: sorted.map { add($0.value) })
            return index
        default:
            let content = Self.plain(value)
            if let index = indexes[content] { return index }
            let index = reserve()
            objects[index] = .plain(content)
            indexes[content] = index
            return index
        }
    }

    private mutating func reserve() -> Int {
        objects.append(.plain([]))
        return objects.count - 1
    }

    private func document() -> [UInt8] {
        let referenceSize = Self.size(of: objects.count)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .plain(let content): bytes += content
            case .array(let elements):
                bytes += Self.head(0xa0, elements.count)
                for index in elements { bytes += Self.bytes(index, referenceSize) }
            case .dictionary(let keys, let values):
                bytes += Self.head(0xd0, keys.count)
                for index in keys + values { bytes += Self.bytes(index, referenceSize) }
            }
        }
        let tableStart = bytes.count
        let offsetSize = Self.size(of: tableStart)
        for offset in offsets { bytes += Self.bytes(offset, offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        return bytes + Self.bytes(objects.count, 8) + Self.bytes(0, 8) + Self.bytes(tableStart, 8)
    }

    private static func plain(_ value: PropertyListValue) -> [UInt8] {
        switch value {
        case .bool(let flag): return [flag ? 9 : 8]
        case .integer(let number): return integer(number)
        case .real(let number): return [0x23] + bytes(Int(bitPattern: UInt(number.bitPattern)), 8)
        case .date(let time):
            let seconds = Double(time.nanosecondsSince1970) / 1_000_000_000 - secondsFrom1970To2001
            return [0x33] + bytes(Int(bitPattern: UInt(seconds.bitPattern)), 8)
        case .data(let data): return head(0x40, data.count) + data
        case .string(let text) where text.utf8.allSatisfy { $0 < 0x80 }:
            return head(0x50, text.utf8.count) + Array(text.utf8)
        case .string(let text):
            return head(0x60, text.utf16.count) + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        case .array, .dictionary: return []
        }
    }

    /// Writes an integer. Negative numbers always take 8 bytes: shorter ones are unsigned.
    private static func integer(_ number: Int64) -> [UInt8] {
        let size = number < 0 ? 8 : size(of: Int(number))
        return [0x10 | UInt8(size.trailingZeroBitCount)] + bytes(Int(number), size)
    }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 15] + integer(Int64(count))
    }

    /// The bytes needed for a number: 1, 2, 4 or 8.
    private static func size(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private static func bytes(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
    }
}
