import Glibc
import ReachCore
import ReachTesting
import Testing

@testable import reach

/// The page of a report in a real browser. `Tests/Field/fleet/look --report` fails if a part lacks a name or contrast, if
/// something is wider than its page, or if the page's policy stops something.
@Suite(
    .enabled(if: TestProgram.path("chromium") != nil, "Chromium is not installed (apt-get install chromium)"),
    .serialized)
struct ReportPageTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @discardableResult
    private func look(_ report: Report, _ options: [String]) throws -> String {
        let file = try directory.file("report.html", ExampleReport.html(report))
        return try ChildProcess.run(
            ["python3", ProjectFile.path("Tests/Field/fleet/look"), "--report"] + options + [file])
    }

    @Test(arguments: [["--check"], ["--check", "--dark"], ["--check", "--size", "390x800"], ["--check", "--print"]])
    func `a report has headings, named pictures, tables and contrast, on every ground`(options: [String]) throws {
        print(try look(ExampleReport.report(ExampleReport.log(ExampleReport.night)), options))
    }

    @Test func `a report without a journal, and one without any outage, are whole pages`() throws {
        try look(ExampleReport.report(ExampleReport.log(), .absent("the journal is off")), ["--check"])
        try look(ExampleReport.report(since: ExampleReport.time(3 * ExampleReport.day - 60)), ["--check"])
    }

    @Test func `what is closed on the screen is printed, and on a phone no cell is beyond the edge`() throws {
        let report = ExampleReport.report(ExampleReport.log(ExampleReport.night))
        let isShown =
            "[...document.querySelectorAll('details table, details ol')].every((each) => each.checkVisibility())"
        try look(report, ["--expect", "!\(isShown)"])
        try look(report, ["--print", "--expect", isShown])
        let isInside =
            "[...document.querySelectorAll('.many td')].every((each) => each.getBoundingClientRect().right <= 390)"
        try look(report, ["--size", "390x800", "--expect", isInside])
    }

    @Test func `script in names is text`() throws {
        let attack =
            "</title></style><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
        let log = ExampleReport.log([(ExampleReport.state(.notReachable, reason: attack, target: attack), 5)])
        let report = ExampleReport.report(
            log, .recorded(ExampleReport.journal(probe: attack, url: attack)), wanted: [attack], host: attack)
        try look(
            report,
            [
                "--expect", "document.title.startsWith('Outage report of </title>')", "--expect",
                "document.querySelectorAll('img,script').length == 0",
            ])
    }

    /// Writes the documentation's pictures where REACH_SCREENSHOTS says, else only takes them.
    @Test(arguments: [("light", []), ("dark", ["--dark"]), ("phone", ["--size", "390x1400"])])
    func `the page has a picture in light and dark, and on a phone`(name: String, options: [String]) throws {
        let folder = getenv("REACH_SCREENSHOTS").map { String(cString: $0) } ?? directory.path
        let file = "\(folder)/report-\(name).png"
        try look(
            ExampleReport.report(ExampleReport.log(ExampleReport.night)),
            ["--size", "1040x1800", "--shoot", file] + options)
        #expect(try ChildProcess.run(["head", "-c", "4", file]).hasSuffix("PNG"))
    }
}
