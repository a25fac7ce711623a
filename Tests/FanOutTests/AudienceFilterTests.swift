// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Testing
import UpgradeRules

/// DESIGN, rule 3, as a table.
@Suite struct AudienceFilterTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var telephone: String?
        var version: String?
        var isDead = false
        var only: [String]?
        var system: String?
        var reason: FilterReason?

        var testDescription: String {
            "\(telephone ?? "nobody") on \(version ?? "unknown")\(isDead ? ", dead" : ""), only \(only ?? ["everyone"])"
        }
    }

    static let cases: [Case] = [
        Case(telephone: "13800138000", version: "1.9"),
        Case(telephone: "13800138000", version: nil),
        Case(telephone: "13800138000", version: "not a version"),
        Case(telephone: "13800138000", version: "1.99.99"),
        Case(telephone: "13800138000", version: "2.0", reason: .alreadyCurrent),
        Case(telephone: "13800138000", version: "2.0.0.0", reason: .alreadyCurrent),
        Case(telephone: "13800138000", version: "10", reason: .alreadyCurrent),
        Case(telephone: nil, version: "1.0", reason: .noTelephone),
        Case(telephone: "", version: "1.0", reason: .noTelephone),
        Case(telephone: nil, version: "3.0", reason: .noTelephone),
        Case(telephone: "13800138000", version: "1.0", isDead: true, reason: .knownDead),
        Case(telephone: nil, version: "3.0", isDead: true, reason: .knownDead),
        Case(telephone: "13800138000", version: "1.0", only: ["13800138000", "x"]),
        Case(telephone: "13800138000", version: "1.0", only: ["+8613800138000"], reason: .notInAudience),
        Case(telephone: "13800138000", version: "1.0", only: ["13800138000 "], reason: .notInAudience),
        Case(telephone: "13800138000", version: "1.0", only: [], reason: .notInAudience),
        Case(telephone: "13800138000", version: "1.0", system: "14.8.1", reason: .osTooOld),
        Case(telephone: "13800138000", version: nil, system: "9", reason: .osTooOld),
        Case(telephone: "13800138000", version: "1.0", system: "15"),
        Case(telephone: "13800138000", version: "1.0", system: "16.2"),
        Case(telephone: "13800138000", version: "1.0", system: "not a version"),
        Case(telephone: "13800138000", version: "2.0", system: "9", reason: .alreadyCurrent),
        // Imported as a program printed it: this is no user's telephone.
        Case(telephone: "(null)", version: "1.0", reason: .noTelephone),
        Case(telephone: "NULL", version: "1.0", reason: .noTelephone),
        Case(telephone: "Optional(\"13800138000\")", version: "1.0", reason: .noTelephone),
        Case(telephone: "user@example.com", version: "1.0"),
        // NSString compares code units: the same letter, composed and decomposed, is two different texts.
        Case(telephone: "caf\u{e9}", version: "1.0", only: ["cafe\u{301}"], reason: .notInAudience),
    ]

    @Test(arguments: cases)
    func whoGetsThePush(_ example: Case) throws {
        var devices = DeviceRows()
        let token = slice("00ff", in: &devices)
        let telephone = example.telephone.map { slice($0, in: &devices) } ?? .absent
        let version = example.version.map { slice($0, in: &devices) } ?? .absent
        let system = example.system.map { slice($0, in: &devices) } ?? .absent
        let row = DeviceRow(
            id: 1, token: token, telephone: telephone, version: version, system: system, channel: .production,
            isDead: example.isDead, registeredAt: 0)
        let filter = AudienceFilter(
            UpgradeTarget(try Version("2.0.0"), isBlock: false), minimumOS: try Version("15.0"),
            telephones: example.only)
        #expect(filter.reason(against: row, in: devices) == example.reason)
    }

    private func slice(_ text: String, in devices: inout DeviceRows) -> ByteSlice {
        var text = text
        return text.withUTF8 { devices.store(UnsafeRawBufferPointer($0)) }
    }
}
