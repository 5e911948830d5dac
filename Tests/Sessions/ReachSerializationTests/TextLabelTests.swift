import ReachSerialization
import Testing

/// Texts in the encodings that browsers know, by the names that servers send. The expected texts are those of ICU.
struct TextLabelTests {
    /// A text in each encoding, with the C library's name of it.
    private static let rows: [(decoder: String, labels: String, bytes: [UInt8], text: String)] = [
        ("UTF-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8", [0xc3, 0xa4], "ä"),
        ("IBM866", "866 cp866 csibm866 ibm866", [0xf0, 0xdb], "Ё█"),
        ("ISO-8859-2", "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 latin2 l2 iso_8859-2:1987", [0xb1, 0xe8], "ąč"),
        ("ISO-8859-3", "csisolatin3 iso-8859-3 latin3 l3", [0xa1, 0xb1], "Ħħ"),
        ("ISO-8859-4", "csisolatin4 iso-8859-4 latin4 l4", [0xa2, 0xb1], "ĸą"),
        ("ISO-8859-5", "cyrillic iso-8859-5 iso88595", [0xb0, 0xf1], "Аё"),
        ("ISO-8859-6", "arabic asmo-708 csiso88596e csiso88596i ecma-114 iso-8859-6-i", [0xc7, 0xe4], "ال"),
        ("ISO-8859-7", "greek greek8 elot_928 sun_eu_greek iso-8859-7", [0xe1, 0xa4], "α€"),
        ("ISO-8859-8", "hebrew visual logical iso-8859-8-i csiso88598i", [0xe0, 0xf9], "אש"),
        ("ISO-8859-10", "latin6 l6 iso-8859-10", [0xa1, 0xbd], "Ą―"),
        ("ISO-8859-13", "iso-8859-13 iso885913", [0xa1, 0xe0], "”ą"),
        ("ISO-8859-14", "iso-8859-14 iso885914", [0xa1, 0xf0], "Ḃŵ"),
        ("ISO-8859-15", "l9 iso-8859-15 csisolatin9", [0xa4, 0xbd], "€œ"),
        ("ISO-8859-16", "iso-8859-16", [0xa4, 0xfe], "€ț"),
        ("KOI8-R", "koi koi8 koi8-r koi8_r cskoi8r", [0xf0, 0xd2], "Пр"),
        ("KOI8-U", "koi8-u koi8-ru", [0xa4, 0xa7], "єї"),
        ("MACINTOSH", "mac macintosh x-mac-roman csmacintosh", [0x8a, 0xdb], "ä€"),
        ("WINDOWS-874", "dos-874 tis-620 windows-874 iso-8859-11", [0x80, 0xa1, 0x81], "€ก\u{81}"),
        ("CP1250", "cp1250 windows-1250 x-cp1250", [0x8a, 0xe8, 0x81], "Šč\u{81}"),
        ("CP1251", "cp1251 windows-1251 x-cp1251", [0xcf, 0xf0, 0xe8, 0x98], "При\u{98}"),
        (
            "CP1252", "ansi_x3.4-1968 ascii us-ascii iso-8859-1 latin1 l1 iso_8859-1:1987 windows-1252 cp819",
            [0x80, 0x93, 0xe9, 0x9d], "€“é\u{9d}"
        ),
        ("CP1253", "cp1253 windows-1253", [0xc1, 0xaa, 0x81], "Α\u{fffd}\u{81}"),
        ("CP1254", "latin5 l5 iso-8859-9 windows-1254", [0xfd, 0x80], "ı€"),
        ("CP1255", "cp1255 windows-1255", [0xe0, 0x80], "א€"),
        ("CP1256", "cp1256 windows-1256", [0xc7, 0x80], "ا€"),
        ("CP1257", "cp1257 windows-1257", [0xe0, 0x80], "ą€"),
        ("CP1258", "cp1258 windows-1258", [0x65, 0xec, 0x20, 0xfe], "e\u{301} ₫"),
        ("MAC-CYRILLIC", "x-mac-cyrillic x-mac-ukrainian", [0x80, 0xdf], "Ая"),
        (
            "GB18030", "gb2312 gbk gb_2312-80 x-gbk chinese gb18030", [0xc4, 0xe3, 0xba, 0xc3, 0x95, 0x32, 0x82, 0x36],
            "你好𠀀"
        ),
        ("BIG5-HKSCS", "big5 cn-big5 csbig5 big5-hkscs", [0xa7, 0x41, 0xa6, 0x6e], "你好"),
        ("EUC-JP-MS", "euc-jp x-euc-jp", [0xc6, 0xfc, 0xcb, 0xdc, 0x8e, 0xb6], "日本ｶ"),
        ("ISO-2022-JP-3", "iso-2022-jp csiso2022jp", [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42, 0x61], "日a"),
        ("CP932", "shift_jis shift-jis sjis ms932 windows-31j x-sjis", [0x93, 0xfa, 0xb6, 0x87, 0x40], "日ｶ①"),
        ("UHC", "euc-kr korean ks_c_5601-1987 windows-949", [0xc7, 0xd1, 0xb1, 0xb9], "한국"),
        ("UTF-16BE", "utf-16be unicodefffe", [0x04, 0x3f, 0x04, 0x40], "пр"),
        ("UTF-16LE", "utf-16 utf-16le unicode ucs-2 unicodefeff", [0x3f, 0x04, 0x40, 0x04], "пр"),
    ]

    @Test(arguments: rows.indices) func `a text is read by each name of its encoding`(index: Int) {
        let row = Self.rows[index]
        for label in row.labels.split(separator: " ").map(String.init) {
            #expect(TextLabel.decoder(of: label) == row.decoder, "\(label)")
            for name in [label, label.uppercased(), " \(label)\t"] {
                // The C library composes a letter and its mark.
                #expect(TextLabel.text(of: row.bytes, label: name) == row.text, "\(name)")
            }
        }
    }

    @Test func `bytes without a meaning are replaced, and long texts are read whole`() {
        #expect(TextLabel.text(of: [0x61, 0xff, 0x62], label: "shift_jis") == "a\u{fffd}b")
        #expect(TextLabel.text(of: [0x93], label: "shift_jis") == "\u{fffd}")
        #expect(TextLabel.text(of: [], label: "koi8-r")?.isEmpty == true)
        let long = [UInt8](repeating: 0xf0, count: 100_000)
        #expect(TextLabel.text(of: long, label: "koi8-r") == String(repeating: "П", count: 100_000))
    }

    @Test func `a mark counts more than a name, and what is unknown is UTF-8`() {
        #expect(TextLabel.text(of: [0xef, 0xbb, 0xbf, 0xc3, 0xa4], label: "windows-1251") == "ä")
        #expect(TextLabel.text(of: [0xfe, 0xff, 0x04, 0x3f], label: "utf-8") == "п")
        #expect(TextLabel.text(of: [0xc3, 0xa4], label: nil) == "ä")
        #expect(TextLabel.text(of: [0xc3, 0xa4], label: "x-unknown") == "ä")
        #expect(TextLabel.text(of: [0xe4], label: "x-unknown") == nil)
        #expect(TextLabel.text(of: [0xe4], label: "utf-8") == nil)
        for label in ["iso-2022-kr", "hz-gb-2312", "replacement"] {
            #expect(TextLabel.text(of: [0x61], label: label) == nil)
        }
    }
}
