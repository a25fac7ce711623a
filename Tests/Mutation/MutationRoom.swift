// SPDX-License-Identifier: Apache-2.0

/// A room that decides, and the tests that know it.
package struct MutationRoom: Sendable {
    package let name: String
    /// Files begin so.
    package let places: [String]
    /// The tests that are run, by the beginnings of their names (`swift test --filter`).
    package let tests: [String]

    private init(_ name: String, _ places: [String] = [""], tests: [String]) {
        self.name = name
        self.places = places.map { "Sources/\(name)/\($0)" }
        self.tests = tests
    }

    /// The suite of all drivers of the store, run with SQLite's.
    package static let conformance = "RelayStoreSQLiteTests\\.SQLiteConformanceTests"

    package static let all: [MutationRoom] = [
        MutationRoom(
            "UpgradeRules",
            [
                "ForcePolicy", "LaunchGate", "LoginAnswer", "SeenVersions", "UpgradeRule", "UpgradeTarget",
                "UpgradeVerdict", "UserDraw", "Verdict", "Version",
            ],
            tests: ["UpgradeRulesTests"]),
        MutationRoom("RelayEngine", tests: ["RelayEngineTests"]),
        MutationRoom("Registry", tests: ["RegistryTests"]),
        MutationRoom(
            "RelayStore",
            [
                "AudienceFilter", "AudiencePlan", "Audit", "CampaignRounds", "Device", "InForce", "Known", "Ledger",
                "Past", "Registration", "Requirements", "TokenDoubt", "Waves",
            ],
            tests: ["RelayStoreTests"]),
        MutationRoom("FanOut", tests: ["FanOutTests"]),
        MutationRoom("StoreSQL", tests: ["RelayStoreSQLiteTests"]),
        MutationRoom(
            "RelayStoreSQLite", ["Campaigns", "Ledger", "Registry", "Maintenance/SQLiteStore+Pruning"],
            tests: ["RelayStoreSQLiteTests"]),
        MutationRoom(
            "VersionSources",
            [
                "AppStoreAnswer", "BumpBody", "Evidence", "GateKeeper", "LaunchGate", "Lookup", "PollSchedule",
                "Releases", "Source",
            ],
            tests: ["VersionSourcesTests"]),
        MutationRoom("Notifications", tests: ["NotificationsTests"]),
        MutationRoom(
            "RelayAPI", ["Devices/UserExplanation", "Devices/DeviceFields", "Login", "Rights", "Versions", "Webhooks"],
            tests: ["RelayAPITests"]),
    ]
}
