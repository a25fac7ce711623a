// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackageDescription

/// Whether this is a build of the fuzz targets (`make fuzz`): every module is instrumented.
let isFuzzing = ProcessInfo.processInfo.environment["UPGRADE_RELAY_FUZZ"] != nil

/// Every target: the Swift 6 language mode, warnings as errors, and imports that leak nothing.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Targets that touch C: every use of a pointer is marked `unsafe` (SE-0458).
let strictWithC = strict + [.strictMemorySafety()]

/// A Debian library behind a module map and a shim header, nothing else.
func system(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}

/// A target ("room") in a folder of `Sources` ("wing") whose targets share one subject.
func room(
    _ name: String, in wing: String, _ dependencies: [Target.Dependency] = [], touchesC: Bool = false
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(wing)/\(name)",
        swiftSettings: touchesC ? strictWithC : strict)
}

/// A test target. Tests that block a thread use `OwnThread`.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["OwnThread"], exclude: exclude, swiftSettings: strict)
}

func command(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strictWithC)
}

/// The same sources in one of two forms: libFuzzer drives them with generated inputs, the tests with stored ones.
let fuzzTargets: [Target] = {
    let fuzzed: [Target.Dependency] = [
        "RelayDaemon", "ClientCommands", "Configuration", "Terminal", "RelayAPI", "HTTPServer", "VersionSources",
        "PushProviders", "HTTP2", "Signing", "Telemetry", "WireFormat", "RelayStore", "Requirements", "RelayEngine",
        "Registry", "UpgradeRules", "PushSimulator",
    ]
    guard isFuzzing else {
        return [
            .testTarget(
                name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz",
                exclude: ["Driver", "CFuzzer", "Corpus", "fuzz.sh"], swiftSettings: strict)
        ]
    }
    return [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: fuzzed + ["CFuzzer"], path: "Tests/Fuzz",
            exclude: ["Replay", "CFuzzer", "Corpus", "fuzz.sh"], swiftSettings: strictWithC),
    ]
}()

let package = Package(
    name: "upgrade-relay",
    products: (isFuzzing ? [] : [.executable(name: "upgrade-relay", targets: ["upgrade-relay"])]) + [
        .library(name: "UpgradeRules", targets: ["UpgradeRules"]),
        // Stand-ins for APNs and FCM, for the tests of other packages.
        .library(name: "PushSimulator", targets: ["PushSimulator"]),
    ],
    targets: [
        // The targets of `Sources`, roughly from the executable down.
        command("upgrade-relay", ["RelayDaemon", "Demo", "ClientCommands", "Terminal", "Signing", "Threading"]),
        room(
            "RelayDaemon", in: "Running",
            [
                "Configuration", "Terminal", "StatusPage", "RelayAPI", "HTTPServer", "Notifications", "VersionSources",
                "FanOut", "PushProviders", "HTTP2", "CurlTransport", "Signing", "RelayStore", "Requirements",
                "StoreDrivers",
                "Telemetry",
                "Threading", "WireFormat", "RelayEngine", "UpgradeRules", "Systemd", "CLinux",
            ], touchesC: true),
        room(
            "Demo", in: "StandIns",
            [
                "ClientCommands", "Configuration", "Terminal", "HTTPServer", "Signing", "Telemetry", "Threading",
                "WireFormat", "RelayEngine", "PushSimulator", "PrivatePostgres",
            ], touchesC: true),
        room(
            "ClientCommands", in: "Running",
            [
                "Configuration", "Terminal", "RelayAPI", "CurlTransport", "Signing", "RelayStore", "Requirements",
                "Registry",
                "StoreDrivers", "Telemetry", "Threading", "WireFormat", "RelayEngine", "UpgradeRules",
            ], touchesC: true),
        room(
            "StoreDrivers", in: "Store",
            [
                "Configuration", "RelayStore", "Requirements", "RelayStoreSQLite", "RelayStorePostgres", "Telemetry",
                "Threading",
            ]),
        room(
            "Configuration", in: "Running",
            [
                "Terminal", "RelayAPI", "HTTPServer", "VersionSources", "CurlTransport", "Signing", "RelayStore",
                "Requirements",
                "Telemetry", "Threading", "WireFormat", "RelayEngine", "UpgradeRules",
            ], touchesC: true),
        room("Terminal", in: "Running", ["CTexts", "Threading", "WireFormat", "RelayEngine"], touchesC: true),
        room(
            "StatusPage", in: "Serving",
            [
                "RelayAPI", "CPage", "HTTPServer", "RelayStore", "Requirements", "Registry", "Threading", "WireFormat",
                "RelayEngine",
                "UpgradeRules",
            ]),
        room(
            "RelayAPI", in: "Serving",
            [
                "HTTPServer", "COpenAPI", "Signing", "VersionSources", "RelayStore", "Requirements", "Registry",
                "Telemetry",
                "Threading", "WireFormat", "RelayEngine", "UpgradeRules",
            ]),
        room(
            "HTTPServer", in: "Serving",
            [
                "CLinux", "CGzip", "Signing", "Telemetry", "Threading", "WireFormat", "RelayEngine", "UpgradeRules",
            ], touchesC: true),
        room(
            "Notifications", in: "Integrations",
            [
                "CurlTransport", "Signing", "RelayStore", "Requirements", "Telemetry", "Threading", "WireFormat",
                "RelayEngine",
            ]),
        room(
            "VersionSources", in: "Integrations",
            [
                "CurlTransport", "Signing", "RelayStore", "Requirements", "Telemetry", "Threading", "WireFormat",
                "RelayEngine",
                "UpgradeRules", "CLinux",
            ], touchesC: true),
        room(
            "FanOut", in: "Push",
            [
                "PushProviders", "HTTP2", "RelayStore", "Requirements", "Telemetry", "Threading", "WireFormat",
                "RelayEngine",
                "UpgradeRules",
            ], touchesC: true),
        room(
            "PushProviders", in: "Push",
            ["HTTP2", "CurlTransport", "Signing", "Threading", "WireFormat", "RelayEngine", "UpgradeRules"],
            touchesC: true),
        room(
            "HTTP2", in: "Push",
            [
                "CurlTransport", "Telemetry", "Threading", "WireFormat", "RelayEngine", "CNGHTTP2", "CLinux",
            ], touchesC: true),
        room("CurlTransport", in: "Base", ["Threading", "WireFormat", "CCurl", "COpenSSL"], touchesC: true),
        room("Signing", in: "Base", ["WireFormat", "RelayEngine", "COpenSSL"], touchesC: true),
        room(
            "RelayStoreSQLite", in: "Store",
            [
                "CSQLite", "StoreSQL", "RelayStore", "Requirements", "Registry", "Telemetry", "Threading",
                "WireFormat",
                "RelayEngine",
                "UpgradeRules",
            ], touchesC: true),
        room(
            "RelayStorePostgres", in: "Store",
            [
                "CPostgres", "StoreSQL", "RelayStore", "Requirements", "Registry", "Signing", "Telemetry",
                "Threading",
                "RelayEngine",
                "UpgradeRules",
            ],
            touchesC: true),
        room(
            "StoreSQL", in: "Store",
            [
                "CTexts", "RelayStore", "Requirements", "Registry", "Telemetry", "WireFormat", "RelayEngine",
                "UpgradeRules",
            ],
            touchesC: true),
        room("RelayStore", in: "Store", ["Requirements", "WireFormat", "Registry", "RelayEngine", "UpgradeRules"]),
        room("Requirements", in: "Rules", ["WireFormat", "RelayEngine", "UpgradeRules"]),
        room("Registry", in: "Rules", ["WireFormat", "RelayEngine"]),
        room("Telemetry", in: "Base", ["CTexts", "RelayEngine"], touchesC: true),
        room("Threading", in: "Base", ["RelayEngine", "CLinux"], touchesC: true),
        room("WireFormat", in: "Base", ["RelayEngine", "UpgradeRules"]),
        room("RelayEngine", in: "Rules", ["UpgradeRules"]),
        room("UpgradeRules", in: "Rules"),
        room(
            "PushSimulator", in: "StandIns",
            [
                "HTTPServer", "CNGHTTP2", "CLinux", "Signing", "Threading", "WireFormat", "RelayEngine",
            ], touchesC: true),
        room("PrivatePostgres", in: "StandIns", ["Threading"], touchesC: true),
        room("Systemd", in: "Running", ["CSystemd", "Telemetry", "RelayEngine"], touchesC: true),
        .target(name: "COpenAPI", path: "Sources/C/COpenAPI", exclude: ["openapi.json"]),
        .target(name: "CPage", path: "Sources/C/CPage", exclude: ["page.css", "page.js", "icon.svg"]),
        .target(
            name: "CGzip", path: "Sources/C/CGzip",
            // As Debian builds C (wiki.debian.org/Hardening). Not for debug: without optimisation, glibc only warns about it.
            cSettings: [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))],
            linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CTexts", path: "Sources/C/CTexts", exclude: ["schema"]),
        .target(name: "CPostgres", path: "Sources/C/CPostgres"),
        system("CLinux"),
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        system("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        system("CSystemd", pkgConfig: "libsystemd", apt: "libsystemd-dev"),

        // Tests with their helpers, and the tools that write documents.
        .target(name: "OwnThread", path: "Tests/OwnThread", swiftSettings: strict),
        .target(
            name: "StoreConformance",
            dependencies: ["RelayStore", "Requirements", "WireFormat", "RelayEngine", "UpgradeRules"],
            path: "Tests/StoreConformance", swiftSettings: strict),
        .target(
            name: "HookReceiver", dependencies: ["TestPeers", "Signing", "Threading", "RelayEngine"],
            path: "Tests/HookReceiver", swiftSettings: strict),
        .target(
            name: "SimulatorTools", dependencies: ["PushSimulator", "WireFormat"], path: "Tests/SimulatorTools",
            swiftSettings: strict),
        .executableTarget(
            name: "manual",
            dependencies: ["Configuration", "Terminal", "CTexts", "WireFormat"], path: "etc/manual",
            swiftSettings: strictWithC),
        .executableTarget(
            name: "openapi",
            dependencies: ["RelayAPI", "RelayStore", "Requirements", "WireFormat", "RelayEngine", "UpgradeRules"],
            path: "etc/openapi",
            exclude: ["text"], swiftSettings: strict),
        .executableTarget(
            name: "relay-bench",
            dependencies: [
                "PushProviders", "HTTP2", "CurlTransport", "Signing", "Terminal", "RelayEngine", "UpgradeRules",
                "PushSimulator", "SimulatorTools", "PrivatePostgres", "CLinux", "CAllocationCount",
            ],
            path: "Tests/Benchmarks", swiftSettings: strictWithC),
        .target(name: "SeedApps", path: "Tests/SeedApps", swiftSettings: strict),
        .target(name: "CAllocationCount", path: "Tests/CAllocationCount"),
        .target(name: "CFaultyVFS", dependencies: ["CSQLite"], path: "Tests/CFaultyVFS"),
        .target(
            name: "FaultInjection", dependencies: ["CFaultyVFS"], path: "Tests/FaultInjection",
            swiftSettings: strictWithC),
        .target(
            name: "Simulation",
            dependencies: [
                "RelayDaemon", "Configuration", "RelayAPI", "HTTPServer", "Notifications", "VersionSources", "FanOut",
                "PushProviders", "HTTP2", "Signing", "RelayStore", "Requirements", "TestStores", "Telemetry",
                "Threading",
                "WireFormat", "RelayEngine", "UpgradeRules", "FaultInjection", "PrivatePostgres", "RelayStorePostgres",
                "CSQLite", "ClientCommands", "Registry",
            ],
            path: "Tests/Simulation", exclude: ["README.md", "Known", "Kept", "Mutants"], swiftSettings: strictWithC),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation", "StorePeers", "PrivatePostgres"], path: "Tests/Simulate",
            swiftSettings: strict),
        .target(name: "Mutation", path: "Tests/Mutation", swiftSettings: strict),
        .executableTarget(
            name: "mutants", dependencies: ["Mutation"], path: "Tests/Mutants", swiftSettings: strict),
        tests("MutationTests", ["Mutation"]),
        tests(
            "SimulationTests",
            [
                "Simulation", "StorePeers", "PrivatePostgres", "TestStores", "RelayStore", "Requirements",
                "RelayEngine",
                "UpgradeRules", "Threading",
                "FaultInjection",
            ]),
        tests("UpgradeRulesTests", ["UpgradeRules", "SeedApps", "FaultInjection"]),
        tests("RelayEngineTests", ["Threading", "WireFormat", "RelayEngine", "UpgradeRules", "FaultInjection"]),
        tests("RegistryTests", ["Registry", "WireFormat", "RelayEngine"]),
        tests(
            "RequirementsTests", ["Requirements", "WireFormat", "RelayEngine", "UpgradeRules", "FaultInjection"]),
        tests(
            "RelayStoreTests",
            [
                "RelayStore", "Requirements", "Registry", "WireFormat", "RelayEngine", "UpgradeRules", "FaultInjection",
                "StoreConformance",
            ]),
        tests(
            "RelayStoreSQLiteTests",
            [
                "Telemetry", "Threading", "WireFormat", "RelayStoreSQLite", "StoreSQL", "RelayStore", "Requirements",
                "RelayEngine",
                "UpgradeRules",
                "StoreConformance", "TestStores", "FaultInjection", "TestPeers",
            ], exclude: ["Stores"]),
        tests(
            "RelayStorePostgresTests",
            [
                "RelayStorePostgres", "StoreSQL", "RelayStore", "Requirements", "RelayStoreSQLite", "Telemetry",
                "Threading",
                "RelayEngine", "UpgradeRules", "FaultInjection", "StoreConformance", "TestStores", "TestPeers",
                "StorePeers", "PrivatePostgres",
            ]),
        tests("SigningTests", ["Signing", "WireFormat", "RelayEngine", "TestPeers"]),
        tests("ThreadingTests", ["Threading", "RelayEngine"]),
        tests("TelemetryTests", ["Telemetry", "RelayEngine"]),
        tests("WireFormatTests", ["WireFormat", "RelayEngine"]),
        tests("SystemdTests", ["Systemd", "Telemetry", "RelayEngine"]),
        .target(
            name: "TestPeers",
            dependencies: ["CurlTransport", "Threading", "Signing", "WireFormat", "CNGHTTP2", "COpenSSL", "CLinux"],
            path: "Tests/TestPeers", swiftSettings: strict),
        .target(
            name: "TestStores",
            dependencies: ["RelayStore", "Requirements", "RelayStoreSQLite", "RelayStorePostgres", "RelayEngine"],
            path: "Tests/TestStores", swiftSettings: strict),
        .target(
            name: "StorePeers", dependencies: ["PrivatePostgres", "TestPeers", "Threading", "Signing", "WireFormat"],
            path: "Tests/StorePeers", swiftSettings: strict),
        tests(
            "HTTP2Tests",
            [
                "Telemetry", "Threading", "HTTP2", "CurlTransport", "RelayEngine", "TestPeers", "CAllocationCount",
                "CNGHTTP2",
            ]),
        tests(
            "PushProvidersTests",
            [
                "WireFormat", "PushProviders", "HTTP2", "Signing", "RelayEngine", "UpgradeRules", "SeedApps",
                "TestPeers",
            ]),
        tests(
            "FanOutTests",
            [
                "Telemetry", "Threading", "WireFormat", "FanOut", "PushProviders", "HTTP2", "CurlTransport",
                "RelayStore", "Requirements", "TestStores", "RelayStoreSQLite", "StoreSQL", "RelayEngine",
                "UpgradeRules",
                "PushSimulator",
                "Signing", "SeedApps",
                "TestPeers", "FaultInjection", "StoreConformance",
            ]),
        tests(
            "VersionSourcesTests",
            [
                "Telemetry", "Threading", "WireFormat", "VersionSources", "CurlTransport", "Signing", "RelayStore",
                "Requirements",
                "TestStores", "RelayEngine", "UpgradeRules", "TestPeers", "StorePeers", "StoreConformance",
            ]),
        tests(
            "NotificationsTests",
            [
                "Telemetry", "Notifications", "RelayAPI", "VersionSources", "CurlTransport", "Signing", "RelayStore",
                "Requirements",
                "TestStores", "RelayEngine", "UpgradeRules", "HookReceiver", "TestPeers", "FaultInjection",
                "StoreConformance",
            ]),
        tests(
            "RelayAPITests",
            [
                "RelayAPI", "HTTPServer", "VersionSources", "Signing", "RelayStore", "Requirements", "Registry",
                "TestStores",
                "Telemetry", "Threading", "WireFormat", "RelayEngine", "UpgradeRules", "CurlTransport", "SeedApps",
                "TestPeers", "StoreConformance", "StatusPage", "openapi",
            ], exclude: ["COSTS.md"]),
        tests(
            "StatusPageTests",
            [
                "StatusPage", "HTTPServer", "RelayAPI", "RelayStore", "Requirements", "Registry", "RelayEngine",
                "UpgradeRules",
            ]),
        tests("HTTPServerTests", ["HTTPServer", "Telemetry", "RelayEngine"]),
        tests(
            "PushSimulatorTests",
            ["PushSimulator", "SimulatorTools", "HTTPServer", "Signing", "WireFormat", "RelayEngine", "TestPeers"]),
        .target(
            name: "CommandTranscript", dependencies: ["Terminal"], path: "Tests/CommandTranscript",
            swiftSettings: strict),
        tests("TerminalTests", ["Terminal", "CommandTranscript", "RelayEngine"]),
        tests(
            "ConfigurationTests",
            [
                "Configuration", "RelayAPI", "VersionSources", "CurlTransport", "Signing", "RelayStore", "Requirements",
                "WireFormat",
                "RelayEngine", "UpgradeRules", "TestPeers",
            ]),
        tests(
            "ClientCommandsTests",
            [
                "ClientCommands", "RelayDaemon", "Demo", "Configuration", "Terminal", "RelayAPI", "HTTPServer",
                "Notifications", "VersionSources", "FanOut", "Signing", "RelayStore", "Requirements", "TestStores",
                "Telemetry",
                "WireFormat", "RelayEngine", "UpgradeRules", "CommandTranscript", "TestPeers", "StoreConformance",
                "PushSimulator", "StatusPage", "CurlTransport", "Registry", "Threading",
            ], exclude: ["Transcripts"]),
        tests(
            "DemoTests",
            [
                "Demo", "PushSimulator", "ClientCommands", "HTTPServer", "Signing", "Terminal", "Threading",
                "WireFormat",
                "RelayEngine",
            ]),
        tests(
            "RelayDaemonTests",
            [
                "RelayDaemon", "Configuration", "RelayAPI", "FanOut", "PushProviders", "HTTP2", "CurlTransport",
                "Signing", "RelayStore", "Requirements", "TestStores", "Telemetry", "RelayEngine", "UpgradeRules",
                "TestPeers",
                "StoreConformance", "Notifications", "VersionSources", "WireFormat",
            ]),
        tests(
            "CommandTests",
            [
                "upgrade-relay", "manual", "ClientCommands", "Configuration", "RelayAPI", "Terminal",
                "CommandTranscript", "TestPeers", "VersionSources", "WireFormat", "RelayEngine",
            ]),
        tests(
            "EndToEndTests",
            [
                "upgrade-relay", "Demo", "CurlTransport", "Signing", "RelayStoreSQLite", "StoreSQL", "Threading",
                "WireFormat",
                "RelayEngine", "PushSimulator", "SimulatorTools", "SeedApps", "TestPeers", "StorePeers",
                "PrivatePostgres", "FaultInjection", "HookReceiver",
            ]),
    ] + fuzzTargets
)
