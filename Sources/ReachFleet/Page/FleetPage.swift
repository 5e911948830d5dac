package import ReachCore

/// The fleet as one self-contained HTML file: its data, and a script that shows them.
///
/// What hosts sent is only in the element of data, where no character can end the element, and the script writes it into
/// the page as text. The page's policy admits no script but its own and no connection.
package struct FleetPage: Sendable {
    package var title = "Fleet"
    /// When the engine last answered.
    package var asOf: Timestamp
    /// When this page is written.
    package var written: Timestamp
    /// How often the page is written again; `nil` for once.
    package var interval: Duration?
    /// Why the engine does not answer; `nil` if it does.
    package var engineTrouble: String?
    /// What is known of the engine, such as its version, and what is wrong with it.
    package var engineNotes: [String] = []
    package var hosts: [PageHost] = []
    package var outages: [Outage] = []
    /// Of each host, as ``AbsenceStrip`` writes them; empty for none.
    package var strips: [String?] = []

    package init(asOf: Timestamp, written: Timestamp) {
        self.asOf = asOf
        self.written = written
    }

    /// The file.
    ///
    /// - Parameter nonce: A random word that no host can know. The script and the styles carry it, so that the browser runs
    ///   them and nothing else.
    package func html(nonce: String) -> [UInt8] {
        var output: [UInt8] = []
        func append(_ text: String) { output += text.utf8 }
        append("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n")
        append("<meta http-equiv=\"Content-Security-Policy\" content=\"\(Self.policy(nonce))\">\n")
        append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n")
        append("<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n")
        append("<title>Fleet</title>\n<style nonce=\"\(nonce)\">\n")
        output += PackageResources.page_css
        append("</style>\n")
        output += PackageResources.page_html
        append("<script type=\"application/json\" id=\"data\">")
        output += PageData.bytes(self)
        append("</script>\n<script nonce=\"\(nonce)\">\n")
        output += PackageResources.page_js
        append("</script>\n</html>\n")
        return output
    }

    private static func policy(_ nonce: String) -> String {
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src data:; "
            + "base-uri 'none'; form-action 'none'"
    }

    /// A word for ``html(nonce:)``: 128 random bits.
    package static func nonce(_ generator: inout some RandomNumberGenerator) -> String {
        let words = (0..<2).map { _ in UInt64.random(in: 0...(.max), using: &generator) }
        return words.map { String($0, radix: 36) }.joined()
    }
}
