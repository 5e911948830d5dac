import ReachDaemon
import Testing

@Suite struct HookCheckTests {
    private func check(_ name: String = "hook", regular: Bool = true, owner: UInt32 = 0, mode: UInt32 = 0o755)
        -> HookCheck.Finding
    {
        HookCheck.file(named: name, HookCheck.Facts(isRegular: regular, owner: owner, mode: mode), user: 990)
    }

    @Test(arguments: [0o755, 0o700, 0o555, 0o100, 0o4755] as [UInt32])
    func `a file that only root or the daemon's own user can write runs`(mode: UInt32) {
        #expect(check(mode: mode) == .run)
        #expect(check(owner: 990, mode: mode) == .run)
    }

    @Test func `a file that others own or can write is refused`() {
        #expect(check(owner: 1000) == .refuse("it belongs to user 1000"))
        #expect(check(mode: 0o775) == .refuse("users other than its owner can write to it"))
        #expect(check(mode: 0o757) == .refuse("users other than its owner can write to it"))
        #expect(check(regular: false) == .refuse("it is not a regular file"))
    }

    @Test(arguments: [".hidden", "hook~", "hook.dpkg-old", "hook.rpmsave", "hook.swp", "hook.bak"])
    func `leftovers of editors and package managers are ignored`(name: String) {
        #expect(check(name) == .ignore)
        #expect(check(name, owner: 1000) == .ignore)
    }

    @Test func `a script without execute permission is ignored, whoever owns it`() {
        #expect(check(mode: 0o644) == .ignore)
        #expect(check("README", owner: 1000, mode: 0o664) == .ignore)
    }

    @Test func `the same rules apply to a directory`() {
        func problem(_ owner: UInt32, _ mode: UInt32) -> String? {
            HookCheck.directory(HookCheck.Facts(isRegular: false, owner: owner, mode: mode), user: 990)
        }
        #expect(problem(0, 0o755) == nil)
        #expect(problem(990, 0o700) == nil)
        #expect(problem(1000, 0o755) == "it belongs to user 1000")
        #expect(problem(0, 0o1777) == "users other than its owner can write to it")
    }
}
