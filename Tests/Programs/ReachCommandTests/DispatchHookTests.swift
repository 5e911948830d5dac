internal import Glibc
internal import ReachTesting
internal import Testing

/// contrib/hooks/dispatch with a real kernel and scripts such as people have.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: getuid() == 0, "only root has scripts that are run"),
    .enabled(if: access("/usr/bin/python3", X_OK) == 0, "there is no /usr/bin/python3"), .timeLimit(.minutes(1)))
struct DispatchHookTests {
    private let directory: TemporaryDirectory
    private let namespace: TestNamespace
    private var log: String { directory.path + "/log" }

    init() throws {
        directory = try TemporaryDirectory()
        namespace = try TestNamespace()
        try namespace.vethPair()
    }

    /// A directory below /tmp is one in which others can write, so the scripts are run from where it is mounted.
    private func dispatch(_ variables: [String: String] = [:], _ arguments: [String] = []) throws -> BuiltProgram.Result
    {
        var environment: [String: String?] = [
            "REACH": BuiltProgram.reach.path, "REACH_SOCKET": nil, "REACH_DISPATCH_ROOT": "/mnt",
            "REACH_DISPATCH_STATE": directory.path + "/run", "REACH_EVENT": "change",
        ]
        environment.merge(variables.mapValues { $0 }) { $1 }
        let hook = ([ProjectFile.path("contrib/hooks/dispatch")] + arguments).joined(separator: " ")
        return try BuiltProgram(named: "/bin/sh").run(
            ["-c", "mount --bind \(directory.path)/root /mnt && exec \(hook)"], environment: environment,
            in: namespace.name)
    }

    private func script(_ path: String, _ text: String, mode: UInt32 = 0o755) throws {
        let file = directory.path + "/root/" + path
        try ChildProcess.run(["mkdir", "-p", String(file.prefix(upTo: try #require(file.lastIndex(of: "/"))))])
        try directory.file("root/" + path, "#!/bin/sh\n\(text)\n", mode: mode)
    }

    /// The lines that the scripts wrote since the last call.
    private func lines() throws -> [String] {
        let text = (try? ChildProcess.run(["cat", log])) ?? ""
        _ = try? ChildProcess.run(["rm", "-f", log])
        return text.split(separator: "\n").map(String.init)
    }

    private static let networkManager = "etc/NetworkManager/dispatcher.d/"

    @Test func `scripts of NetworkManager get interface, action and addresses, in the order of their names`() throws {
        let variables = "$IP4_ADDRESS_0|$IP4_NUM_ADDRESSES|$IP4_GATEWAY|$IP6_ADDRESS_0|$CONNECTIVITY_STATE"
        try script(Self.networkManager + "20-b", "echo \"b $# $1 $2 $NM_DISPATCHER_ACTION $HOME\" >>\(log)")
        try script(
            "usr/lib/NetworkManager/dispatcher.d/10-a", "echo \"a $1 $2 $DEVICE_IP_IFACE \(variables)\" >>\(log)")
        #expect(try dispatch().status == 0)
        #expect(
            try lines() == [
                "a up0 up up0 192.0.2.2/24 192.0.2.1|1|192.0.2.1|2001:db8::2/64 ::|", "b 2 up0 up up ",
                "a none connectivity-change  ||||FULL", "b 2 none connectivity-change connectivity-change ",
            ])
        #expect(try dispatch().status == 0)
        #expect(try lines() == [], "nothing has changed")

        try namespace.run("ip", "address", "add", "192.0.2.77/24", "dev", "up0")
        #expect(try dispatch().status == 0)
        #expect(try lines().contains("b 2 up0 dhcp4-change dhcp4-change "))
        try namespace.run("ip", "link", "set", "up0", "down")
        #expect(try dispatch().status == 0)
        #expect(
            try lines() == [
                "a up0 down up0 ||||", "b 2 up0 down down ", "a none connectivity-change  ||||NONE",
                "b 2 none connectivity-change connectivity-change ",
            ])
        try namespace.run("ip", "link", "delete", "up0")
        #expect(try dispatch().status == 0)
        #expect(try lines() == [], "it was down before it went")
    }

    @Test func `scripts of networkd-dispatcher are those of the new state`() throws {
        for state in ["routable", "configured", "off", "no-carrier"] {
            let values = "$IFACE $STATE $OperationalState $AdministrativeState $ADDR $IP_ADDRS $IP6_ADDRS $#"
            try script("etc/networkd-dispatcher/\(state).d/50x", "echo \"\(state): \(values)\" >>\(log)")
        }
        #expect(try dispatch().status == 0)
        let addresses = "192.0.2.2 192.0.2.2 2001:db8::2 0"
        #expect(
            try lines() == [
                "routable: up0 routable routable configured \(addresses)",
                "configured: up0 configured routable configured \(addresses)",
            ])
        try namespace.run("ip", "link", "set", "up0", "down")
        #expect(try dispatch().status == 0)
        #expect(try lines().map { $0.split(separator: " ").prefix(3).joined(separator: " ") } == ["off: up0 off"])
    }

    @Test func `what others than root could have written is not run, and why is said`() throws {
        let say = "echo $0 >>\(log)"
        try script(Self.networkManager + "01-good", say)
        try script(Self.networkManager + "02-writable", say, mode: 0o775)
        try script(Self.networkManager + "03-plain", say, mode: 0o644)
        try script(Self.networkManager + "04-setuid", say, mode: 0o4755)
        try script(Self.networkManager + "05-owned", say)
        try script(Self.networkManager + "06-backup~", say)
        try script("open/target", say)
        let folder = directory.path + "/root/" + Self.networkManager
        try ChildProcess.run(["chown", "65534", folder + "05-owned"])
        try ChildProcess.run(["chmod", "1777", directory.path + "/root/open"])
        try ChildProcess.run(["ln", "-s", "/mnt/open/target", folder + "07-elsewhere"])
        try ChildProcess.run(["ln", "-s", "/dev/null", folder + "08-masked"])
        try script("usr/lib/NetworkManager/dispatcher.d/08-masked", say)
        try ChildProcess.run(["ln", "-s", "/mnt/" + Self.networkManager + "nowhere", folder + "09-dangling"])
        let result = try dispatch()
        #expect(result.status == 0)
        #expect(Set(try lines()) == ["/mnt/\(Self.networkManager)01-good"])
        let faults = [
            ("02-writable", "writable by group"), ("03-plain", "not executable"), ("04-setuid", "set-user-ID"),
            ("05-owned", "not owned by root"), ("07-elsewhere", "is in /mnt/open, which others"),
            ("08-masked", "no file"), ("09-dangling", "cannot be read"),
        ]
        for (name, why) in faults {
            #expect(
                result.standardError.split(separator: "\n").contains { $0.contains(name) && $0.contains(why) },
                "\(name)")
        }
        let listed = try dispatch(["REACH_EVENT": "test"])
        #expect(listed.standardOutput.contains("runs /mnt/\(Self.networkManager)01-good\n"))
        #expect(listed.standardOutput.contains("not run: /mnt/\(Self.networkManager)02-writable is writable"))
    }

    @Test func `a script that hangs is ended with its children, and the next one runs`() throws {
        try script(Self.networkManager + "1-hangs", "[ $2 = up ] || exit 0\necho begun >>\(log)\nsleep 77 & sleep 77")
        try script(Self.networkManager + "2-next", "echo $2 >>\(log); exit 3")
        let result = try dispatch(["REACH_DISPATCH_TIMEOUT": "0.5"])
        #expect(result.status == 0)
        #expect(result.standardError.contains("1-hangs runs for more than 0.5 s"))
        #expect(result.standardError.contains("2-next up0 up ended with 3"))
        #expect(try lines() == ["begun", "up", "connectivity-change"])
        #expect(try ChildProcess.run(["sh", "-c", "ip netns pids \(namespace.name) | wc -l"]) == "0\n")
    }

    @Test
    func `what a daemon says of links does not reach the scripts, and its word for the connectivity is one of five`()
        throws
    {
        // A program in place of reach: without --no-daemon it says what a daemon in other hands could.
        try directory.file(
            "reach",
            """
            #!/bin/sh
            case "$*" in *--no-daemon*) exec \(BuiltProgram.reach.path) "$@" ;; esac
            [ "$1" = status ] && cat \(directory.path)/said
            """, mode: 0o755)
        try script(Self.networkManager + "1", "echo \"$1 $2 $CONNECTIVITY_STATE\" >>\(log)")
        func say(_ word: String) throws {
            try directory.file(
                "said", #"{"validated":true,"connectivity":"\#(word)","interface":"evil","status":"reachable"}"# + "\n")
            #expect(try dispatch(["REACH": directory.path + "/reach"]).status == 0)
        }
        try say("portal")
        #expect(try lines() == ["up0 up ", "none connectivity-change PORTAL"])
        try say("$(reboot)")
        #expect(try lines() == ["none connectivity-change FULL"])
    }

    @Test func `the daemon's user only leaves a mark for the unit`() throws {
        try script(Self.networkManager + "1", "echo run >>\(log)")
        let state = directory.path + "/reach"
        try ChildProcess.run(["install", "-d", "-o", "65534", state])
        chmod(directory.path, 0o755)
        let hook = ProjectFile.path("contrib/hooks/dispatch")
        let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        let result = try BuiltProgram(named: "unshare").run(
            [
                "-m", "sh", "-c",
                "mkdir -p /var/lib/reach; mount --bind \(state) /var/lib/reach && exec \(user) \(hook)",
            ],
            environment: ["STATE_DIRECTORY": "/var/lib/reach", "REACH_EVENT": "change"])
        #expect(result.status == 0, "\(result)")
        #expect(access(state + "/dispatch", F_OK) == 0)
        #expect(try lines() == [])
    }
}
