// swift-tools-version: 6.2
import PackageDescription

// The folders of Sources and their modules, in the order of data flow: no group imports a later one, which `make lint`
// checks.
let groups: [(folder: String, modules: [String])] = [
    (
        "C",
        [
            "CAres", "CCurl", "CExpat", "CHTTPServer", "CIdn", "CNats", "CNetlink", "CNetlinkGeneric", "CNetlinkRoute",
            "CPublicSuffix",
            "CReachLinux", "CSQLite", "CSystemdBus", "CToml", "CZlib",
        ]
    ),
    ("Base", ["ReachCore", "ReachLoop", "ReachRecords", "ReachTOML", "ReachTerminal", "ReachPage"]),
    ("System", ["ReachKernel", "ReachTransfer"]),
    ("Queue", ["ReachQueue", "ReachQueueRuntime"]),
    ("Control", ["ReachClient", "ReachControl"]),
    ("Monitor", ["ReachProbe", "Reachability", "ReachabilityFoundation"]),
    ("Sessions", ["ReachSerialization", "ReachSession", "ReachSessionFoundation", "ReachServices"]),
    (
        "Programs",
        ["ReachDaemon", "reachd", "reach", "ReachCommand", "ReachCrash", "ReachDesktop", "reach-desktop", "Examples"]
    ),
    ("Fleet", ["ReachFleet", "ReachFleetLink", "reach-fleet"]),
]

// Where a module is. The tests of `Module` are in `Tests/GROUP/ModuleTests`.
func path(_ module: String) -> String { "Sources/\(group(of: module))/\(module)" }

func path(ofTests target: String) -> String { "Tests/\(group(of: String(target.dropLast(5))))/\(target)" }

func group(of module: String) -> String {
    guard let group = groups.first(where: { $0.modules.contains(module) }) else { fatalError("\(module) has no group") }
    return group.folder
}

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// As Debian builds C programs; it takes an optimizing compiler.
let fortified = CSetting.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))

// Files of tests that are not built, separated by spaces: those of a target of which ONLY names files.
let leftOutFiles = (Context.environment["REACH_TESTS_LEFT_OUT"] ?? "").split(separator: " ")

func leftOut(of target: String) -> [String] {
    let folder = path(ofTests: target) + "/"
    return leftOutFiles.filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }
}

// What server-side programs use: each library behind a trait, so that no other program fetches it. REACH_SERVICES=yes is
// for the tests, which have all of them without building the other modules anew, as a trait would.
let testsServices = Context.environment["REACH_SERVICES"] == "yes"

func service(_ product: String, _ package: String, trait: String) -> Target.Dependency {
    .product(name: product, package: package, condition: testsServices ? nil : .when(traits: [trait]))
}

let serviceTraits: [(name: String, description: String)] = [
    ("Metrics", "ReachServices records requests and reachability with swift-metrics"),
    ("Tracing", "ReachServices makes spans of requests with swift-distributed-tracing"),
    ("ServiceLifecycle", "Sessions and monitors are services of swift-service-lifecycle"),
]

let serviceSettings: [SwiftSetting] = strict + (testsServices ? serviceTraits.map { .define($0.name) } : [])

func module(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path(name), resources: resources, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: path(ofTests: name), exclude: leftOut(of: name),
        swiftSettings: strict)
}

func library(_ name: String, pkgConfig: String?, _ debian: String) -> Target {
    .systemLibrary(name: name, path: path(name), pkgConfig: pkgConfig, providers: [.apt([debian])])
}

// C code of our own. It declares what only glibc's own extensions have.
func c(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: path(name), cSettings: [.define("_GNU_SOURCE"), fortified])
}

// A program of Examples/, for people to copy. It sees only what is public, as in a package of its own.
func example(_ name: String, _ folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Examples/\(folder)", packageAccess: false, swiftSettings: strict)
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

let products: [Product] = [
    .library(name: "Reachability", targets: ["Reachability"]),
    .library(name: "ReachabilityFoundation", targets: ["ReachabilityFoundation"]),
    .library(name: "ReachSession", targets: ["ReachSession"]),
    .library(name: "ReachSessionFoundation", targets: ["ReachSessionFoundation"]),
    .library(name: "ReachServices", targets: ["ReachServices"]),
    .executable(name: "reach", targets: ["reach"]),
    .executable(name: "reachd", targets: ["reachd"]),
    .executable(name: "reach-fleet", targets: ["reach-fleet"]),
    .executable(name: "reach-desktop", targets: ["reach-desktop"]),
]

let targets: [Target] = [
    library("CNetlink", pkgConfig: "libnl-3.0", "libnl-3-dev"),
    library("CSQLite", pkgConfig: "sqlite3", "libsqlite3-dev"),
    library("CExpat", pkgConfig: "expat", "libexpat1-dev"),
    library("CZlib", pkgConfig: "zlib", "zlib1g-dev"),
    library("CAres", pkgConfig: "libcares", "libc-ares-dev"),
    library("CPublicSuffix", pkgConfig: "libpsl", "libpsl-dev"),
    // Without pkg-config's name, so that programs which use only the libraries get no warning about it.
    library("CNats", pkgConfig: nil, "libnats-dev"),
    library("CSystemdBus", pkgConfig: nil, "libsystemd-dev"),
    c("CCurl", ["CReachLinux"]),
    c("CHTTPServer", ["CReachLinux"]),
    c("CIdn", ["CReachLinux"]),
    c("CNetlinkRoute", ["CReachLinux"]),
    c("CNetlinkGeneric", ["CReachLinux"]),
    c("CReachLinux"),
    // toml++ is a header-only library: Debian's libtomlplusplus-dev.
    .target(
        name: "CToml", path: path("CToml"),
        cxxSettings: [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]),
    module("ReachCore", ["CIdn"]),
    module("ReachTOML", ["CToml", "ReachCore"]),
    module("ReachSerialization", ["CExpat", "CZlib", "ReachCore", httpTypes]),
    module("ReachQueue", ["ReachCore"]),
    module("ReachLoop", ["CReachLinux", "ReachCore"]),
    // History, outages, findings of diagnoses, and their files.
    module("ReachRecords", ["ReachCore", "ReachLoop"]),
    module("ReachKernel", ["CNetlink", "CNetlinkGeneric", "CNetlinkRoute", "CReachLinux", "ReachCore", "ReachLoop"]),
    module("ReachTransfer", ["CAres", "CCurl", "CReachLinux", "ReachCore", "ReachLoop"]),
    module("ReachProbe", ["CReachLinux", "ReachCore", "ReachRecords", "ReachLoop", "ReachKernel", "ReachTransfer"]),
    module(
        "ReachQueueRuntime",
        ["CSQLite", "CReachLinux", "ReachCore", "ReachLoop", "ReachKernel", "ReachTransfer", "ReachQueue"]),
    // What a monitor needs to ask the daemon.
    module("ReachClient", ["CReachLinux", "ReachCore", "ReachLoop"]),
    module(
        "ReachControl", ["CReachLinux", "ReachCore", "ReachRecords", "ReachLoop", "ReachQueue", "ReachClient"],
        resources: [
            .embedInCode("Interfaces/io.reach.Monitor.varlink"), .embedInCode("Interfaces/io.reach.Queue.varlink"),
            .embedInCode("Schema/lines.varlink"), .embedInCode("Schema/fleet.varlink"),
        ]),
    module(
        "Reachability",
        ["CReachLinux", "ReachCore", "ReachLoop", "ReachKernel", "ReachClient", logging]),
    module("ReachabilityFoundation", ["ReachCore", "Reachability"]),
    module(
        "ReachSession",
        [
            "CPublicSuffix", "CReachLinux", "ReachCore", "ReachSerialization", "ReachQueue", "ReachLoop",
            "ReachQueueRuntime", "ReachKernel", "ReachTransfer", "Reachability", logging, httpTypes,
        ]),
    module("ReachSessionFoundation", ["ReachCore", "ReachSerialization", "ReachSession", httpTypes]),
    .target(
        name: "ReachServices",
        dependencies: [
            "ReachCore", "Reachability", "ReachSerialization", "ReachSession",
            service("CoreMetrics", "swift-metrics", trait: "Metrics"),
            service("Tracing", "swift-distributed-tracing", trait: "Tracing"),
            service("ServiceLifecycle", "swift-service-lifecycle", trait: "ServiceLifecycle"),
        ],
        path: path("ReachServices"), swiftSettings: serviceSettings),
    module(
        "ReachDaemon",
        [
            "CReachLinux", "ReachTOML", "ReachCore", "ReachRecords", "ReachLoop", "ReachKernel", "ReachTransfer",
            "ReachProbe",
            "ReachQueue", "ReachQueueRuntime", "ReachControl", "ReachTerminal", "ReachPage", logging,
        ]),
    // What the programs print alike.
    module("ReachTerminal", ["ReachCore", "ReachRecords", "ReachLoop"]),
    // What is written as HTML: reports, the page of one machine, the page of a fleet.
    module("ReachPage", ["ReachCore", "ReachRecords"]),
    module(
        "ReachFleet", ["ReachCore", "ReachRecords", "ReachPage"],
        resources: [
            .embedInCode("Page/page.html"), .embedInCode("Page/page.css"), .embedInCode("Page/page.js"),
        ]),
    module("ReachFleetLink", ["CNats", "CReachLinux", "ReachCore", "ReachLoop", "ReachControl", "ReachFleet"]),
    .executableTarget(
        name: "reach-fleet",
        dependencies: [
            "CHTTPServer", "CReachLinux", "ReachCore", "ReachLoop", "ReachQueue", "ReachControl", "ReachTerminal",
            "ReachTOML",
            "ReachPage", "ReachFleet", "ReachFleetLink",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        path: path("reach-fleet"),
        swiftSettings: strict
    ),
    module("ReachDesktop", ["ReachCore", "ReachPage"]),
    .executableTarget(
        name: "reach-desktop",
        dependencies: [
            "CSystemdBus", "ReachCore", "ReachLoop", "ReachControl", "ReachTerminal", "ReachDesktop",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        path: path("reach-desktop"),
        swiftSettings: strict
    ),
    .executableTarget(
        name: "reach",
        dependencies: [
            "CReachLinux", "ReachCore", "ReachRecords", "ReachLoop", "ReachKernel", "ReachQueue", "ReachControl",
            "ReachTerminal",
            "ReachPage",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        path: path("reach"),
        swiftSettings: strict
    ),
    .executableTarget(
        name: "reachd",
        dependencies: [
            "CReachLinux", "ReachCore", "ReachRecords", "ReachLoop", "ReachControl", "ReachTerminal", "ReachTOML",
            "ReachDaemon",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        path: path("reachd"),
        swiftSettings: strict
    ),
    .target(name: "CTestThreads", path: "Tests/Support/CTestThreads", cSettings: [.define("_GNU_SOURCE")]),
    .target(
        name: "ReachTesting", dependencies: ["CReachLinux", "CTestThreads", "ReachCore", "ReachRecords", "ReachLoop"],
        path: "Tests/Support/ReachTesting",
        swiftSettings: strict),
    tests("ReachCoreTests", ["ReachCore", "ReachTesting"]),
    tests("ReachSerializationTests", ["ReachCore", "ReachSerialization", "ReachTesting", httpTypes]),
    tests("ReachRecordsTests", ["ReachCore", "ReachRecords", "ReachLoop", "ReachTesting"]),
    tests("ReachLoopTests", ["CReachLinux", "ReachCore", "ReachLoop", "ReachTesting"]),
    tests(
        "ReachKernelTests", ["CReachLinux", "ReachCore", "ReachRecords", "ReachLoop", "ReachKernel", "ReachTesting"]),
    tests(
        "ReachabilityTests",
        [
            "ReachControl", "ReachCore", "ReachLoop", "ReachKernel", "Reachability", "ReachabilityFoundation", "reachd",
            "ReachTesting",
            logging,
        ]),
    tests(
        "ReachProbeTests",
        [
            "CReachLinux", "ReachCore", "ReachRecords", "ReachLoop", "ReachKernel", "ReachTransfer", "ReachProbe",
            "ReachTesting",
        ]),
    .executableTarget(
        name: "queuerun",
        dependencies: ["ReachCore", "ReachLoop", "ReachKernel", "ReachQueue", "ReachQueueRuntime"],
        path: "Tests/Support/queuerun", swiftSettings: strict),
    // For contrib/bench/queue.
    .executableTarget(
        name: "queuedrain",
        dependencies: ["ReachCore", "ReachLoop", "ReachKernel", "ReachQueue", "ReachQueueRuntime"],
        path: "Tests/Support/queuedrain", swiftSettings: strict),
    tests(
        "ReachQueueRuntimeTests",
        [
            "queuecrash", "queuerun", "CReachLinux", "ReachCore", "ReachLoop", "ReachKernel", "ReachTransfer",
            "ReachQueue", "ReachQueueRuntime", "ReachTesting",
        ]),
    .executableTarget(
        // Also for contrib/bench/queue.
        name: "sessiondrain", dependencies: ["ReachSession"], path: "Tests/Support/sessiondrain",
        swiftSettings: strict),
    .executableTarget(
        name: "getonce", dependencies: ["ReachSession"], path: "Tests/Support/getonce", swiftSettings: strict),
    tests(
        "ReachSessionTests",
        [
            "getonce", "sessiondrain", "ReachCore", "ReachSession", "ReachSerialization", "ReachTransfer",
            "Reachability",
            "ReachSessionFoundation", "ReachTesting", logging,
        ]),
    example("network-monitor", "Monitor", ["Reachability"]),
    example("wifi-upload", "WiFiUpload", ["ReachSession"]),
    example("token-refresh", "TokenRefresh", ["ReachSession"]),
    example("offline-cache", "OfflineCache", ["ReachSession"]),
    example("downloader", "Downloader", ["ReachSession"]),
    example("from-afnetworking", "FromAFNetworking", ["ReachSession", "ReachSessionFoundation"]),
    example("view-model", "ViewModel", ["ReachSession"]),
    example("operation-queue", "OperationQueue", ["ReachSession"]),
    example("upload-once", "UploadOnce", ["ReachSession"]),
    tests(
        "ExamplesTests",
        [
            "network-monitor", "wifi-upload", "token-refresh", "offline-cache", "downloader", "from-afnetworking",
            "view-model", "operation-queue", "upload-once", "ReachCore", "ReachTesting",
        ]),
    .target(name: "CConfine", path: "Tests/Support/CConfine", cSettings: [.define("_GNU_SOURCE")]),
    .executableTarget(
        name: "fetch", dependencies: ["ReachCore", "ReachLoop", "ReachTransfer"], path: "Tests/Support/fetch",
        swiftSettings: strict),
    tests(
        "ReachTransferTests",
        ["fetch", "CConfine", "CCurl", "CReachLinux", "ReachCore", "ReachLoop", "ReachTransfer", "ReachTesting"]),
    tests(
        "ReachControlTests",
        [
            "CConfine", "CReachLinux", "ReachCore", "ReachRecords", "ReachLoop", "ReachQueue", "ReachControl",
            "ReachTesting",
        ]),
    tests(
        "ReachDaemonTests",
        [
            "CReachLinux", "ReachCore", "ReachRecords", "ReachLoop", "ReachKernel", "ReachProbe", "ReachControl",
            "ReachQueue",
            "ReachQueueRuntime", "ReachDaemon", "ReachTOML", "ReachPage", "ReachTesting", logging,
        ]),
    tests("ReachQueueTests", ["ReachCore", "ReachQueue", "ReachTesting"]),
    tests("ReachFleetTests", ["ReachCore", "ReachPage", "ReachFleet", "ReachTesting"]),
    tests(
        "ReachFleetLinkTests",
        [
            "reach-fleet", "reachd", "fleetsim", "fleetfill", "CReachLinux", "ReachCore", "ReachLoop", "ReachControl",
            "ReachQueue",
            "ReachFleet", "ReachFleetLink", "ReachTesting",
        ]),
    // For Tests/Field/fleet/sim and Tests/Field/fleet/demo.
    .executableTarget(
        name: "fleetsim", dependencies: ["ReachCore", "ReachLoop", "ReachTerminal", "ReachFleet", "ReachFleetLink"],
        path: "Tests/Support/fleetsim", swiftSettings: strict),
    // Fills a server with the states of many hosts, to measure readers.
    .executableTarget(
        name: "fleetfill", dependencies: ["ReachCore", "ReachFleet", "ReachFleetLink", "ReachLoop"],
        path: "Tests/Support/fleetfill", swiftSettings: strict),
    .executableTarget(
        name: "queuecrash", dependencies: ["ReachCore", "ReachQueue", "ReachLoop", "ReachQueueRuntime"],
        path: "Tests/Support/queuecrash", swiftSettings: strict),
    .executableTarget(name: "confine", path: "Tests/Support/confine"),
    .executableTarget(
        name: "monitor", dependencies: ["Reachability"], path: "Tests/Support/monitor", swiftSettings: strict),
    tests(
        "ReachCommandTests",
        [
            "reach", "reachd", "reach-fleet", "reach-desktop", "confine", "monitor", "queuerun", "ReachCore",
            "ReachRecords",
            "ReachProbe",
            "ReachQueue", "ReachControl", "ReachTerminal", "ReachPage", "ReachTesting",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
    tests(
        "ReachDesktopTests", ["reach-desktop", "reachd", "ReachCore", "ReachDesktop", "ReachLoop", "ReachTesting"]),
    // Separate from the other tests, because these wait for disks and silent daemons and would delay the rest.
    tests("ReachCrashTests", ["reach", "reachd", "reach-fleet", "queuecrash", "ReachCore", "ReachTesting"]),
]

let serviceTests: [Target] = [
    .executableTarget(
        name: "service",
        dependencies: [
            "Reachability", "ReachSession", "ReachServices",
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "UnixSignals", package: "swift-service-lifecycle"), logging,
        ],
        path: "Examples/Service", packageAccess: false, swiftSettings: strict),
    .testTarget(
        name: "ReachServicesTests",
        dependencies: [
            "service", "ReachCore", "Reachability", "ReachSerialization", "ReachServices", "ReachSession",
            "ReachTesting",
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            .product(name: "MetricsTestKit", package: "swift-metrics"),
            .product(name: "InMemoryTracing", package: "swift-distributed-tracing"), logging,
        ],
        path: path(ofTests: "ReachServicesTests"), exclude: leftOut(of: "ReachServicesTests"), swiftSettings: strict),
]

// REACH_TARGETS lists targets, separated by spaces. SwiftPM then plans only these and their dependencies: the tests of
// one module start soon after a change (`make test ONLY=ReachCoreTests`, or ONLY=ReachCoreTests/HoldDownTests for one
// file), and one build makes several programs, whose modules compile side by side.
let chosenTargets = (Context.environment["REACH_TARGETS"] ?? "").split(separator: " ").map(String.init)

let allTargets = targets + (testsServices ? serviceTests : [])

@MainActor func needed(by names: [String]) -> Set<String> {
    var found: Set<String> = []
    var open = names
    while let name = open.popLast() {
        guard found.insert(name).inserted, let target = allTargets.first(where: { $0.name == name }) else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
    }
    return found
}

let kept = chosenTargets.isEmpty ? Set(allTargets.map(\.name)) : needed(by: chosenTargets)

let servicePackages: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
]

let package = Package(
    name: "reach",
    products: chosenTargets.isEmpty ? products : [],
    traits: Set(serviceTraits.map { .trait(name: $0.name, description: $0.description) }),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Its default trait links FoundationEssentials, for conversions to URL.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ] + (kept.contains("ReachServices") ? servicePackages : []),
    targets: allTargets.filter { kept.contains($0.name) },
    cxxLanguageStandard: .cxx17
)
