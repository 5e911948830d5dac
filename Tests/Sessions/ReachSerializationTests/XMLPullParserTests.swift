import ReachSerialization
import ReachTesting
import Testing

@Suite struct XMLPullParserTests {
    /// All events of a document, with adjacent text joined.
    private func events(_ document: [UInt8], pieces: Int? = nil, limits: XMLLimits = XMLLimits()) throws(XMLError)
        -> [XMLEvent]
    {
        var parser = XMLPullParser(limits: limits)
        var events: [XMLEvent] = []
        var rest = document[...]
        if rest.isEmpty { parser.finish() }
        while true {
            while let event = try parser.next() {
                if case .text(let more) = event, case .text(let text) = events.last {
                    events[events.count - 1] = .text(text + more)
                } else {
                    events.append(event)
                }
            }
            if rest.isEmpty { return events }
            parser.append(Array(rest.prefix(pieces ?? document.count)))
            rest = rest.dropFirst(pieces ?? document.count)
            if rest.isEmpty { parser.finish() }
        }
    }

    private func events(_ text: String, limits: XMLLimits = XMLLimits()) throws(XMLError) -> [XMLEvent] {
        try events(Array(text.utf8), limits: limits)
    }

    private static func element(_ content: XMLEvent..., attributes: [(String, String)] = []) -> [XMLEvent] {
        [.start(name: "a", attributes: attributes.map { XMLAttribute(name: $0.0, value: $0.1) })] + content + [
            .end(name: "a")
        ]
    }

    @Test(
        arguments: [
            ("<a/>", element()), ("<a></a>", element()), ("<a ></a >", element()), (" \n<a/>\t\r\n", element()),
            ("<?xml version=\"1.0\"?><a/>", element()),
            ("<?xml version='1.0' encoding='utf-8' standalone='yes'?>\n<a/>", element()),
            ("<a>text</a>", element(.text("text"))), ("<a>é😀\u{2028}</a>", element(.text("é😀\u{2028}"))),
            ("<a>1\r\n2\r3\n4\r\r\n</a>", element(.text("1\n2\n3\n4\n\n"))),
            ("<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#x1F600;</a>", element(.text("<>&\"'AB😀"))),
            ("<a>&#13;&#10;</a>", element(.text("\r\n"))),
            ("<a><![CDATA[<&]] >]]]]></a>", element(.text("<&]] >]]"))), ("<a><![CDATA[]]></a>", element()),
            ("<a>x<![CDATA[ ]]>y</a>", element(.text("x y"))), ("<a>]]&gt;]>] ></a>", element(.text("]]>]>] >"))),
            ("<a><!-- - > & < --></a>", element(.comment(" - > & < "))),
            ("<a><?p?></a>", element(.instruction(target: "p", data: ""))),
            ("<a><?p  x > ?></a>", element(.instruction(target: "p", data: "x > "))),
            ("<a b='1' c:d = \"2\"\n e='>'/>", element(attributes: [("b", "1"), ("c:d", "2"), ("e", ">")])),
            ("<a b=' x\t\r\ny&#9;\"&#10;'/>", element(attributes: [("b", " x  y\t\"\n")])),
            (
                "<a><a><a/></a></a>",
                [.start(name: "a", attributes: [])] + element(.start(name: "a", attributes: []), .end(name: "a")) + [
                    .end(name: "a")
                ]
            ),
            ("<!DOCTYPE a><a/>", element()), ("<!DOCTYPE a SYSTEM 'http://x/>'><a/>", element()),
            ("<!DOCTYPE a PUBLIC \"p\" 'http://x/'><a/>", element()),
            (
                "<!DOCTYPE a [ <!ELEMENT a (#PCDATA)> <!ATTLIST a b CDATA '>]'> <!-- ' ]> --> <?p ]> ?> <!NOTATION n SYSTEM 's'> ]><a/>",
                element()
            ),
            ("<!DOCTYPE a [<!ENTITY e 'x&#38;#38;&amp;y'><!ENTITY e 'second'>]><a>&e;</a>", element(.text("x&&y"))),
            (
                "<!DOCTYPE a [<!ENTITY e \"1&f;3\"><!ENTITY f '2'>]><a b='&e;'>&e;&f;</a>",
                element(.text("1232"), attributes: [("b", "123")])
            ),
            ("<!DOCTYPE a [<!ENTITY % p 'x'><!ENTITY e SYSTEM 'file:///etc/passwd'>]><a/>", element()),
        ] as [(String, [XMLEvent])])
    func `a document gives the same events in pieces of any size`(text: String, expected: [XMLEvent]) throws {
        let bytes = Array(text.utf8)
        #expect(try events(bytes) == expected)
        for size in [1, 2, 3, 5, 16] { #expect(try events(bytes, pieces: size) == expected) }
    }

    @Test(
        arguments: [
            ("", "an element"), (" ", "an element"), ("<a>", "the end of 'a'"), ("<a", "the end of the markup"),
            ("<a/>x", nil),
            ("x<a/>", nil), ("<a/><b/>", nil), ("</a>", nil), ("<a></b>", nil), ("<a></a></a>", nil),
            ("<a b></a>", nil),
            ("<a b=c></a>", nil), ("<a b='1'c='2'/>", nil), ("<a b='1' b='2'/>", nil), ("<a b='<'/>", nil),
            ("<a b='&'/>", nil), ("<a>&</a>", nil), ("<a>& b;</a>", nil),
            ("<a>&none;</a>", nil), ("<a>&#0;</a>", nil), ("<a>&#x110000;</a>", nil), ("<a>&#xD800;</a>", nil),
            ("<a>&#;</a>", nil), ("<a>&#x;</a>", nil), ("<a>&#+5;</a>", nil), ("<a>&#11;</a>", nil),
            ("<a>]]></a>", nil),
            ("<a>\u{1}</a>", nil), ("<a>\u{fffe}</a>", nil), ("<a b='\u{0}'/>", nil), ("<a><!-- -- --></a>", nil),
            ("<a><!-- ---></a>", nil), ("<a><![CDATA[</a>", "']]>'"), ("<![CDATA[x]]><a/>", nil),
            ("<a><!DOCTYPE a></a>", nil),
            ("<!DOCTYPE a><!DOCTYPE a><a/>", nil), ("<1a/>", nil), ("<-a/>", nil), ("<a.b\u{d7}/>", nil),
            ("< a/>", nil), ("<a / >", nil), (" <?xml version='1.0'?><a/>", nil), ("<a><?xml?></a>", nil),
            ("<?xml?><a/>", nil), ("<?xml version='2.0'?><a/>", nil), ("<?xml encoding='utf-8'?><a/>", nil),
            ("<?xml version='1.0' standalone='maybe'?><a/>", nil),
            ("<?xml version='1.0'encoding='utf-8'?><a/>", nil),
            ("<?XML version='1.0'?><a/>", nil), ("<?xml version='1.0' encoding='utf-7'?><a/>", nil),
            ("<a><?1?></a>", nil),
            ("<!DOCTYPE><a/>", nil), ("<!DOCTYPE a [", "the end of the markup"),
            ("<!DOCTYPE a [<!OTHER>]><a/>", nil),
            ("<!DOCTYPE a [%p;]><a/>", nil), ("<!ELEMENT a><a/>", nil),
            ("<!DOCTYPE a SYSTEM><a/>", nil),
        ] as [(String, String?)])
    func `a malformed document is rejected in pieces of any size`(text: String, expected: String?) {
        let bytes = Array(text.utf8)
        let error = #expect(throws: XMLError.self) { try events(bytes) }
        if let expected { #expect(error?.fault == .expected(expected)) }
        for size in [1, 3] { #expect(throws: XMLError.self) { try events(bytes, pieces: size) } }
    }

    @Test func `an error has its line`() {
        let error = #expect(throws: XMLError.self) { try events("<a>\n<b>\n\n</c></a>") }
        #expect(error?.fault == .mismatchedEnd(of: "b", found: "c") && error?.offset == 9 && error?.line == 4)
        #expect(error?.description == "line 4: the end of 'b' expected, not of 'c'")
    }

    @Test func `an error is thrown again by further calls, whatever follows`() {
        var parser = XMLPullParser(Array("<a></b></a>".utf8))
        _ = try? parser.next()
        let first = #expect(throws: XMLError.self) { try parser.next() }
        for _ in 0..<3 {
            parser.append(Array("<c/>".utf8))
            let again = #expect(throws: XMLError.self) { try parser.next() }
            #expect(again == first && again?.line == 1)
        }
    }

    @Test func `a copy of a parser with a whole document continues independently`() throws {
        let text = "<a>" + String(repeating: "<b>text\n</b>", count: 20_000) + "</a>"
        var parser = XMLPullParser(Array(text.utf8))
        for _ in 0..<20_000 { _ = try parser.next() }
        var copy = parser
        var rest: [XMLEvent] = []
        while let event = try parser.next() { rest.append(event) }
        var restOfCopy: [XMLEvent] = []
        while let event = try copy.next() { restOfCopy.append(event) }
        #expect(rest == restOfCopy && rest.last == .end(name: "a") && rest.count >= 40_002)
        #expect(try copy.next() == nil)
    }

    @Test func `an unsupported encoding in the head is an error`() throws {
        var unknown = XMLPullParser(Array("<a/>".utf8), characterSet: "windows-1251")
        let error = #expect(throws: XMLError.self) { try unknown.next() }
        #expect(error?.fault == .unknownEncoding("windows-1251"))
        var marked = XMLPullParser([0xef, 0xbb, 0xbf] + Array("<a/>".utf8), characterSet: "windows-1251")
        #expect(try marked.next() == .start(name: "a", attributes: []))
        var utf16 = XMLPullParser(EncodedText.utf16BigEndian.bytes("<a/>"), characterSet: "utf-16")
        #expect(try utf16.next() == .start(name: "a", attributes: []))
    }

    @Test func `names are compared as bytes`() throws {
        #expect(throws: XMLError.self) { try events("<\u{e9}></e\u{301}>") }
        #expect(throws: XMLError.self) { try events("<!DOCTYPE a [<!ENTITY \u{e9} ''>]><a>&e\u{301};</a>") }
        let read = try events("<a \u{e9}='1' e\u{301}='2'/>")
        guard case .start(_, let attributes) = read.first else {
            Issue.record("no element")
            return
        }
        #expect(attributes.map(\.value) == ["1", "2"])
    }

    // MARK: - Attacks

    @Test func `the expansion of nested entities is limited`() {
        var declarations = "<!ENTITY l0 'lol'>"
        for level in 1...9 {
            declarations += "<!ENTITY l\(level) '" + String(repeating: "&l\(level - 1);", count: 10) + "'>"
        }
        for level in [4, 6, 9] {
            #expect(throws: XMLError.self) { try events("<!DOCTYPE a [\(declarations)]><a>&l\(level);</a>") }
        }
        let error = #expect(throws: XMLError.self) { try events("<!DOCTYPE a [\(declarations)]><a>&l6;</a>") }
        #expect(error?.fault == .limit("entities may come to"))
    }

    @Test func `the expansion of one long entity used often is limited`() {
        let entity = "<!DOCTYPE a [<!ENTITY e '" + String(repeating: "x", count: 10_000) + "'>]>"
        #expect(throws: XMLError.self) { try events(entity + "<a>" + String(repeating: "&e;", count: 1_000) + "</a>") }
    }

    @Test(arguments: [
        ("<!ENTITY e SYSTEM 'file:///etc/passwd'>", XMLError.Fault.externalEntity("e")),
        ("<!ENTITY e PUBLIC 'p' 'http://example.com/'>", .externalEntity("e")),
        ("<!ENTITY e '<b/>'>", .refusedEntity("e")), ("<!ENTITY e '&#60;b/>'>", .refusedEntity("e")),
        ("<!ENTITY e '&e;'>", .refusedEntity("e")), ("<!ENTITY e '&f;'><!ENTITY f '&e;'>", .refusedEntity("e")),
        ("<!ENTITY e '&f;'>", .unknownEntity("f")), ("<!ENTITY e '&#38;'>", .refusedEntity("e")),
    ])
    func `external, element and recursive entities are rejected where they are used`(
        declarations: String, fault: XMLError.Fault
    ) {
        for use in ["<a>&e;</a>", "<a b='&e;'/>"] {
            let error = #expect(throws: XMLError.self) { try events("<!DOCTYPE a [\(declarations)]>\(use)") }
            #expect(error?.fault == fault)
        }
    }

    @Test func `an entity of another document is unknown in text and in attributes`() {
        for use in ["<a>&e;</a>", "<a b='&e;'/>"] {
            let error = #expect(throws: XMLError.self) { try events("<!DOCTYPE a SYSTEM 'http://x/'>\(use)") }
            #expect(error?.fault == .unknownEntity("e"))
        }
    }

    @Test func `a reference among the declarations is rejected`() {
        #expect(throws: XMLError.self) { try events("<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://x/'> %p;]><a/>") }
        #expect(throws: XMLError.self) { try events("<!DOCTYPE a [<!ENTITY e '%p;'>]><a/>") }
    }

    @Test func `depth, attributes, markup and declarations are limited`() throws {
        var limits = XMLLimits()
        limits.depth = 3
        #expect(try events("<a><a><a/></a></a>", limits: limits).count == 6)
        #expect(throws: XMLError.self) { try events("<a><a><a><a/></a></a></a>", limits: limits) }
        limits.attributes = 2
        #expect(throws: XMLError.self) { try events("<a b='' c='' d=''/>", limits: limits) }
        limits.markupBytes = 20
        #expect(throws: XMLError.self) { try events("<a b='0123456789012345'/>", limits: limits) }
        #expect(throws: XMLError.self) { try events("<a><!--" + String(repeating: "x", count: 30), limits: limits) }
        let entities = (0..<300).map { "<!ENTITY e\($0) ''>" }.joined()
        #expect(throws: XMLError.self) { try events("<!DOCTYPE a [\(entities)]><a/>") }
    }

    @Test func `endless text arrives in pieces, and uses no more memory than a piece`() throws {
        var parser = XMLPullParser()
        parser.append(Array("<a>".utf8))
        var count = 0
        let piece = Array(String(repeating: "é line\r\n", count: 1_000).utf8)
        for _ in 0..<500 {
            parser.append(piece)
            while let event = try parser.next() {
                if case .text(let text) = event { count += text.utf8.count }
            }
        }
        parser.append(Array("</a>".utf8))
        parser.finish()
        while let event = try parser.next() {
            if case .text(let text) = event { count += text.utf8.count }
        }
        #expect(count == 500 * 1_000 * 8)
    }

    @Test func `parsing a tag byte by byte takes time linear in its length`() throws {
        let value = String(repeating: "v", count: 50_000)
        let expected = Self.element(attributes: [("b", value)])
        #expect(try events(Array("<a b='\(value)'/>".utf8), pieces: 1) == expected)
    }

    // MARK: - Encodings

    @Test(
        arguments: EncodedText.allCases,
        ["", "<?xml version='1.0'?>", "\u{feff}<?xml version='1.0' encoding='UTF-16'?>"])
    func `UTF-8, UTF-16 and UTF-32 are decoded in pieces of any size`(encoding: EncodedText, start: String) throws {
        if encoding == .utf8, start.contains("UTF-16") { return }
        let bytes = encoding.bytes(start + "<a>é😀</a>")
        for size in [1, 3, 100] { #expect(try events(bytes, pieces: size) == Self.element(.text("é😀"))) }
    }

    @Test(arguments: ["iso-8859-1", "ISO-8859-1", "latin1"])
    func `ISO 8859-1 is decoded if the document declares it`(name: String) throws {
        let bytes = Array("<?xml version='1.0' encoding='\(name)'?><a>".utf8) + [0xe4, 0xff] + Array("</a>".utf8)
        for size in [1, 7, 100] { #expect(try events(bytes, pieces: size) == Self.element(.text("äÿ"))) }
    }

    @Test(
        arguments: [
            [0x3c, 0x61, 0x3e, 0xe4, 0x3c, 0x2f, 0x61, 0x3e], [0x3c, 0xc3, 0x28, 0x2f, 0x3e],
            [0xfe, 0xff, 0x00, 0x3c, 0x00, 0x61, 0x00, 0x2f, 0x00, 0x3e, 0x00],
            [0x3c, 0x61, 0x20, 0x62, 0x3d, 0x27, 0xff, 0x27, 0x2f, 0x3e],
        ] as [[UInt8]])
    func `bytes invalid in the encoding are rejected`(bytes: [UInt8]) {
        for size in [1, 100] {
            let error = #expect(throws: XMLError.self) { try events(bytes, pieces: size) }
            #expect(error?.fault == .badEncoding)
        }
    }

    @Test func `random bytes give the same result in pieces of any size`() {
        var generator = SeededGenerator(seed: 11)
        let parts = [
            "<a>", "</a>", "<a/>", "<b c='d'>", "</b>", "text", "&lt;", "&#65;", "]]>", "<![CDATA[", "<!--", "-->",
            "<?p", "?>",
            "\r", "\n", " ", "é", "😀", "\u{0}", "&", ";", "<", ">", "'", "\"", "<!DOCTYPE a [", "]", "<!ENTITY e 'f'>",
            "&e;",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 1...12, using: &generator)).map { _ in generator.pick(parts) }.joined()
            let bytes = Array((generator.oneIn(2) ? "<a>\(text)</a>" : text).utf8)
            let whole = try? events(bytes)
            #expect((try? events(bytes, pieces: Int.random(in: 1...4, using: &generator))) == whole, "\(text)")
        }
    }
}
