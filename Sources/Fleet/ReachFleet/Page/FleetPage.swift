package import ReachCore
internal import ReachPage

/// The fleet as one self-contained HTML file: its data, and a script that shows them.
///
/// What hosts sent is only in the element of data, where no character can end the element, and the script writes it
/// into the page as text. The page's policy admits no script but its own and no connection.
package struct FleetPage: Sendable {
    package var title = "Fleet"
    /// When the engine last answered.
    package var asOf: Timestamp
    /// When this page is written.
    package var written: Timestamp
    /// How often the page is written again; `nil` for once.
    package var interval: Duration?
    /// The number of what is new on the page, if a server says when there is more; `nil` for a file.
    package var live: UInt64?
    /// Why the engine does not answer; `nil` if it does.
    package var engineTrouble: String?
    /// What is known of the engine, such as its version, and what is wrong with it.
    package var engineNotes: [String] = []
    package var hosts: [PageHost] = []
    package var outages: [Outage] = []
    /// The lines that the hosts are behind, as far as their addresses are known.
    package var lines: [FleetLine] = []
    /// Since when events and past outages are shown; `nil` before the first reading.
    package var known: Timestamp?
    /// Whether the engine has older ones in the window, which were not read.
    package var isCut = false
    /// Of each host, as ``AbsenceStrip`` writes them; empty for none.
    package var strips: [String?] = []
    /// When each host was away, and when nobody knows or it was switched off; empty for nothing known.
    package var pasts: [HostPast] = []

    package init(asOf: Timestamp, written: Timestamp) {
        self.asOf = asOf
        self.written = written
    }

    /// The file.
    ///
    /// - Parameter nonce: A random word that no host can know. The script and the styles carry it, so that the browser
    ///   runs them and nothing else.
    package func html(nonce: String) -> [UInt8] {
        var output = HTMLPage.head(
            title: "Fleet", nonce: nonce, styles: PackageResources.page_css, isDocument: false, hasScript: true,
            connects: live != nil)
        func append(_ text: String) { output += text.utf8 }
        output += PackageResources.page_html
        append("<script type=\"application/json\" id=\"data\">")
        output += PageData.bytes(self)
        append("</script>\n<script nonce=\"\(nonce)\">\n")
        output += PackageResources.page_js
        append("</script>\n</html>\n")
        return output
    }
}

/// What people want to see at once when it changes, of all that a page shows.
package struct PageNews: Equatable, Sendable {
    private struct Host: Equatable {
        let id: String
        let word: HostWord
        let since: Timestamp?
        let why: String?
        let isDegraded: Bool
        let note: String?
        let quiet: String?
    }

    private let hosts: [Host]
    private let outages: [Outage]
    private let trouble: String?

    package init(_ page: FleetPage) {
        hosts = page.hosts.map {
            Host(
                id: $0.id, word: $0.presence.word, since: $0.presence.since, why: $0.presence.why,
                isDegraded: $0.presence.isDegraded, note: $0.note, quiet: $0.quiet)
        }
        outages = page.outages
        trouble = page.engineTrouble
    }
}
