import ReachCore
import Testing

@Suite struct URLPiecesTests {
    /// Scheme, authority, path, query and fragment; "-" for one that is not there.
    private static func pieces(_ text: String) -> [String] {
        let pieces = URLPieces(text)
        let user = pieces.authority?.userInformation.map { "\($0)@" } ?? ""
        let authority = pieces.authority.map { user + "\($0.host)" + ($0.port.map { ":\($0)" } ?? "") }
        return [
            pieces.scheme.map { "\($0)" }, authority, "\(pieces.path)", pieces.query.map { "\($0)" },
            pieces.fragment.map { "\($0)" },
        ].map { $0 ?? "-" }
    }

    @Test(
        arguments: [
            ("http://a/b?c#d", ["http", "a", "/b", "c", "d"]), ("http://a", ["http", "a", "", "-", "-"]),
            ("", ["-", "-", "", "-", "-"]), ("a", ["-", "-", "a", "-", "-"]), ("//a/b", ["-", "a", "/b", "-", "-"]),
            ("/a:b", ["-", "-", "/a:b", "-", "-"]), ("a:b", ["a", "-", "b", "-", "-"]),
            ("a?b:c", ["-", "-", "a", "b:c", "-"]), ("a#b?c", ["-", "-", "a", "-", "b?c"]),
            ("http:/a", ["http", "-", "/a", "-", "-"]), ("http:/", ["http", "-", "/", "-", "-"]),
            ("http://a\\@b/", ["http", "a", "\\@b/", "-", "-"]), ("http://?#", ["http", "", "", "", ""]),
            ("http://u:p@q@a:1/", ["http", "u:p@q@a:1", "/", "-", "-"]),
            ("http://[::1]:8/", ["http", "[::1]:8", "/", "-", "-"]),
            ("http://[::1]/", ["http", "[::1]", "/", "-", "-"]),
            ("http://a:/", ["http", "a:", "/", "-", "-"]),
        ] as [(String, [String])])
    func `a URL is split at the first of its signs`(text: String, wanted: [String]) {
        #expect(Self.pieces(text) == wanted)
    }

    @Test(
        arguments: [
            ("http://a", UInt16??.some(nil)), ("http://a:", .some(nil)), ("http://a:0", 0), ("http://a:65535", 65_535),
            ("http://a:65536", .none), ("http://a:+1", .none), ("http://a:1x", .none), ("http://[::1]:7", 7),
        ] as [(String, UInt16??)])
    func `a port is a number up to 65535`(text: String, port: UInt16??) {
        #expect(URLPieces(text).authority?.portNumber == .some(port))
    }

    @Test(arguments: [
        ("a:", true), ("Z9+-.:", true), ("9a:", false), (":", false), ("a_b:", false), ("ä:", false), ("a/", false),
    ])
    func `a scheme begins with a letter`(text: String, isGood: Bool) {
        #expect(URLPieces(text).hasGoodScheme == isGood)
    }
}
