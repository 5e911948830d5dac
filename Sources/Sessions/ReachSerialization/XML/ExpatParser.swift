internal import CExpat
internal import ReachCore

/// A wrapper of expat's parser for one document in UTF-8. This is the only file that calls expat.
///
/// It is used by one thread at a time. expat expands entities in attributes and bounds them by its own rule.
/// ``XMLEntities`` expands those in text and applies all other limits.
final class ExpatParser {
    /// expat's own limit on the expansion of entities, as a second line of defence: output of this many bytes, at this
    /// many times the input.
    private static let amplification: (bytes: UInt64, factor: Float) = (1 << 20, 8)

    private let handle: XML_Parser
    private let limits: XMLLimits
    private let declaredEncoding: String?
    private var entities: XMLEntities
    private var result = XMLReading.Result()
    /// The first fault. Parsing stops there.
    private var failure: XMLError?
    private var openElements: [String] = []
    private var readBytes = 0
    /// The offset of the document type while it is being parsed.
    private var documentTypeStart: Int?
    private var hasDocumentType = false

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - isUTF8: Whether the encoding is certain. Otherwise the declaration names an unsupported encoding, or none.
    ///   - declaredEncoding: The declared encoding, for errors.
    init(isUTF8: Bool, declaredEncoding: String?, limits: XMLLimits) {
        guard let handle = XML_ParserCreate(isUTF8 ? "UTF-8" : nil) else { fatalError("out of memory") }
        self.handle = handle
        self.limits = limits
        self.declaredEncoding = declaredEncoding
        entities = XMLEntities(byteLimit: limits.entityBytes)
        // The parser lives no longer than this object.
        XML_SetUserData(handle, Unmanaged.passUnretained(self).toOpaque())
        XML_SetBillionLaughsAttackProtectionActivationThreshold(handle, Self.amplification.bytes)
        XML_SetBillionLaughsAttackProtectionMaximumAmplification(handle, Self.amplification.factor)
        setContentHandlers()
        setDocumentTypeHandlers()
    }

    deinit { XML_ParserFree(handle) }

    /// The bytes that expat buffers because the end of a tag has not arrived.
    var heldBytes: Int { max(0, readBytes - offset) }

    /// Parses `bytes`, and returns the events up to their end or up to the first fault.
    func read(_ bytes: [UInt8], isLast: Bool) -> XMLReading.Result {
        if let failure { return XMLReading.Result(error: failure) }
        readBytes += bytes.count
        // Callers pass far less than 2 GiB: see `XMLPullParser.partBytes`.
        let status = bytes.withUnsafeBytes { buffer in
            XML_Parse(
                handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count), isLast ? 1 : 0)
        }
        if failure == nil, status != XML_STATUS_OK { failure = expatError() }
        if failure == nil, !isLast, heldBytes > limits.markupBytes || isDocumentTypeTooLong(to: readBytes) {
            failure = error(.limit("\(limits.markupBytes) bytes of markup"))
        }
        defer { result = XMLReading.Result() }
        result.error = failure
        return result
    }

    /// An error at expat's current position.
    func error(_ fault: XMLError.Fault, before: Int = 0) -> XMLError {
        XMLError(fault: fault, offset: offset - before, line: line)
    }

    private var offset: Int { max(0, XML_GetCurrentByteIndex(handle)) }
    private var line: Int { Int(XML_GetCurrentLineNumber(handle)) }

    // MARK: - Content

    private static func of(_ data: UnsafeMutableRawPointer?) -> ExpatParser? {
        data.map { Unmanaged<ExpatParser>.fromOpaque($0).takeUnretainedValue() }
    }

    private func setContentHandlers() {
        XML_SetElementHandler(
            handle, { data, name, attributes in ExpatParser.of(data)?.start(name, attributes) },
            { data, name in ExpatParser.of(data)?.end(name) })
        XML_SetCharacterDataHandler(handle) { data, text, count in
            ExpatParser.of(data)?.append(UnsafeRawBufferPointer(start: text, count: Int(count)))
        }
        XML_SetCommentHandler(handle) { data, text in
            ExpatParser.of(data)?.appendMarkup { .comment(ExpatParser.string(text)) }
        }
        XML_SetProcessingInstructionHandler(handle) { data, target, text in
            ExpatParser.of(data)?.appendMarkup {
                .instruction(target: ExpatParser.string(target), data: ExpatParser.string(text))
            }
        }
        XML_SetXmlDeclHandler(handle) { data, version, _, _ in
            guard let version, !ExpatParser.string(version).hasUTF8Prefix("1.") else { return }
            ExpatParser.of(data)?.fail(.unexpected("a version other than 1.0"))
        }
    }

    private static func string(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

    private func fail(_ fault: XMLError.Fault) {
        guard failure == nil else { return }
        failure = error(fault)
        XML_StopParser(handle, 0)
    }

    private func start(
        _ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        guard openElements.count < limits.depth else { return fail(.limit("\(limits.depth) levels")) }
        // Default attributes from the document type follow those of the element itself.
        let count = Int(XML_GetSpecifiedAttributeCount(handle)) / 2
        guard count <= limits.attributes else { return fail(.limit("\(limits.attributes) attributes")) }
        if hasDocumentType, let fault = referenceFault(length: Int(XML_GetCurrentByteCount(handle))) {
            return fail(fault)
        }
        let read = (0..<count).map { index in
            XMLAttribute(
                name: ExpatParser.string(attributes?[index * 2]), value: ExpatParser.string(attributes?[index * 2 + 1]))
        }
        let name = ExpatParser.string(name)
        openElements.append(name)
        appendMarkup { .start(name: name, attributes: read) }
    }

    private func end(_ name: UnsafePointer<CChar>?) {
        appendMarkup { .end(name: openElements.popLast() ?? "") }
    }

    private func appendMarkup(_ event: () -> XMLEvent) {
        // expat may call handlers after it was stopped, and comments within the document type are not reported.
        guard failure == nil, documentTypeStart == nil else { return }
        guard XML_GetCurrentByteCount(handle) <= limits.markupBytes else {
            return fail(.limit("\(limits.markupBytes) bytes of markup"))
        }
        result.events.append(XMLReading.PlacedEvent(event: event(), line: line))
    }

    /// Appends text. expat reports each line separately: they are joined into one event.
    private func append(_ text: some Collection<UInt8>) {
        guard failure == nil else { return }
        let more = String(decoding: text, as: UTF8.self)
        if let last = result.events.indices.last, case .text(var joined) = result.events[last].event {
            result.events[last].event = .comment("")  // Releases the text, so that appending does not copy it.
            joined += more
            result.events[last] = XMLReading.PlacedEvent(event: .text(joined), line: line)
        } else if !more.isEmpty {
            result.events.append(XMLReading.PlacedEvent(event: .text(more), line: line))
        }
    }

    // MARK: - Document type

    private func setDocumentTypeHandlers() {
        XML_SetDoctypeDeclHandler(
            handle,
            { data, _, _, _, _ in
                guard let parser = ExpatParser.of(data) else { return }
                parser.documentTypeStart = parser.offset
                parser.hasDocumentType = true
            },
            { data in ExpatParser.of(data)?.endDocumentType() })
        XML_SetEntityDeclHandler(handle) { data, name, isParameter, value, count, _, system, _, _ in
            // Parameter entities are only used among the declarations, where references to them are rejected.
            guard isParameter == 0 else { return }
            let text = value.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(count))) }
            ExpatParser.of(data)?.declare(ExpatParser.string(name), text.map { .text($0) } ?? .external)
        }
        // With a default handler set, expat passes entities in text to this handler.
        XML_SetSkippedEntityHandler(handle) { data, name, isParameter in
            ExpatParser.of(data)?.expand(Array(ExpatParser.string(name).utf8), isParameter: isParameter != 0)
        }
        XML_SetExternalEntityRefHandlerArg(handle, Unmanaged.passUnretained(self).toOpaque())
        XML_SetExternalEntityRefHandler(handle) { handle, context, _, _, _ in
            // The context holds the names of the open entities; without namespace handlers it has nothing else.
            let name = ExpatParser.string(context).split(scalar: "\u{c}").last.map(String.init) ?? ""
            // expat passes the argument set above in place of the parser.
            ExpatParser.of(handle.map { UnsafeMutableRawPointer($0) })?.fail(.externalEntity(name))
            return Int32(XML_STATUS_ERROR.rawValue)
        }
        XML_SetDefaultHandler(handle) { data, text, count in
            // Rejects a reference among the declarations.
            guard let text, count > 1, text[0] == CChar(UInt8(ascii: "%")) else { return }
            guard let parser = ExpatParser.of(data), parser.documentTypeStart != nil else { return }
            parser.fail(.refusedEntity("%"))
        }
    }

    private func isDocumentTypeTooLong(to end: Int) -> Bool {
        documentTypeStart.map { end - $0 > limits.markupBytes } ?? false
    }

    private func endDocumentType() {
        if isDocumentTypeTooLong(to: offset) { fail(.limit("\(limits.markupBytes) bytes of markup")) }
        documentTypeStart = nil
    }

    private func declare(_ name: String, _ declaration: XMLEntities.Declaration) {
        do throws(XMLError.Fault) {
            try entities.declare(name, declaration)
        } catch {
            fail(error)
        }
    }

    private func expand(_ name: [UInt8], isParameter: Bool) {
        guard !isParameter else { return fail(.refusedEntity("%")) }
        do throws(XMLError.Fault) {
            append(try entities.text(of: name[...], inAttribute: false))
        } catch {
            fail(error)
        }
    }

    // MARK: - Faults

    /// The document from expat's current position, as far as expat still buffers it.
    private func input(length: Int = .max) -> [UInt8] {
        var (offset, size): (Int32, Int32) = (0, 0)
        guard let buffer = XML_GetInputContext(handle, &offset, &size), offset < size else { return [] }
        let count = min(length, Int(size - offset))
        return Array(UnsafeRawBufferPointer(start: buffer + Int(offset), count: count))
    }

    /// The fault of the entities to which a tag refers. expat expands them without calling a handler.
    private func referenceFault(length: Int = .max) -> XMLError.Fault? {
        var rest = input(length: length)[...]
        while let mark = rest.firstIndex(of: UInt8(ascii: "&")),
            let end = rest[mark...].firstIndex(of: UInt8(ascii: ";"))
        {
            do throws(XMLError.Fault) {
                _ = try entities.text(of: rest[(mark + 1)..<end], inAttribute: true)
            } catch {
                return error
            }
            rest = rest[(end + 1)...]
        }
        return nil
    }

    private func expatError() -> XMLError {
        let code = XML_GetErrorCode(handle)
        switch code {
        case XML_ERROR_NO_ELEMENTS where documentTypeStart != nil: return error(.expected("the end of the markup"))
        case XML_ERROR_NO_ELEMENTS:
            return error(.expected(openElements.last.map { "the end of '\($0)'" } ?? "an element"))
        case XML_ERROR_UNCLOSED_TOKEN: return error(.expected("the end of the markup"))
        case XML_ERROR_UNCLOSED_CDATA_SECTION: return error(.expected("']]>'"))
        case XML_ERROR_TAG_MISMATCH:
            return error(.mismatchedEnd(of: openElements.last ?? "", found: nameHere()), before: 2)
        case XML_ERROR_DUPLICATE_ATTRIBUTE: return error(.duplicateAttribute(nameHere()))
        case XML_ERROR_JUNK_AFTER_DOC_ELEMENT: return error(.unexpected("more after the root"))
        case XML_ERROR_MISPLACED_XML_PI: return error(.unexpected("an XML declaration"))
        case XML_ERROR_PARAM_ENTITY_REF: return error(.refusedEntity("%"))
        case XML_ERROR_UNKNOWN_ENCODING, XML_ERROR_INCORRECT_ENCODING:
            return error(.unknownEncoding(declaredEncoding ?? ""))
        case XML_ERROR_AMPLIFICATION_LIMIT_BREACH: return error(.limit("entities may come to"))
        case XML_ERROR_PARTIAL_CHAR: return error(.badEncoding)
        case XML_ERROR_INVALID_TOKEN where !isEncodedHere(): return error(.badEncoding)
        case XML_ERROR_INVALID_TOKEN, XML_ERROR_RECURSIVE_ENTITY_REF, XML_ERROR_ATTRIBUTE_EXTERNAL_ENTITY_REF,
            XML_ERROR_UNDEFINED_ENTITY:
            return error(tagReferenceFault() ?? .unexpected(ExpatParser.string(XML_ErrorString(code))))
        default: return error(.unexpected(ExpatParser.string(XML_ErrorString(code))))
        }
    }

    /// The fault of the entities in the tag, or of the single reference, at which expat stopped.
    private func tagReferenceFault() -> XMLError.Fault? {
        let here = input()
        return referenceFault(length: here.firstIndex(of: UInt8(ascii: ">")) ?? here.count)
    }

    private func nameHere() -> String {
        let end = " \t\r\n/>='\"".utf8
        return String(decoding: input(length: 1024).prefix { !end.contains($0) }, as: UTF8.self)
    }

    private func isEncodedHere() -> Bool {
        guard let first = input(length: 1).first, first >= 0x80 else { return true }
        var decoder = UTF8()
        var bytes = input(length: 4).makeIterator()
        if case .scalarValue = decoder.decode(&bytes) { return true }
        return false
    }
}
