import ReachCore
import ReachTesting
import Testing

@testable import ReachProbe

/// Which files are read.
@Suite struct LeaseReaderTests {
    private let files: TemporaryDirectory
    private let reader: LeaseReader
    private static let uri = "https://portal.example.net/api"

    init() throws {
        files = try TemporaryDirectory()
        try ChildProcess.run(["mkdir", "-p", files.path + "/run/reach-portal"])
        reader = LeaseReader(root: files.path + "/")
    }

    private func portal(of name: String) -> String? { reader.portal(of: name, 7, addresses: []) }

    private func isHotspot(_ name: String) -> Bool? {
        reader.isAndroidHotspot(LeaseQuestion(interface: 7, name: name, gateways: [], addresses: []))
    }

    @Test func `no name of an interface leads out of the directory`() throws {
        for place in ["run/reach-portal/wlan0", "run/other"] {
            try files.file(place, Self.uri + "\n", mode: 0o644)
            try files.file(place + ".vendor", "ANDROID_METERED", mode: 0o644)
        }
        #expect(portal(of: "wlan0") == Self.uri && isHotspot("wlan0") == true)
        #expect(portal(of: "../other") == nil && isHotspot("../other") == nil)
        for name in [".", "..", "/", ""] { #expect(portal(of: name) == nil && isHotspot(name) == nil, "\(name)") }
    }

    @Test func `a link to a file is not followed, and a file of more than a mebibyte is not read`() throws {
        try files.file("run/reach-portal/wlan0", Self.uri, mode: 0o644)
        try ChildProcess.run(["ln", "-s", "wlan0", files.path + "/run/reach-portal/wlan1"])
        #expect(portal(of: "wlan0") == Self.uri && portal(of: "wlan1") == nil)
        let rest = String(repeating: "\n", count: (1 << 20) - Self.uri.utf8.count)
        try files.file("run/reach-portal/wlan0", Self.uri + rest, mode: 0o644)
        #expect(portal(of: "wlan0") == Self.uri)
        try files.file("run/reach-portal/wlan0", Self.uri + rest + "\n", mode: 0o644)
        #expect(portal(of: "wlan0") == nil)
    }
}
