internal import Glibc
internal import ReachTesting
internal import Testing

@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
struct TestNamespaceTests {
    @Test func `a namespace has its own links, and is gone once removed`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("ip", "link", "add", "inner0", "type", "bridge")
        #expect(try namespace.run("ip", "-o", "link").contains("inner0"))
        #expect(try !ChildProcess.run(["ip", "-o", "link"]).contains("inner0"))
        namespace.remove()
        #expect(try !ChildProcess.run(["ip", "netns", "list"]).contains(namespace.name))
    }

    @Test func `a veth pair carries a route both ways, and is removed with its namespace`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        #expect(try namespace.run("ip", "route", "get", "192.0.2.1").contains("dev up0"))
        #expect(try namespace.run("ip", "route", "get", "203.0.113.1").contains("via 192.0.2.1"))
        #expect(try peer.run("ip", "route", "get", "2001:db8::2").contains("dev up1"))
        #expect(try namespace.run("sh", "-c", "echo $(ip -o link | grep -c LOWER_UP)") == "2\n")
        namespace.remove()
        #expect(try !ChildProcess.run(["ip", "netns", "list"]).contains(peer.name))
    }

    @Test func `a failing command throws its standard error`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let failure = #expect(throws: ChildProcess.Failure.self) { try namespace.run("ip", "link", "show", "no0") }
        #expect(failure?.description.contains("no0") == true)
        #expect(failure?.status == 1)
    }

    /// libdispatch's threads end after five seconds without work. The next one is made by whoever resumes a task.
    @Test func `a task that is resumed from a namespace runs in the process's own`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try await namespace.perform { _ = sleep(7) }
        #expect(try Self.namespaceNumber(of: "thread-self") == Self.namespaceNumber(of: "self"))
    }

    private static func namespaceNumber(of thread: String) throws -> ino_t {
        var status = stat()
        try #require(stat("/proc/\(thread)/ns/net", &status) == 0)
        return status.st_ino
    }
}
