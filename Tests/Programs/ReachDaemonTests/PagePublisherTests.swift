import Glibc
import ReachCore
import ReachKernel
import ReachLoop
import ReachTesting
import Testing

@testable import ReachDaemon

/// When the page of a machine is written, and where.
@Suite struct PagePublisherTests {
    private func time(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `a page follows a change within a second, and another one at least five later`() {
        var pace = PagePace()
        #expect(pace.time(of: .state, at: time(100)) == time(101))
        pace.begin(at: time(101))
        pace.end(after: .milliseconds(20))
        #expect(pace.time(of: .state, at: time(102)) == time(106))
        #expect(pace.time(of: .figure, at: time(102)) == time(161))
        #expect(pace.time(of: .none, at: time(102)) == time(1001))
        #expect(pace.time(of: .state, at: time(900)) == time(901))
    }

    @Test func `a page that takes long takes a fiftieth of the time at most`() {
        var pace = PagePace()
        pace.begin(at: time(101))
        pace.end(after: .seconds(2))
        #expect(pace.time(of: .state, at: time(104)) == time(201))
    }

    @Test func `changes that come together make one page, which others can read`() throws {
        let directory = try TemporaryDirectory()
        let loop = try EventLoop()
        var snapshots = 0
        let publisher = PagePublisher(on: loop) {
            snapshots += 1
            return PageSnapshot(version: "0", options: ReachabilityEngine.Options())
        }
        var notices: [String] = []
        publisher.onNotice = { notices.append($0) }
        publisher.onPage = { loop.stop() }
        let mask = umask(0o077)
        defer { umask(mask) }
        publisher.note(.state)
        publisher.apply(directory.path + "/page")
        for _ in 0..<100 { publisher.note(.state) }
        loop.run()
        #expect(snapshots == 1 && notices.isEmpty)
        var status = stat()
        #expect(stat(directory.path + "/page/index.html", &status) == 0 && status.st_mode & 0o777 == 0o644)
        #expect(stat(directory.path + "/page", &status) == 0 && status.st_mode & 0o777 == 0o755)
    }

    @Test func `a directory that cannot be had is said once`() throws {
        let directory = try TemporaryDirectory()
        let loop = try EventLoop()
        let publisher = PagePublisher(on: loop) { PageSnapshot(version: "0", options: ReachabilityEngine.Options()) }
        var notices: [String] = []
        var pages = 0
        publisher.onNotice = { notices.append($0) }
        publisher.onPage = {
            pages += 1
            if pages == 2 { loop.stop() }
        }
        let file = try directory.file("file", "")
        publisher.apply(file)
        loop.schedule(at: SystemClock.boot + .seconds(2)) { publisher.note(.state) }
        loop.run()
        #expect(pages == 2)
        #expect(notices == ["the page cannot be written: \(file): it is no directory"])
    }

    @Test func `nothing is written where another user can lead it elsewhere`() {
        let directory = mode_t(S_IFDIR)
        #expect(PageDirectory.objection(mode: directory | 0o755, owner: 0, user: 990) == nil)
        #expect(PageDirectory.objection(mode: directory | 0o755, owner: 990, user: 990) == nil)
        #expect(PageDirectory.objection(mode: directory | 0o1777, owner: 0, user: 990) == nil)
        #expect(PageDirectory.objection(mode: directory | 0o755, owner: 1000, user: 0) == "it belongs to user 1000")
        #expect(PageDirectory.objection(mode: directory | 0o775, owner: 0, user: 0) == "others can write there")
        #expect(PageDirectory.objection(mode: mode_t(S_IFREG) | 0o644, owner: 0, user: 0) == "it is no directory")
        #expect(PageDirectory.ways(to: "/run//reach/page/") == ["/run", "/run/reach", "/run/reach/page"])
    }

    @Test(.enabled(if: getuid() == 0, "only root can make another user's files"))
    func `a link or a directory of another user on the way is refused, and a planted file is not followed`() throws {
        let root = try TemporaryDirectory()
        let victim = try root.file("victim", "untouched")
        let way = root.path + "/way"
        try #require(symlink(root.path, way) == 0 && lchown(way, 1234, 1234) == 0)
        #expect(throws: PageDirectory.Failure.self) { try PageDirectory(way + "/page").write([]) }
        let foreign = root.path + "/foreign"
        try #require(mkdir(foreign, 0o755) == 0 && chown(foreign, 1234, 1234) == 0)
        #expect(throws: PageDirectory.Failure.self) { try PageDirectory(foreign).write([]) }
        let page = root.path + "/page"
        try #require(mkdir(page, 0o755) == 0)
        for name in ["/index.html", "/index.html.new"] { try #require(symlink(victim, page + name) == 0) }
        try PageDirectory(page).write(Array("page".utf8))
        #expect(SmallFile.text(victim) == "untouched" && SmallFile.text(page + "/index.html") == "page")
    }
}
