// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

@testable import Registry
@testable import RelayAPI

/// A writer beside a shape writes the members that the shape has.
@Suite("Shapes", .ownThread)
struct ShapeTests {
    private static let device = DeviceRecord(
        id: 7,
        registration: DeviceRegistration(
            app: AppKey(app: "com.example.app", platform: .ios), token: "80012ab4", telephone: "13800138000",
            version: try? Version("1.9.0")),
        registeredAt: Timestamp(seconds: 1_769_850_307), retiredAt: Timestamp(seconds: 1_769_850_720))

    private static func members(_ write: (inout JSONWriter) -> Void) throws -> [JSONMember] {
        var writer = JSONWriter()
        write(&writer)
        return try JSONReader.read(writer.bytes).members.map { JSONMember(name: $0.name, value: $0.value) }
    }

    @Test(
        "the export of devices writes the line's members, and its columns are their names",
        arguments: Redaction.allCases)
    func exportOfDevices(sight: Redaction) throws {
        let format = LineFormat<DeviceRecord>.device
        let written = try Self.members { format.json(&$0, Self.device, sight) }
        let shaped = try Self.members { $0.object(Self.device, DeviceRecord.lineShape, for: sight) }
        #expect(written == shaped)
        #expect(format.columns == DeviceRecord.lineShape.names)
        let cells = format.cells(Self.device, sight)
        #expect(cells == shaped.map(\.value.text))
    }

    @Test("lists as CSV have a column for each member, and a cell for each column")
    func columns() throws {
        let delivery = Delivery(
            campaign: "0123456789ab", app: Self.device.registration.app, device: 42, token: "80012ab4",
            telephone: "13800138000", state: .retrying, reason: "TooManyRequests", attempts: 2,
            nextAttemptAt: Timestamp(seconds: 1_769_850_720), updatedAt: Timestamp(seconds: 1_769_850_307))
        let deliveries = LineFormat<Delivery>.delivery
        let written = try Self.members { $0.object(delivery, Delivery.shape, for: .masked) }
        #expect(deliveries.columns == written.map(\.name))
        let cells = deliveries.cells(delivery, .masked)
        #expect(cells.count == written.count)
        for (cell, member) in zip(cells, written) where member.value.text != nil {
            #expect(cell == member.value.text, "\(member.name)")
        }
        #expect(!cells.contains("13800138000"))
    }

    @Test("the examples of CSV have these columns")
    func examplesOfCSV() throws {
        let columns = [
            "exportDevices": DeviceRecord.lineShape.names, "listDeliveries": Delivery.shape.names,
            "listCampaignDeliveries": Delivery.shape.names, "listAudit": AuditEntry.shape.names,
        ]
        var examples: [String: [String]] = [:]
        for entry in DocumentCheck.entries {
            guard let id = entry.operation["operationId"]?.text,
                let media = entry.operation["responses"]?["200"]?["content"]?["text/csv"]
            else { continue }
            let lines = try #require(media["example"]?.text, "\(id)").split(separator: "\n")
            examples[id] = try #require(lines.first).split(separator: ",").map(String.init)
        }
        #expect(examples == columns)
    }

    @Test("a member's value is as its schema says, and one that is left out is not required")
    func schemas() throws {
        var (registered, plain) = (JSONWriter(), JSONWriter())
        registered.object(RegisteredDevice(record: Self.device, replaced: .moved), RegisteredDevice.shape)
        plain.object(RegisteredDevice(record: Self.device, replaced: nil), RegisteredDevice.shape)
        for writer in [registered, plain] {
            #expect(
                DocumentCheck.check.faults(try JSONReader.read(writer.bytes), RegisteredDevice.shape.schema.json) == [])
        }
        let (whole, part) = (try JSONReader.read(registered.bytes), try JSONReader.read(plain.bytes))
        #expect(whole["replaced"]?.text == "moved")
        #expect(part["replaced"] == nil)
        #expect(
            RegisteredDevice.shape.schema.json["required"]?.elements.compactMap(\.text).contains("replaced") == false)
        // The shape's own schema is the document's.
        #expect(
            DocumentCheck.check.resolve("#/components/schemas/RegisteredDevice") == RegisteredDevice.shape.schema.json)
    }

    @Test("every schema of the document is a shape's, or a body's, under a name of its own")
    func all() {
        let all = DocumentCheck.document["components"]?["schemas"]?.members ?? []
        #expect(all.map(\.name) == Schema.named.map(\.name).sorted())
        #expect(Set(all.map(\.name)).count == all.count)
    }
}
