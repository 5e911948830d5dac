import ReachCore
import Testing

@Suite struct DaemonDirectoryTests {
    private static let directory = DaemonDirectory(
        handed: "STATE_DIRECTORY", machine: "/var/lib/reach", base: "XDG_STATE_HOME", usualBase: ".local/state")

    @Test(
        arguments: [
            (true, [:], "/var/lib/reach"), (true, ["STATE_DIRECTORY": "/s:/t", "HOME": "/h"], "/s"),
            (true, ["XDG_STATE_HOME": "/x", "HOME": "/h"], "/var/lib/reach"),
            (false, ["STATE_DIRECTORY": "/s", "XDG_STATE_HOME": "/x"], "/s"),
            (false, ["XDG_STATE_HOME": "/x"], "/x/reach"),
            (false, ["XDG_STATE_HOME": "x", "HOME": "/h"], "/h/.local/state/reach"),
            (false, ["HOME": "/h"], "/h/.local/state/reach"), (false, ["HOME": "h"], nil), (false, [:], nil),
        ] as [(Bool, [String: String], String?)])
    func `systemd's directory goes first, then that of root or of the user`(
        isRoot: Bool, variables: [String: String], path: String?
    ) {
        #expect(Self.directory.path(isRoot: isRoot) { variables[$0] } == path)
    }
}
