internal import Glibc
internal import ReachCore

/// The names of encodings as servers write them: the labels of the WHATWG's Encoding Standard
/// (encoding.spec.whatwg.org, 4.2), as browsers know them, and the decoders of the C library for them.
package enum TextLabel {
    /// Decodes a text by its byte order mark, the positions of zeros, or its label.
    ///
    /// - Parameter label: The name that the server sent; `nil` and unknown ones mean UTF-8.
    /// - Returns: `nil` if it is not in UTF-8, or if its encoding is one that browsers refuse. In other encodings,
    ///   bytes that mean nothing become U+FFFD.
    package static func text(of bytes: [UInt8], label: String?) -> String? {
        let label = label.map { $0.trimmed.lowercased() } ?? ""
        if TextEncoding.detect(bytes) != nil || TextEncoding(named: label).map({ $0 != .latin1 }) ?? false {
            let encoding = TextEncoding(named: label) ?? .utf8
            return String(validating: UTF8Transcoder.utf8(bytes, unlessMarked: encoding), as: UTF8.self)
        }
        guard let decoder = decoders[label] else { return String(validating: bytes, as: UTF8.self) }
        return decoder.isEmpty ? nil : text(of: bytes, decoder: decoder)
    }

    /// The C library's name of the encoding with this label: empty for one that browsers refuse, `nil` for no label.
    package static func decoder(of label: String) -> String? { decoders[label] }

    private static func text(of bytes: [UInt8], decoder: String) -> String? {
        guard let converter = iconv_open("UTF-8", decoder), Int(bitPattern: converter) != -1 else { return nil }
        defer { iconv_close(converter) }
        var input = bytes
        var (text, piece) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        text.reserveCapacity(bytes.count + bytes.count / 2)
        input.withUnsafeMutableBytes { input in
            var start = input.baseAddress?.assumingMemoryBound(to: CChar.self)
            var left = input.count
            var isEnd = false
            while !isEnd {
                // The last call ends a sequence of shifts, or the composition of a letter and its mark.
                isEnd = left == 0
                let error = piece.withUnsafeMutableBytes { output in
                    var end = output.baseAddress?.assumingMemoryBound(to: CChar.self)
                    var room = output.count
                    let result =
                        isEnd
                        ? iconv(converter, nil, nil, &end, &room) : iconv(converter, &start, &left, &end, &room)
                    let error = result == -1 ? errno : 0
                    text += output[..<(output.count - room)]
                    return error
                }
                if error == E2BIG { isEnd = false }
                guard error != 0, error != E2BIG, left > 0, let byte = start else { continue }
                text +=
                    UTF8.encode(replacement(of: UInt8(bitPattern: byte.pointee), in: decoder))
                    ?? UTF8.encodedReplacementCharacter
                start = byte + 1
                left -= 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// What a byte becomes that the C library does not decode. The standard's tables of Windows' encodings have the
    /// control characters of ISO 8859 where Windows has nothing.
    private static func replacement(of byte: UInt8, in decoder: String) -> Unicode.Scalar {
        let isWindows = decoder.hasUTF8Prefix("CP125") || decoder == "WINDOWS-874"
        return isWindows && 0x80...0x9f ~= byte ? Unicode.Scalar(byte) : "\u{fffd}"
    }

    private static let decoders: [String: String] = {
        var decoders: [String: String] = [:]
        for (decoder, labels) in table {
            for label in labels.split(scalar: " ") { decoders[String(label)] = decoder }
        }
        return decoders
    }()

    /// The standard decodes `gbk` as GB18030. UTF-8 and UTF-16 with a byte order are ``TextEncoding``'s.
    private static let table: [(decoder: String, labels: String)] = [
        ("UTF-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"),
        ("IBM866", "866 cp866 csibm866 ibm866"),
        ("ISO-8859-2", "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
        ("ISO-8859-3", "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
        ("ISO-8859-4", "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
        (
            "ISO-8859-5",
            "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
        ),
        (
            "ISO-8859-6",
            "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i "
                + "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
        ),
        (
            "ISO-8859-7",
            "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
                + "iso_8859-7:1987 sun_eu_greek"
        ),
        (
            "ISO-8859-8",
            "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
                + "iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical"
        ),
        ("ISO-8859-10", "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        ("ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"),
        ("ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"),
        ("ISO-8859-15", "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"),
        ("ISO-8859-16", "iso-8859-16"),
        ("KOI8-R", "cskoi8r koi koi8 koi8-r koi8_r"),
        ("KOI8-U", "koi8-ru koi8-u"),
        ("MACINTOSH", "csmacintosh mac macintosh x-mac-roman"),
        ("WINDOWS-874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"),
        ("CP1250", "cp1250 windows-1250 x-cp1250"),
        ("CP1251", "cp1251 windows-1251 x-cp1251"),
        (
            "CP1252",
            "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
                + "iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"
        ),
        ("CP1253", "cp1253 windows-1253 x-cp1253"),
        (
            "CP1254",
            "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
                + "windows-1254 x-cp1254"
        ),
        ("CP1255", "cp1255 windows-1255 x-cp1255"),
        ("CP1256", "cp1256 windows-1256 x-cp1256"),
        ("CP1257", "cp1257 windows-1257 x-cp1257"),
        ("CP1258", "cp1258 windows-1258 x-cp1258"),
        ("MAC-CYRILLIC", "x-mac-cyrillic x-mac-ukrainian"),
        ("GB18030", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030"),
        ("BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
        ("EUC-JP-MS", "cseucpkdfmtjapanese euc-jp x-euc-jp"),
        ("ISO-2022-JP-3", "csiso2022jp iso-2022-jp"),
        ("CP932", "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"),
        (
            "UHC",
            "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949"
        ),
        ("UTF-16BE", "unicodefffe utf-16be"),
        ("UTF-16LE", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le"),
        // Their bytes may hide ASCII from who checks the text.
        ("", "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement"),
    ]
}
