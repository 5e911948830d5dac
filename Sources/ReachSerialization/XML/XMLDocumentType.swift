/// Reads a document type declaration for the entities it declares. Nothing else of it has an effect: a document is not
/// validated, and attributes get no default values.
enum XMLDocumentType {
    /// - Parameter markup: From `<!DOCTYPE` to `>`.
    static func read(_ markup: ArraySlice<UInt8>, into entities: inout XMLEntities) throws(XMLScanner.Failure) {
        var scanner = XMLScanner(markup)
        try scanner.expect("<!DOCTYPE")
        guard scanner.skipSpace() else { throw scanner.failure(.expected("a space")) }
        _ = try scanner.name()
        if scanner.skipSpace() { _ = try externalIdentifier(&scanner) }
        scanner.skipSpace()
        if scanner.take("[") {
            while try declaration(&scanner, into: &entities) {}
            scanner.skipSpace()
        }
        try scanner.expect(">")
    }

    /// Where the declaration ends that begins at `bytes`, brackets, quotes and comments observed.
    ///
    /// - Returns: `nil` where it is not all there.
    static func end(of bytes: ArraySlice<UInt8>) -> Int? {
        var scanner = XMLScanner(bytes)
        scanner.skip(2)
        var isInside = false
        while let byte = scanner.current {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard (try? scanner.quoted()) != nil else { return nil }
                continue
            case UInt8(ascii: "["): isInside = true
            case UInt8(ascii: "]"): isInside = false
            case UInt8(ascii: "<") where isInside:
                if scanner.take("<!--") {
                    guard (try? scanner.text(before: "-->")) != nil else { return nil }
                    continue
                }
                if scanner.take("<?") {
                    guard (try? scanner.text(before: "?>")) != nil else { return nil }
                    continue
                }
            case UInt8(ascii: ">") where !isInside: return scanner.index + 1
            default: break
            }
            scanner.skip(1)
        }
        return nil
    }

    private static func externalIdentifier(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) -> Bool {
        let isPublic = scanner.take("PUBLIC")
        guard isPublic || scanner.take("SYSTEM") else { return false }
        for _ in 0..<(isPublic ? 2 : 1) {
            guard scanner.skipSpace() else { throw scanner.failure(.expected("a space")) }
            _ = try scanner.quoted()
        }
        return true
    }

    /// - Returns: False at the end of the declarations.
    private static func declaration(
        _ scanner: inout XMLScanner, into entities: inout XMLEntities
    ) throws(XMLScanner.Failure) -> Bool {
        scanner.skipSpace()
        if scanner.take("]") { return false }
        if scanner.take("<!--") {
            _ = try scanner.text(before: "-->")
        } else if scanner.take("<?") {
            _ = try scanner.text(before: "?>")
        } else if scanner.take("<!ENTITY") {
            try entity(&scanner, into: &entities)
        } else if scanner.take("<!ELEMENT") || scanner.take("<!ATTLIST") || scanner.take("<!NOTATION") {
            try skipDeclaration(&scanner)
        } else if scanner.current == UInt8(ascii: "%") {
            throw scanner.failure(.refusedEntity("%"))
        } else {
            throw scanner.failure(.expected("a declaration"))
        }
        return true
    }

    private static func entity(
        _ scanner: inout XMLScanner, into entities: inout XMLEntities
    ) throws(XMLScanner.Failure) {
        guard scanner.skipSpace() else { throw scanner.failure(.expected("a space")) }
        // What is declared for declarations can only be used by declarations, where its use is refused.
        if scanner.current == UInt8(ascii: "%") { return try skipDeclaration(&scanner) }
        let name = try scanner.name()
        guard scanner.skipSpace() else { throw scanner.failure(.expected("a space")) }
        let declaration: XMLEntities.Declaration
        if try externalIdentifier(&scanner) {
            declaration = .external
            try skipDeclaration(&scanner)
        } else {
            declaration = .text(try replacement(try scanner.quoted()))
            scanner.skipSpace()
            try scanner.expect(">")
        }
        do throws(XMLError.Fault) {
            try entities.declare(name, declaration)
        } catch {
            throw scanner.failure(error)
        }
    }

    /// References by number are resolved where an entity is declared, others where it is used (XML 1.0, section 4.4).
    private static func replacement(_ value: ArraySlice<UInt8>) throws(XMLScanner.Failure) -> [UInt8] {
        var result: [UInt8] = []
        var scanner = XMLScanner(value)
        while let byte = scanner.current {
            let start = scanner.index
            if byte == UInt8(ascii: "%") { throw scanner.failure(.refusedEntity("%")) }
            guard scanner.take("&#") else {
                result.append(byte)
                scanner.skip(1)
                continue
            }
            do throws(XMLError.Fault) {
                result += try XMLEntities.character((try? scanner.text(before: ";")) ?? [])
            } catch {
                throw XMLScanner.Failure(fault: error, index: start)
            }
        }
        return result
    }

    private static func skipDeclaration(_ scanner: inout XMLScanner) throws(XMLScanner.Failure) {
        while let byte = scanner.current {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                _ = try scanner.quoted()
                continue
            }
            scanner.skip(1)
            if byte == UInt8(ascii: ">") { return }
        }
        throw scanner.failure(.expected("'>'"))
    }
}
