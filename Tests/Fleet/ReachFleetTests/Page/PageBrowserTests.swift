import Glibc
import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// The page in a real browser. `Tests/Field/fleet/look` drives it by keyboard and fails if something is wrong, also if a
/// script fails or the page's policy stops something.
@Suite(
    .enabled(if: TestProgram.path("chromium") != nil, "Chromium is not installed (apt-get install chromium)"),
    .serialized)
struct PageBrowserTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @discardableResult
    private func look(_ page: FleetPage, _ options: String...) throws -> String { try look(page, options) }

    @discardableResult
    private func look(_ page: FleetPage, _ options: [String]) throws -> String {
        try look(page.html(nonce: "n"), options)
    }

    /// The largest page is made once: without optimisation that takes seconds.
    private static let large = ExamplePage.page(hosts: 10_000).html(nonce: "n")

    private func page(hosts: Int) -> [UInt8] {
        hosts == 10_000 ? Self.large : ExamplePage.page(hosts: hosts).html(nonce: "n")
    }

    @discardableResult
    private func look(_ page: [UInt8], _ options: [String]) throws -> String {
        let file = try directory.file("fleet.html", String(decoding: page, as: UTF8.self))
        return try ChildProcess.run(["python3", ProjectFile.path("Tests/Field/fleet/look")] + options + [file])
    }

    /// What the browser's clock shows.
    private func clock(_ seconds: Double) -> String { "--clock=\(at(seconds).nanosecondsSince1970 / 1_000_000)" }

    @Test(arguments: [0, 3, 10_000])
    func `the page is used by keyboard alone`(_ hosts: Int) throws {
        print(try look(page(hosts: hosts), ["--check", clock(2)]))
    }

    @Test func `a page that is old says so`() throws {
        let hidden = "document.getElementById('old').hidden"
        try look(ExamplePage.page(hosts: 3), clock(50), "--expect", hidden)
        try look(
            ExamplePage.page(hosts: 3), clock(700), "--expect", "!\(hidden)", "--expect",
            "document.getElementById('old').textContent.startsWith('This page was written 11 min ago')")
        try look(ExamplePage.page(hosts: 3), clock(-700), "--expect", "!\(hidden)")
        var page = ExamplePage.page(hosts: 3)
        page.asOf = at(-3600)
        page.engineTrouble = "no answer"
        try look(
            page, clock(2), "--expect", "!\(hidden)", "--expect",
            "document.getElementById('engine').textContent.includes('no answer')")
    }

    @Test func `a page that is written again loads itself again and keeps what is chosen`() throws {
        var page = ExamplePage.page(hosts: 300)
        page.interval = .seconds(1)
        try look(
            page, "--hash=word=silent&sort=-since", "--wait",
            "performance.getEntriesByType('navigation')[0].type == 'reload'",
            "--expect", "document.getElementById('word-silent').getAttribute('aria-pressed') == 'true'", "--expect",
            "document.querySelector('[aria-sort=descending]').textContent == 'Since'")
    }

    @Test func `what is wrong is said on top, a label is a site, and a link opens a time`() throws {
        try look(
            ExamplePage.page(hosts: 300), clock(2), "--expect",
            "document.querySelector('main').firstElementChild.id == 'outages'", "--expect",
            "document.getElementById('now').textContent.includes('silent')", "--expect",
            "document.getElementById('site').hidden && !document.getElementById('day').hidden")
        let begin = at(-7200).nanosecondsSince1970 / 1_000_000
        let end = at(0).nanosecondsSince1970 / 1_000_000
        try look(
            ExamplePage.page(hosts: 300), clock(2), "--hash=label=site%3Dstore-2&time=\(begin)-\(end)&away=1",
            "--size=390x844",
            "--expect", "document.getElementById('site-title').textContent == 'site=store-2'", "--expect",
            "/ %/.test(document.getElementById('site-facts').textContent)", "--expect",
            "!document.getElementById('day-out').disabled && document.querySelector('#day-only').getAttribute('aria-pressed') == 'true'",
            "--expect", "document.documentElement.scrollWidth <= 390")
    }

    @Test(arguments: [390, 761, 768, 1000, 1024, 1279, 1280])
    func `no column of the table is cut`(_ width: Int) throws {
        let last = "[...document.querySelectorAll('.head > *')].filter((each) => each.offsetParent).pop()"
        let grid = "document.getElementById('grid')"
        try look(
            ExamplePage.page(hosts: 300), clock(2), "--size=\(width)x844", "--expect",
            "\(grid).scrollWidth <= \(grid).clientWidth", "--expect",
            "\(last).getBoundingClientRect().right <= \(grid).getBoundingClientRect().right", "--expect",
            "\(last).scrollWidth <= \(last).clientWidth", "--expect",
            "document.querySelectorAll('.row').length > 3 && document.documentElement.scrollWidth <= \(width)")
    }

    @Test func `on a telephone each row has its reason below the host, and no word is cut`() throws {
        try look(
            ExamplePage.page(hosts: 300), clock(2), "--size=390x844", "--expect",
            "[...document.querySelectorAll('.row .why')].some((each) => each.textContent && each.offsetHeight > 0)",
            "--expect",
            "[...document.querySelectorAll('.row .word')].every((each) => each.scrollWidth <= each.clientWidth)",
            "--expect", "[...document.querySelectorAll('#day button')].every((each) => each.offsetHeight <= 44)")
    }

    @Test func `a printed page has its headings and rows, and no controls`() throws {
        try look(
            ExamplePage.page(hosts: 3), clock(2), "--print", "--expect",
            "document.querySelector('#sort-word').offsetParent !== null && document.querySelectorAll('.row').length == 3",
            "--expect", "document.querySelector('#search').offsetParent === null")
    }

    @Test func `script that hosts send is text`() throws {
        let attack = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
        var page = ExamplePage.page(hosts: 3)
        for index in page.hosts.indices {
            page.hosts[index].name = attack
            page.hosts[index].presence = HostPresence(.limited, why: attack)
            page.hosts[index].labels = [attack: attack]
            page.hosts[index].timeline = [PageEvent(time: at(-5), what: attack, why: attack)]
        }
        try look(
            page, clock(2), "--do", "ArrowDown Enter", "--expect", "document.title != 'taken'", "--expect",
            "document.querySelectorAll('img').length == 0 && document.querySelectorAll('script').length == 2")
    }

    /// Writes the documentation's pictures where REACH_SCREENSHOTS says, else only takes them.
    @Test(arguments: [0, 3, 10_000])
    func `the page has a picture in light and dark`(_ hosts: Int) throws {
        let folder = getenv("REACH_SCREENSHOTS").map { String(cString: $0) } ?? directory.path
        let files = ["light", "dark"].map { "\(folder)/fleet-page-\(hosts)-\($0).png" }
        try look(page(hosts: hosts), [clock(2), "--shoot", files[0], "--shoot-dark", files[1]])
        for file in files {
            // The length of the file has left this process's output, so ask for its type.
            #expect(try ChildProcess.run(["head", "-c", "4", file]).hasSuffix("PNG"))
        }
        let copy = ["cp", directory.path + "/fleet.html", "\(folder)/fleet-\(hosts).html"]
        if folder != directory.path { try ChildProcess.run(copy) }
    }
}
