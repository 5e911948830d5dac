import Glibc
import ReachDaemon
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

    private func file(_ path: String, required: Bool) -> ConfigurationFile {
        ConfigurationFile(path: path, isRequired: required)
    }
}
