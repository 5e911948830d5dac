import Glibc
@testable import ReachDaemon
import ReachTOML
import ReachTesting
import Testing

@Suite struct ConfigurationFileTests {
    @Test(
        arguments: [
            ("/x/reach.toml", true, [:], "/x/reach.toml"), ("reach.toml", false, [:], "reach.toml"),
            (nil, true, ["HOME": "/root", "XDG_CONFIG_HOME": "/c"], "/etc/reach/reach.toml"),
            (nil, false, ["HOME": "/home/a"], "/home/a/.config/reach/reach.toml"),
            (nil, false, ["HOME": "/", "CONFIGURATION_DIRECTORY": "/etc/reach:/x"], "/etc/reach/reach.toml"),
            (nil, false, ["HOME": "/home/a", "XDG_CONFIG_HOME": "/c"], "/c/reach/reach.toml"),
            (nil, false, ["HOME": "/home/a", "XDG_CONFIG_HOME": "c"], "/home/a/.config/reach/reach.toml"),
            (nil, false, [:], nil), (nil, false, ["HOME": ""], nil),
        ] as [(String?, Bool, [String: String], String?)])
    func `the file is the named one, root's, or the user's`(
        named: String?, isRoot: Bool, environment: [String: String], path: String?
    ) {
        let file = ConfigurationFile.find(named: named, isRoot: isRoot) { environment[$0] }
        #expect(file?.path == path)
        #expect(file?.isRequired ?? false == (named != nil))
    }

    @Test func `a missing default file means the defaults, a missing named file is an error`() throws {
        let directory = try TemporaryDirectory()
        let missing = directory.path + "/reach.toml"
        #expect(try file(missing, required: false).load() == Configuration())
        let error = #expect(throws: ConfigurationError.self) { try file(missing, required: true).load() }
        #expect(
            error?.description
                == "\(missing): it cannot be read: No such file or directory; expected a file that can be read")
    }

    @Test func `errors about a directory, a file that is too long and a wrong value contain the file's name`() throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: ConfigurationError.self) { try file(directory.path, required: false).load() }
        #expect(error?.description.hasPrefix("\(directory.path): it cannot be read: Is a directory") == true)
        let long = try directory.file("long", String(repeating: "# comment\n", count: 104_858))
        #expect(throws: ConfigurationError.self) { try file(long, required: false).load() }
        let wrong = try directory.file("wrong", "\n\nhold = 1\n")
        let failure = #expect(throws: ConfigurationError.self) { try file(wrong, required: false).load() }
        #expect(failure?.description.hasPrefix("\(wrong):3: hold: it is not a table") == true)
        let right = try directory.file("right", "[hold]\nup = '1s'\n")
        #expect(try file(right, required: true).load().hold.up == .seconds(1))
    }

    @Test func `files next to the configuration are read after it, in the order of their names`() throws {
        let directory = try TemporaryDirectory()
        let main = try directory.file("reach.toml", "[hold]\nup = '1s'\ndown = '1s'\n", mode: 0o644)
        #expect(try file(main, required: true).load().hold.up == .seconds(1))
        let folder = directory.path + "/reach.d"
        try ChildProcess.run(["mkdir", "-m", "755", folder])
        for (name, text) in [
            ("20-late.toml", "[hold]\nup = '3s'"), ("10-early.toml", "[hold]\nup = '2s'\ndown = '2s'"),
            ("30.toml~", "oops"), (".40.toml", "oops"), ("README", "oops"),
        ] { try directory.file("reach.d/" + name, text, mode: 0o644) }
        let hold = try file(main, required: true).load().hold
        #expect((hold.up, hold.down) == (.seconds(3), .seconds(2)))
        // Without the first file the others count, too.
        try ChildProcess.run(["rm", main])
        #expect(try file(main, required: false).load().hold.up == .seconds(3))
        // Other names have no directory next to them.
        #expect(file("/dev/stdin", required: true).folder == nil)
    }

    @Test(arguments: [
        ("chmod 775 reach.d", "reach.d", "users other than its owner can write to it"),
        ("chmod 646 reach.d/1.toml", "reach.d/1.toml", "users other than its owner can write to it"),
        ("rm reach.d/1.toml && mkdir -m 755 reach.d/1.toml", "reach.d/1.toml", "it is not a regular file"),
        ("rm reach.d/1.toml && mkfifo -m 644 reach.d/1.toml", "reach.d/1.toml", "it is not a regular file"),
        ("chown 4001 reach.d/1.toml", "reach.d/1.toml", "it belongs to user 4001"),
        ("chown 4001 reach.d", "reach.d", "it belongs to user 4001"),
        (
            "chmod 1777 . && mv reach.d other && ln -s other reach.d", "reach.d",
            "the directory that contains it is not safe: users other than its owner can write to it"
        ),
        ("echo oops >reach.d/1.toml", "reach.d/1.toml:1", "oops: there is '\\n'"),
    ])
    func `what others could have written is not read`(change: String, place: String, problem: String) throws {
        guard !change.hasPrefix("chown") || getuid() == 0 else { return }
        let directory = try TemporaryDirectory()
        let main = try directory.file("reach.toml", "[hold]\nup = '1s'\n", mode: 0o644)
        try ChildProcess.run(["mkdir", "-m", "755", directory.path + "/reach.d"])
        try directory.file("reach.d/1.toml", "[hold]\nup = '2s'\n", mode: 0o644)
        try ChildProcess.run(["sh", "-c", "cd \"$0\" && " + change, directory.path])
        let error = #expect(throws: ConfigurationError.self) { try file(main, required: true).load() }
        #expect(error?.description.hasPrefix("\(directory.path)/\(place): \(problem)") == true, "\(error as Any)")
    }

    private func file(_ path: String, required: Bool) -> ConfigurationFile {
        ConfigurationFile(path: path, isRequired: required)
    }
}
