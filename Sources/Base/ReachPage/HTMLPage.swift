internal import ReachCore

/// What the HTML files that reach writes have in common: they are self-contained, and their policy admits no connection
/// and only the styles and scripts that carry the file's random word.
package enum HTMLPage {
    /// The beginning of a file, up to its body.
    ///
    /// - Parameters:
    ///   - nonce: A random word that no writer of the data can know. See ``nonce(_:)``.
    ///   - styles: The page's own styles, which may use the colours of ``palette``.
    ///   - connects: Whether the script may connect to the server that the page came from.
    ///   - isDocument: Whether the page is a document of sections, with ``HTMLStyles`` before its own styles.
    package static func head(
        title: String, nonce: String, styles: some Sequence<UInt8>, isDocument: Bool = true, hasScript: Bool = false,
        connects: Bool = false
    ) -> [UInt8] {
        var output: [UInt8] = []
        func append(_ text: String) { output += text.utf8 }
        append("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n")
        let script = hasScript ? "script-src 'nonce-\(nonce)'; " : ""
        append("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \(script)")
        append(connects ? "connect-src 'self'; " : "")
        append("style-src 'nonce-\(nonce)'; img-src data:; base-uri 'none'; form-action 'none'\">\n")
        append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n")
        append("<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n")
        append("<title>\(escaped(title))</title>\n<style nonce=\"\(nonce)\">\n")
        append(palette)
        if isDocument { append(HTMLStyles.document) }
        output += styles
        append("</style>\n")
        return output
    }

    /// A word for ``head(title:nonce:styles:hasScript:)``: 128 random bits.
    package static func nonce(_ generator: inout some RandomNumberGenerator) -> String {
        let words = (0..<2).map { _ in UInt64.random(in: 0...(.max), using: &generator) }
        return words.map { String($0, radix: 36) }.joined()
    }

    /// A section with a heading. The title may come from outside.
    package static func section(_ id: String, _ title: String, _ body: String) -> String {
        "<section aria-labelledby=\"\(id)\">\n<h2 id=\"\(id)\">\(escaped(title))</h2>\n\(body)</section>\n"
    }

    /// Figures in large type, each with its name. They may come from outside.
    package static func tiles(_ tiles: [(name: String, value: String)]) -> String {
        let items = tiles.map { "<div><dt>\(escaped($0.name))</dt><dd>\(escaped($0.value))</dd></div>" }
        return "<dl class=\"tiles\">" + items.joined() + "</dl>\n"
    }

    /// A text from outside as the content of an element or of a quoted attribute. Control characters, and characters
    /// that reorder or hide text, are shown as on a terminal.
    package static func escaped(_ text: String) -> String {
        let text = DisplayText.sanitized(text)
        guard text.utf8.contains(where: isMarkup) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isMarkup(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        default: false
        }
    }

    /// Colours for light and dark; what is printed is light. Each text has a contrast of at least 4.5 to its ground:
    /// `c0` is good, `c1` a warning, `c2` bad, `c3` to `c5` neutral. In strips `idle` is what works and `lost` what
    /// does not: 3 to the ground and to each other (WCAG 2.2, 1.4.11).
    package static let palette = """
        :root{color-scheme:light dark;--bg:#f4f5f7;--surface:#fff;--raised:#fbfcfd;--text:#1a1f26;--muted:#586371;\
        --line:#dde1e7;
        --hover:#eef2f8;
        --accent:#1f56c4;--chosen:#e3ecfd;--c0:#17784a;--c1:#945700;--c2:#bf222b;--c3:#51638a;--c4:#66707d;--c5:#66707d;
        --warn:#fff3d6;--warn-text:#6a4200;--warn-line:#e6c169;--idle:#5a9c7b;--lost:#7d0c14;\
        --shadow:0 8px 30px #10182826}
        @media screen and (prefers-color-scheme:dark){:root{
        --bg:#0f1216;--surface:#171b21;--raised:#1b2027;--text:#e6e9ee;--muted:#9aa5b3;--line:#2a313a;
        --hover:#1f252d;--accent:#82abff;--chosen:#1d2c4a;--c0:#4fc48c;--c1:#eeb04d;--c2:#ff7d74;--c3:#98acd6;
        --c4:#9aa5b3;--c5:#9aa5b3;
        --warn:#3a2d0c;--warn-text:#f5d487;--warn-line:#6b5318;--idle:#38795b;--lost:#ffbdb7;--shadow:0 8px 30px #000a}}

        """
}
