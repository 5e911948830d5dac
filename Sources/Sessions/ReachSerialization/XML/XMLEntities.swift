/// Resolves references: to characters by number, to the five predefined entities, and to texts that the document
/// declares.
///
/// Entities that contain each other can expand a few lines to gigabytes ("billion laughs"), and external ones can read
/// files and call servers. So only entities with text are supported, the size of all expansions in a document is
/// limited, and nothing is fetched.
struct XMLEntities: Sendable {
    enum Declaration: Hashable {
        /// The text, in which only references by number are resolved.
        case text([UInt8])
        case external
    }

    /// The maximum number of entities declared in one document.
    private static let declarationLimit = 256
    /// The maximum depth of nested entities.
    private static let depthLimit = 8

    /// The declarations by the bytes of their names: Swift's strings compare equal where their bytes differ.
    private var declared: [[UInt8]: Declaration] = [:]
    private var bytesLeft: Int

    init(byteLimit: Int) { bytesLeft = byteLimit }

    /// Declares an entity. The first declaration of a name counts (XML 1.0, section 4.2).
    mutating func declare(_ name: String, _ declaration: Declaration) throws(XMLError.Fault) {
        guard declared.count < Self.declarationLimit else { throw .limit("\(Self.declarationLimit) entities") }
        if declared[Array(name.utf8)] == nil { declared[Array(name.utf8)] = declaration }
    }

    /// Resolves a reference.
    ///
    /// - Parameter name: The text between "&" and ";".
    mutating func text(of name: ArraySlice<UInt8>, inAttribute: Bool) throws(XMLError.Fault) -> [UInt8] {
        try text(of: name, inAttribute: inAttribute, depth: 0)
    }

    private mutating func text(
        of name: ArraySlice<UInt8>, inAttribute: Bool, depth: Int
    ) throws(XMLError.Fault) -> [UInt8] {
        if name.first == UInt8(ascii: "#") { return try Self.character(name.dropFirst()) }
        let name = String(decoding: name, as: UTF8.self)
        switch name {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default: break
        }
        switch declared[Array(name.utf8)] {
        case nil: throw .unknownEntity(name)
        case .external: throw .externalEntity(name)
        case .text(let bytes):
            guard depth < Self.depthLimit else { throw .refusedEntity(name) }
            return try expand(bytes, of: name, inAttribute: inAttribute, depth: depth + 1)
        }
    }

    private mutating func expand(
        _ bytes: [UInt8], of name: String, inAttribute: Bool, depth: Int
    ) throws(XMLError.Fault) -> [UInt8] {
        bytesLeft -= bytes.count + 1
        guard bytesLeft >= 0 else { throw .limit("entities may come to") }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "<"): throw .refusedEntity(name)
            case UInt8(ascii: "&"):
                guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { throw .refusedEntity(name) }
                result += try text(of: rest[..<end], inAttribute: inAttribute, depth: depth)
                rest = rest[(end + 1)...]
            case 0x9, 0xa, 0xd: result.append(inAttribute ? 0x20 : byte == 0xd ? 0xa : byte)
            case ..<0x20: throw .refusedEntity(name)
            default: result.append(byte)
            }
        }
        return result
    }

    /// The character of a reference such as `#38` or `#x26`, given the part after the number sign.
    static func character(_ digits: ArraySlice<UInt8>) throws(XMLError.Fault) -> [UInt8] {
        let isHexadecimal = digits.first == UInt8(ascii: "x")
        let digits = isHexadecimal ? digits.dropFirst() : digits
        // Swift's parser of numbers would accept a sign.
        guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
            let number = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(number), XMLCharacters.isAllowed(scalar)
        else { throw .unexpected("a reference to no character") }
        return Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}

/// The character classes of XML 1.0 (fifth edition).
package enum XMLCharacters {
    /// Whether a document may contain the character (section 2.2).
    package static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xa, 0xd, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
        default: false
        }
    }
}
