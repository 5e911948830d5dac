// swift-tools-version: 6.2
import PackageDescription

// What a Swift programmer would use in place of ReachSession, for `contrib/bench/queue`. A package of its own, so that
// nobody who builds reach fetches these.
let package = Package(
    name: "peers",
    dependencies: [
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        .target(name: "PeerDrain"),
        .executableTarget(
            name: "ahcdrain",
            dependencies: [
                "PeerDrain",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "_NIOFileSystem", package: "swift-nio"),
            ]),
        .executableTarget(name: "urlsessiondrain", dependencies: ["PeerDrain"]),
    ]
)
