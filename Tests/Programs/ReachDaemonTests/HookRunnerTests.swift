import Glibc
@testable import ReachDaemon
import ReachLoop
import ReachTesting
import Testing

@Suite struct HookRunnerTests {
    @Test func `a hook gets the event on its input and in its environment, and inherits nothing else`() throws {
        setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1)
        setenv("REACH_OLD", "1", 1)
        setenv("LANG_OF_TEST", "é", 1)
        let stage = try HookStage()
        try stage.hook(
            "a",
            """
            cat > $HERE/input
            env > $HERE/environment
            pwd; ls /proc/self/fd | wc -l; grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2
            [ "$(cut -d' ' -f5 /proc/$$/stat)" = $$ ] && echo leads its group
            """)
        stage.send("reachable", json: "{\"type\":\"change\"}\n")
        try stage.run(untilEnded: 1)
        #expect(stage.text("input") == "{\"type\":\"change\"}\n")
        let environment = stage.text("environment").split(separator: "\n")
        #expect(environment.contains("REACH_STATUS=reachable"))
        #expect(environment.contains("REACH_TARGET=internet"))
        #expect(environment.contains("REACH_SKIPPED=0"))
        #expect(environment.contains("LANG_OF_TEST=é"))
        #expect(!environment.contains { $0.hasPrefix("NOTIFY_SOCKET") || $0.hasPrefix("REACH_OLD") })
        // The fourth descriptor is the directory that ls reads. glibc uses the two signals, 32 and 33, itself.
        #expect(
            stage.reports.output == [
                "/", "4", "0000000000000000", "0000000180000000", "leads its group",
            ])
        #expect(stage.reports.endings == ["a exit 0 skipped 0"])
    }

    @Test func `a busy hook gets the newest event of each target when it is done`() throws {
        let stage = try HookStage()
        stage.makeGate("gate")
        try stage.hook("a", "echo \"$REACH_TARGET $REACH_STATUS $REACH_SKIPPED\"; read line < $HERE/gate")
        try stage.hook("b", "echo b $REACH_STATUS")
        stage.send("1")
        try stage.run(untilOutput: "internet 1 0")
        for (status, target) in [("2", "internet"), ("3", "x"), ("4", "internet"), ("5", "internet")] {
            stage.send(status, target: target)
        }
        // Once the other hook has run, the event waits for the first.
        try stage.run(untilOutput: "b 5")
        let gate = stage.open(gate: "gate")
        defer { close(gate) }
        write(gate, "\n\n\n", 3)
        try stage.run { $0.endings.count { $0.hasPrefix("a ") } == 3 }
        #expect(stage.reports.output.filter { !$0.hasPrefix("b") } == ["internet 1 0", "internet 5 2", "x 3 0"])
        #expect(stage.runner?.running.contains("a") == false)
    }

    @Test func `of very many targets that change at once, a hook gets the newest`() throws {
        let stage = try HookStage()
        try stage.hook("a", "echo $REACH_TARGET")
        let count = HookQueue.limit * 3 + 10
        for number in 1...count { stage.send("1", target: "t\(number)") }
        try stage.run(untilEnded: 1)
        #expect(stage.reports.output.first == "t\(count - HookQueue.limit + 1)")
        stage.runner?.stop()
    }

    @Test func `a directory that appears is used from the next event on`() throws {
        let stage = try HookStage()
        let path = stage.directory.path + "/hooks.d"
        rmdir(path)
        // The second time the kernel knows that there is none.
        for _ in 0..<2 {
            stage.send("lost")
            stage.loop.afterEvents { [loop = stage.loop] in loop.stop() }
            stage.loop.run()
        }
        mkdir(path, 0o755)
        try stage.hook("a", "echo $REACH_STATUS")
        stage.send("seen")
        try stage.run(untilEnded: 1)
        #expect(stage.reports.output == ["seen"])
    }

    @Test func `a slow hook delays no other`() throws {
        let stage = try HookStage()
        stage.makeGate("gate")
        try stage.hook("slow", "read line < $HERE/gate")
        try stage.hook("swift", "echo $REACH_STATUS")
        stage.send("1")
        try stage.run(untilEnded: 1)
        stage.send("2")
        try stage.run(untilEnded: 2)
        #expect(stage.reports.output == ["1", "2"])
        #expect(stage.runner?.running == ["slow"])
        let gate = stage.open(gate: "gate")
        defer { close(gate) }
        write(gate, "\n\n", 2)
        try stage.run(untilEnded: 4)
        #expect(stage.reports.endings.suffix(2) == ["slow exit 0 skipped 0", "slow exit 0 skipped 0"])
    }

    @Test func `a hook beyond its time limit is terminated, and that is reported`() throws {
        let stage = try HookStage(timeout: .milliseconds(30), grace: .seconds(60))
        try stage.hook("a", "exec sleep 1000")
        stage.send("1")
        try stage.run(untilEnded: 1)
        #expect(stage.reports == [.timedOut(hook: "a", limit: .milliseconds(30))] + stage.reports.suffix(1))
        #expect(stage.reports.endings == ["a signal 15 skipped 0"])
    }

    @Test func `a hook that ignores SIGTERM is killed, with all that it started`() throws {
        let stage = try HookStage()
        // Its child may be killed first: it does not end for that.
        try stage.hook("a", "trap '' TERM; sleep 1000 & echo $!; echo ready; while :; do wait; sleep 1; done")
        stage.send("1")
        try stage.run(untilOutput: "ready")
        stage.runner?.stop()
        try stage.run(untilEnded: 1)
        #expect(stage.reports.endings == ["a signal 9 skipped 0"])
        let child = try #require(stage.reports.output.first.flatMap { pid_t($0) })
        #expect(hasEnded(child))
    }

    @Test func `the children of a terminated hook do not outlive it`() throws {
        let stage = try HookStage(grace: .seconds(60))
        try stage.hook("a", "(trap '' TERM; echo ready; exec sleep 1000) & echo $!; trap 'exit 5' TERM; wait")
        stage.send("1")
        try stage.run { $0.output.count == 2 }
        stage.runner?.stop()
        try stage.run(untilEnded: 1)
        let child = try #require(stage.reports.output.compactMap { pid_t($0) }.first)
        #expect(hasEnded(child))
    }

    @Test func `children in a session of their own are killed with the hook`() throws {
        let stage = try HookStage(timeout: .milliseconds(500), grace: .milliseconds(50))
        try stage.hook(
            "a", "setsid sh -c 'trap \"\" TERM; echo $$; sleep 1000 & echo $!; wait; wait' & exec sleep 1000")
        stage.send("1")
        try stage.run(untilEnded: 1)
        let children = stage.reports.output.compactMap { pid_t($0) }
        #expect(children.count == 2)
        for child in children { #expect(hasEnded(child)) }
    }

    @Test func `a hook may leave a process running, and still ends`() throws {
        let stage = try HookStage()
        try stage.hook("a", "sleep 1000 & echo $!")
        stage.send("1")
        try stage.run(untilEnded: 1)
        let child = try #require(stage.reports.output.first.flatMap { pid_t($0) })
        #expect(kill(child, 0) == 0)
        kill(child, SIGKILL)
    }

    @Test func `the end and the output of a hook are reported, within bounds`() throws {
        let stage = try HookStage()
        try stage.hook("a", "echo one; echo two >&2; printf three; exit 7")
        try stage.hook("b", "yes | head -c 3000000; exit 1")
        stage.send("1")
        try stage.run(untilEnded: 2)
        #expect(Set(stage.reports.endings) == ["a exit 7 skipped 0", "b exit 1 skipped 0"])
        #expect(
            stage.reports.output.filter { $0 != "y" }.sorted() == [
                "(further output omitted)", "one", "three", "two",
            ])
        #expect(stage.reports.output.count { $0 == "y" } == 8192)
    }

    @Test func `a hook that cannot start is reported, and can start later`() throws {
        let stage = try HookStage()
        try stage.directory.file("hooks.d/a", "#!/nowhere/sh\n", mode: 0o755)
        stage.send("1")
        try stage.run { !$0.isEmpty }
        #expect(stage.reports == [.failed(hook: "a", "posix_spawn: No such file or directory")])
        try stage.hook("a", "exit 0")
        stage.send("2")
        try stage.run(untilEnded: 1)
    }

    @Test func `a hook that changed while it waited is checked again`() throws {
        let stage = try HookStage()
        stage.makeGate("gate")
        try stage.hook("a", "echo ready; read line < $HERE/gate")
        try stage.hook("b", "echo $REACH_STATUS")
        stage.send("1")
        try stage.run(untilOutput: "ready")
        stage.send("2")
        // Once the other hook has run, the event waits for the first.
        try stage.run(untilOutput: "2")
        chmod(stage.directory.path + "/hooks.d/a", 0o777)
        let gate = stage.open(gate: "gate")
        defer { close(gate) }
        write(gate, "\n", 1)
        try stage.run { $0.contains(.failed(hook: "a", "it is no longer there, or must not be run")) }
        #expect(stage.reports.endings.count { $0.hasPrefix("a ") } == 1)
    }

    @Test func `a file that must not run is refused, and reported once`() throws {
        let stage = try HookStage()
        try stage.hook("open", mode: 0o777, "echo run")
        try stage.hook("off", mode: 0o644, "echo run")
        symlink("/bin/true", stage.directory.path + "/hooks.d/link")
        try stage.hook("good", "exit 0")
        for number in 1...2 {
            stage.send("\(number)")
            try stage.run(untilEnded: number)
        }
        #expect(
            stage.reports.refused == [
                "link: it is not a regular file", "open: users other than its owner can write to it",
            ])
        #expect(stage.reports.output == [])
        chmod(stage.directory.path + "/hooks.d", 0o777)
        stage.send("3")
        try stage.run { $0.refused.count == 3 }
        #expect(stage.reports.refused.last == "hooks.d: users other than its owner can write to it")
        #expect(stage.reports.endings.count == 2)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `a hook of another user is refused`() throws {
        let stage = try HookStage()
        try stage.hook("a", "echo run")
        chown(stage.directory.path + "/hooks.d/a", 12_345, 0)
        stage.send("1")
        try stage.run { !$0.isEmpty }
        #expect(stage.reports.refused == ["a: it belongs to user 12345"])
    }

    @Test func `a missing directory has no hooks`() {
        #expect(HookDirectory("/nowhere/hooks.d").list() == HookDirectory.Listing())
        let missing = HookDirectory(program: "/nowhere/line").list()
        #expect(missing.hooks.isEmpty && missing.refused == ["/nowhere/line": "there is no such executable file"])
        #expect(HookDirectory("/proc/version").list().refused == ["/proc/version": "Not a directory"])
    }

    @Test func `no callback runs after a runner is deallocated while a hook runs`() throws {
        let stage = try HookStage()
        try stage.hook("a", "echo ready; sleep 1000")
        stage.send("1")
        try stage.run(untilOutput: "ready")
        stage.send("2")
        stage.dropRunner()
        stage.loop.mailbox.post { loop in loop.stop() }
        stage.loop.run()
        #expect(stage.reports.endings == [])
    }

    private func hasEnded(_ process: pid_t) -> Bool {
        // kill(2) returns before the process has ended: a busy machine lets it run on for a moment.
        for _ in 0..<500 {
            // The parent that adopts it may not reap it at once; a zombie has ended, too.
            let stat = (try? ChildProcess.run(["ps", "-o", "stat=", "-p", "\(process)"])) ?? ""
            if stat.isEmpty || stat.hasPrefix("Z") { return true }
            usleep(10_000)
        }
        return false
    }
}
