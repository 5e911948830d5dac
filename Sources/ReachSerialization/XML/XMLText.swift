/// Makes text of bytes between markup: resolves references, and makes every line end one line feed (XML 1.0, section
/// 2.11).
struct XMLText {
    enum Place {
        /// Between tags.
        case content
        /// Between tags, where nothing but the end has a meaning.
        case characterData
        /// In quotes: white space is a space, and "<" may not stand there.
        case attribute
    }

    private var entities: XMLEntities
    private let place: Place
    private var result: [UInt8] = []

    private init(_ entities: XMLEntities, _ place: Place) {
        self.entities = entities
        self.place = place
    }

    static func read(
        _ bytes: ArraySlice<UInt8>, as place: Place, entities: inout XMLEntities
    ) throws(XMLScanner.Failure) -> String {
        // Most texts are as they stand, and nothing is done twice.
        guard bytes.contains(where: Self.isSpecial) else { return try string(bytes, at: bytes.startIndex) }
        var text = XMLText(entities, place)
        try text.append(bytes)
        entities = text.entities
        return try string(text.result[...], at: bytes.startIndex)
    }

    private static func string(_ bytes: ArraySlice<UInt8>, at index: Int) throws(XMLScanner.Failure) -> String {
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw XMLScanner.Failure(fault: .badEncoding, index: index)
        }
        // Of what is no character in XML, control characters are looked for elsewhere; these two are left.
        if bytes.contains(0xef), string.unicodeScalars.contains(where: { !XMLCharacters.isAllowed($0) }) {
            throw XMLScanner.Failure(fault: .unexpected("a character that is none"), index: index)
        }
        return string
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) throws(XMLScanner.Failure) {
        result.reserveCapacity(result.count + bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            // Nearly everything stands for itself, and is taken at once.
            let plain = bytes[index...].firstIndex(where: Self.isSpecial) ?? bytes.endIndex
            result += bytes[index..<plain]
            guard plain < bytes.endIndex else { return }
            index = try appendSpecial(bytes, at: plain)
        }
    }

    /// All that may need something done: it is rare in texts.
    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
    }

    /// - Returns: Where what follows begins.
    private mutating func appendSpecial(
        _ bytes: ArraySlice<UInt8>, at index: Int
    ) throws(XMLScanner.Failure) -> Int {
        let byte = bytes[index]
        switch byte {
        case UInt8(ascii: "&") where place != .characterData: return try appendReference(bytes, at: index)
        case 0x9, 0xa: result.append(place == .attribute ? 0x20 : byte)
        case 0xd:
            result.append(place == .attribute ? 0x20 : 0xa)
            if index + 1 < bytes.endIndex, bytes[index + 1] == 0xa { return index + 2 }
        case UInt8(ascii: "<") where place == .attribute:
            throw XMLScanner.Failure(fault: .unexpected("'<' in an attribute"), index: index)
        case UInt8(ascii: ">") where place == .content && bytes[..<index].suffix(2).elementsEqual("]]".utf8):
            throw XMLScanner.Failure(fault: .unexpected("']]>'"), index: index)
        case ..<0x20: throw XMLScanner.Failure(fault: .unexpected("a control character"), index: index)
        default: result.append(byte)
        }
        return index + 1
    }

    private mutating func appendReference(
        _ bytes: ArraySlice<UInt8>, at index: Int
    ) throws(XMLScanner.Failure) -> Int {
        guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ";")) else {
            throw XMLScanner.Failure(fault: .expected("';' after a reference"), index: index)
        }
        let name = bytes[(index + 1)..<end]
        do throws(XMLError.Fault) {
            result += try entities.text(of: name, inAttribute: place == .attribute)
        } catch {
            throw XMLScanner.Failure(fault: error, index: index)
        }
        return end + 1
    }
}

extension XMLError.Fault: Error {}
