/// Checks and escapes the pieces of one URL.
struct URLPartReader {
    private let text: String
    private let slips: URLReference.Slips

    init(_ text: String, _ slips: URLReference.Slips) {
        self.text = text
        self.slips = slips
    }

    // MARK: - Authority

    func authority(_ pieces: URLPieces.Authority) throws(WebAddressError) -> URLReference.Authority {
        let start = offset(pieces.userInformation?.startIndex ?? pieces.host.startIndex)
        var user: String?
        if let piece = pieces.userInformation {
            guard slips == .allowed || !piece.utf8.contains(where: { "@[]".utf8.contains($0) }) else {
                throw WebAddressError(.badHost, at: start)
            }
            user = try escaped(piece, isUser: true)
        }
        guard let port = pieces.portNumber else {
            throw WebAddressError(.badPort, at: offset(pieces.port?.startIndex ?? pieces.host.endIndex))
        }
        if pieces.host.isEmpty, slips == .refused { throw WebAddressError(.noHost, at: start) }
        let host = try host(pieces.host, authorityStart: start)
        return URLReference.Authority(userInformation: user, host: host, port: port)
    }

    private func host(_ piece: Substring, authorityStart: Int) throws(WebAddressError) -> String {
        guard piece.utf8.first != UInt8(ascii: "["), let index = piece.utf8.firstIndex(where: { $0 >= 0x80 }) else {
            try check(host: piece, authorityStart: authorityStart)
            return String(piece)
        }
        do throws(InternationalName.Failure) {
            return try InternationalName.ascii(piece)
        } catch {
            throw WebAddressError(.internationalHost, at: offset(index), detail: error.description)
        }
    }

    private func check(host: Substring, authorityStart: Int) throws(WebAddressError) {
        if host.utf8.first == UInt8(ascii: "[") {
            guard host.utf8.last == UInt8(ascii: "]"), isAddress(host.dropFirst().dropLast()) else {
                throw WebAddressError(.badHost, at: authorityStart)
            }
            return
        }
        // Most hosts have nothing else.
        if host.utf8.allSatisfy(URLCharacters.isUnreserved) { return }
        for index in host.utf8.indices {
            let byte = host.utf8[index]
            if "[]:".utf8.contains(byte) { throw WebAddressError(.badHost, at: authorityStart) }
            if byte == UInt8(ascii: "%") {
                guard host[index...].isEscape else { throw WebAddressError(.badEscape, at: offset(index)) }
            } else if !URLCharacters.isUnreserved(byte), !URLCharacters.isDelimiter(byte) {
                throw badCharacter(at: index)
            }
        }
    }

    /// Whether the text is an IPv6 address, possibly with a zone. RFC 6874 escapes the zone's percent sign, but not all
    /// programs do.
    private func isAddress(_ text: Substring) -> Bool {
        let parts = text.split(scalar: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first, address.unicodeScalars.contains(":"), IPAddress(String(address)) != nil else {
            return false
        }
        guard parts.count > 1 else { return true }
        return !parts[1].isEmpty
            && parts[1].utf8.allSatisfy { URLCharacters.isUnreserved($0) || $0 == UInt8(ascii: "%") }
    }

    // MARK: - The rest

    func path(_ piece: Substring, isAfterAuthority: Bool) throws(WebAddressError) -> String {
        guard isAfterAuthority, piece.utf8.first == UInt8(ascii: "\\") else { return try escaped(piece) }
        guard slips == .allowed else { throw badCharacter(at: piece.startIndex) }
        return "/" + (try escaped(piece.dropFirst()))
    }

    /// The piece, with percent escapes for characters that its part of the URL does not allow.
    func escaped(_ piece: Substring, isUser: Bool = false) throws(WebAddressError) -> String {
        // Most URLs need no escapes.
        guard isUser || piece.utf8.contains(where: { !URLCharacters.isPlain($0) }) else { return String(piece) }
        var bytes: [UInt8] = []
        for index in piece.utf8.indices {
            let byte = piece.utf8[index]
            if byte < 0x20 || byte == 0x7f { throw badCharacter(at: index) }
            if byte == UInt8(ascii: "%") {
                guard slips == .allowed || piece[index...].isEscape else {
                    throw WebAddressError(.badEscape, at: offset(index))
                }
                bytes.append(byte)
            } else if byte == UInt8(ascii: "#"), slips == .refused {
                throw badCharacter(at: index)
            } else if isKept(byte), !isUser || byte != UInt8(ascii: "@") {
                bytes.append(byte)
            } else {
                URLCharacters.appendEscape(of: byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Brackets, braces, "|" and "^" are kept where slips are allowed: curl sends them so, as browsers do in queries,
    /// and a server that checks the signature of a URL compares what was written.
    private func isKept(_ byte: UInt8) -> Bool {
        URLCharacters.isPlain(byte) || slips == .allowed && "[]{}|^".utf8.contains(byte)
    }

    // MARK: - Offsets

    private func offset(_ index: String.Index) -> Int { text.utf8.distance(from: text.startIndex, to: index) }

    private func badCharacter(at index: String.Index) -> WebAddressError {
        WebAddressError(.badCharacter(text.unicodeScalars[index].description), at: offset(index))
    }
}

extension Substring {
    /// Whether it begins with a percent sign and two hexadecimal digits.
    fileprivate var isEscape: Bool {
        utf8.count >= 3 && utf8.dropFirst().prefix(2).allSatisfy { Unicode.Scalar($0).hexDigit != nil }
    }
}
