internal import ReachCore
internal import ReachPage
internal import ReachTerminal

/// What is now, in a sentence, and what is wrong with the page itself.
struct PageNow {
    private let page: MachinePage

    init(_ page: MachinePage) { self.page = page }

    var html: String {
        let ended =
            page.isLast
            ? "<p class=\"banner\" role=\"status\">reachd was stopped on \(page.stamp(page.moment.wall)). What follows "
                + "is how it was then.</p>\n" : ""
        let rows = page.states.prefix(1).map { PageRow($0.name, $0.state, page) }
        var word = rows.first?.word ?? .unknown
        // The sentence says which.
        if word == .up, !downProbes.isEmpty { word = .degraded }
        let sentence = page.states.first.map { item in
            HTMLPage.escaped(PageRow.summary(of: item.state)) + ", since " + page.time(item.state.useSince)
        }
        return "<p class=\"banner\" id=\"age\" role=\"status\" hidden></p>\n" + ended
            + "<p class=\"now \(word.rawValue)\"><span aria-hidden=\"true\">\(word.sign)</span> "
            + "\(sentence ?? "Nothing is known yet")." + probes + "</p>\n"
    }

    private static let mostNames = 8

    private var downProbes: [String] {
        page.probes.filter { $0.state == .down && $0.pause == nil }.map(\.name)
    }

    private var probes: String {
        guard !page.probes.isEmpty else { return "" }
        let (down, count) = (downProbes, page.probes.count)
        guard !down.isEmpty else {
            let up = page.probes.count { $0.state == .up && $0.pause == nil }
            return up == count
                ? count == 1 ? " Its probe is up." : " All \(count) probes are up."
                : " \(up) of \(count) probes \(up == 1 ? "is" : "are") up, none is down."
        }
        let names = down.prefix(Self.mostNames).joined(separator: ", ")
        let more = down.count > Self.mostNames ? " and \(down.count - Self.mostNames) more" : ""
        return
            " \(down.count) of \(count) probes \(down.count == 1 ? "is" : "are") down: "
            + "\(HTMLPage.escaped(names))\(more)."
    }
}
