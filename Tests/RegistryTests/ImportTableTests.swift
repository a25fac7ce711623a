// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import Testing

@testable import Registry

/// The guide's table of the values that a line of an import replaces is the same as the rule's decisions.
@Suite struct ImportTableTests {
    private static let registered = Timestamp(seconds: 1_700_000_000)
    private static let now = registered + .seconds(86_400)

    /// A line of an import, for a device that was registered at `registered`, has every field, and differs from the line in all
    /// fields that the line names.
    private struct Line {
        let name: String
        var source = RegistrationSource.records
        var leftOut: DeviceFieldSet = []
        var registeredAt: Timestamp?
        var seenAt: Timestamp?
        /// The versions of the line that are below the device's.
        var older: DeviceFieldSet = []
        /// The fields in which the line differs from the device.
        var differing = DeviceFieldSet.values
        var wasRemoved = false
    }

    private static let lines = [
        Line(name: "with a newer version, without a time"),
        Line(name: "with an older version, without a time", older: [.version]),
        Line(name: "with the same version, without a time", differing: .values.subtracting([.version])),
        Line(
            name: "with the same version and an older system, without a time", older: [.osVersion],
            differing: .values.subtracting([.version])),
        Line(
            name: "with an older version, registered later", registeredAt: registered + .seconds(60), older: [.version]),
        Line(
            name: "with a newer version, seen before the device reported its own", seenAt: registered - .seconds(60)),
        Line(
            name: "with an older version, seen after the device reported its own", seenAt: registered + .seconds(60),
            older: [.version]),
        Line(name: "with an older version, of a device that was removed", older: [.version], wasRemoved: true),
        Line(name: "`PUT` with an older version", source: .registration, older: [.version]),
    ]

    private static func verdict(_ line: Line, absent: DeviceFieldSet = []) -> DeviceFieldSet {
        let rule = DeviceRule(line.source, at: now)
        let known = DeviceRule.Known(
            DeviceLife(registered: registered, wasRemoved: line.wasRemoved), differing: line.differing, absent: absent)
        let said = Observation(leftOut: line.leftOut, registeredAt: line.registeredAt, seenAt: line.seenAt)
        switch rule.judge(said, known, isOlder: { line.older.contains($0) }) {
        case .unchanged: return []
        case .update(let update): return update.writes
        }
    }

    /// The cell of the guide's table for these fields.
    private static func cell(_ line: Line, _ fields: DeviceFieldSet) -> String {
        if line.differing.isDisjoint(with: fields) { return "as it was" }
        if verdict(line).isSuperset(of: fields) { return "the line's" }
        return verdict(line, absent: fields).isSuperset(of: fields) ? "the relay's; a gap is filled" : "the relay's"
    }

    private static func row(_ line: Line) -> String {
        let cells = [DeviceField.version, .osVersion, .country].map { cell(line, [$0]) }
        return "| \(line.name) | \(cells.joined(separator: " | ")) |"
    }

    @Test func guideHasTheRule() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let guide = try String(contentsOf: root.appending(path: "etc/APPS.md"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
        let head = try #require(guide.firstIndex { $0.hasPrefix("| a line | `version` |") })
        let table = guide[(head + 2)...].prefix { $0.hasPrefix("|") }
        let rows = Self.lines.map(Self.row)
        #expect(Array(table) == rows, "\(rows.joined(separator: "\n"))")
    }

    /// The guide says so above its table, which has no columns for them.
    @Test func aTelephoneAndAnEnvironmentAreAlwaysTheLines() {
        for line in Self.lines {
            for field in [DeviceField.telephone, .environment] {
                #expect(Self.cell(line, [field]) == "the line's", "\(line.name): \(field)")
            }
        }
    }

    @Test func whatALineLeavesOutStays() {
        for field in DeviceField.values {
            for line in Self.lines where !line.wasRemoved {
                var line = line
                line.leftOut = [field]
                #expect(!Self.verdict(line).contains(field), "\(line.name): \(field)")
            }
        }
    }
}
