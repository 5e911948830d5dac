internal import Glibc
internal import ReachTesting
internal import Testing

/// `contrib/deps`, with a stand-in for apt-get, and without the servers and policies of this machine.
@Suite struct DependencyTests {
    private let directory: TemporaryDirectory
    private var log: String { directory.path + "/log" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs contrib/deps with an apt-get that records what a package of a server would be answered.
    private func deps(_ argument: String, installing more: String = "") throws -> (status: CInt, log: [String]) {
        try directory.file(
            "apt-get",
            """
            #!/bin/sh
            [ "$1" = install ] || exit 0
            echo "installs $*" >>\(log)
            /usr/sbin/policy-rc.d nginx start
            echo "services of this call: $?" >>\(log)
            env -u REACH_DEPS /usr/sbin/policy-rc.d ssh start
            echo "services of others: $?" >>\(log)
            \(more)

            """, mode: 0o755)
        try directory.file("systemctl", "#!/bin/sh\necho \"systemctl $*\" >>\(log)\n", mode: 0o755)
        let script = """
            set -e
            mount -t tmpfs tmpfs /usr/sbin
            PATH=\(directory.path):/usr/bin:/bin
            SWIFT=true "$1" \(argument) || code=$?
            [ ! -e /usr/sbin/policy-rc.d ] || echo "a policy is left" >>\(log)
            exit ${code:-0}
            """
        let command = ["unshare", "-rm", "sh", "-c", script, "sh", ProjectFile.path("contrib/deps")]
        var status: CInt = 0
        do { try ChildProcess.run(command) } catch { status = error.status }
        return (status, try ChildProcess.run(["sh", "-c", "cat \(log) 2>/dev/null || :"]).lines)
    }

    @Test func `installing what the tests take starts no service, and leaves no policy`() throws {
        let (status, log) = try deps("")
        #expect(status == 0)
        #expect(log.first?.contains(" nginx-light") == true)
        #expect(log.dropFirst().prefix(2) == ["services of this call: 101", "services of others: 0"])
        let disabled = log.dropFirst(3)
        #expect(disabled.contains("systemctl disable --quiet nginx.service"))
        #expect(disabled.allSatisfy { $0.hasPrefix("systemctl disable --quiet ") }, "\(disabled)")
    }

    @Test(arguments: ["HUP", "INT", "TERM"])
    func `no policy is left when installing is interrupted`(signal: String) throws {
        let (status, log) = try deps("", installing: "kill -\(signal) $PPID")
        #expect(status > 128)
        #expect(log.count == 3, "\(log)")
    }

    @Test func `what building takes has no server`() throws {
        let (status, log) = try deps("build")
        #expect(status == 0)
        #expect(log == [], "everything that building takes is here, since this test was built")
    }

    @Test func `a missing library is named, and nothing is installed`() throws {
        // pkg-config finds nothing.
        try directory.file("pkg-config", "#!/bin/sh\nexit 1\n", mode: 0o755)
        let command = [
            "env", "PATH=\(directory.path):/usr/bin:/bin", "SWIFT=true", ProjectFile.path("contrib/deps"), "check",
        ]
        let failure = #expect(throws: ChildProcess.Failure.self) { try ChildProcess.run(command) }
        #expect(failure?.status == 1)
        #expect(failure?.standardError.contains("libnl-3-dev (Fedora: libnl3-devel, Arch: libnl)") == true)
    }
}

extension String {
    fileprivate var lines: [String] { split(separator: "\n").map(String.init) }
}
