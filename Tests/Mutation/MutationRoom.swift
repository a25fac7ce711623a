// SPDX-License-Identifier: Apache-2.0

/// A room that decides, and the tests that know it.
package struct MutationRoom: Sendable {
    package let name: String
    /// Files begin so.
    package let places: [String]
    /// The tests that are run, by the beginnings of their names (`swift test --filter`).
    package let tests: [String]

    private init(_ name: String, in wing: String, _ places: [String] = [""], tests: [String]) {
        self.name = name
        self.places = places.map { "Sources/\(wing)/\(name)/\($0)" }
        self.tests = tests
    }

    /// Judges of every room, after its own, by the name that tables have: the suite of all drivers of the store, run with SQLite's, and the
    /// simulation's kept histories.
    static let judgesOfAll = [
        "RelayStoreSQLiteTests\\.SQLiteConformanceTests": "conformance",
        "SimulationTests\\.SimulationTests/whatWasMendedHolds": "kept histories",
    ]

    /// Places that tests of another room know, too.
    private static let knownElsewhere: [(place: String, tests: [String])] = [
        ("Rules/UpgradeRules/Verdict", ["RelayAPITests\\.VerdictTableTests"]),
        ("Rules/RelayEngine/Gate/", ["VersionSourcesTests", "RelayAPITests\\.GateTableTests"]),
        ("Store/StoreSQL/SQLStore+Notifications", ["NotificationsTests"]),
        ("Store/RelayStoreSQLite/Ledger/", ["FanOutTests\\.RecordingTests"]),
        ("Integrations/VersionSources/GateKeeper", ["RelayAPITests\\.GateTableTests"]),
    ]

    /// The tests that know some files, in the order in which they are asked.
    static func tests(of files: [String]) -> [String] {
        let rooms = all.filter { room in files.contains { file in room.places.contains { file.hasPrefix($0) } } }
        let others = knownElsewhere.filter { known in files.contains { $0.hasPrefix("Sources/" + known.place) } }
        var tests: [String] = []
        for test in rooms.flatMap(\.tests) + others.flatMap(\.tests) + judgesOfAll.keys.sorted()
        where !tests.contains(test) { tests.append(test) }
        return tests
    }

    package static let all: [MutationRoom] = [
        MutationRoom(
            "UpgradeRules", in: "Rules",
            [
                "ForcePolicy", "LaunchGate", "LoginAnswer", "SeenVersions", "UpgradeRule", "UpgradeTarget",
                "UpgradeVerdict", "UserDraw", "Verdict", "Version",
            ],
            tests: ["UpgradeRulesTests"]),
        MutationRoom("RelayEngine", in: "Rules", tests: ["RelayEngineTests"]),
        MutationRoom("Registry", in: "Rules", tests: ["RegistryTests"]),
        MutationRoom("Requirements", in: "Rules", tests: ["RequirementsTests", "RelayStoreTests"]),
        MutationRoom(
            "RelayStore", in: "Store",
            [
                "AudienceFilter", "AudiencePlan", "Audit", "Device", "Ledger", "Past", "Registration", "TokenDoubt",
                "Waves",
            ],
            tests: ["RelayStoreTests"]),
        MutationRoom("FanOut", in: "Push", tests: ["FanOutTests"]),
        MutationRoom("StoreSQL", in: "Store", tests: ["RelayStoreSQLiteTests"]),
        MutationRoom(
            "RelayStoreSQLite", in: "Store", ["Campaigns", "Ledger", "Registry", "Maintenance/SQLiteStore+Pruning"],
            tests: ["RelayStoreSQLiteTests"]),
        MutationRoom(
            "VersionSources", in: "Integrations",
            [
                "AppStoreAnswer", "BumpBody", "Evidence", "GateKeeper", "LaunchGate", "Lookup", "PollSchedule",
                "Releases", "Source",
            ],
            tests: ["VersionSourcesTests"]),
        MutationRoom("Notifications", in: "Integrations", tests: ["NotificationsTests"]),
        MutationRoom(
            "RelayAPI", in: "Serving",
            ["Devices/UserExplanation", "Devices/DeviceFields", "Login", "Rights", "Versions", "Webhooks"],
            tests: ["RelayAPITests"]),
    ]
}
