// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Testing

@Suite("Plain outcomes, packed")
struct DeliveryBatchTests {
    private struct Item {
        var device: Int64
        var outcome: PlainOutcome
        var telephone: [UInt8]?
    }

    /// Steps between ids on both sides of the values at which a number takes one more byte, and telephones likewise.
    private static let items: [Item] = {
        let steps: [Int64] = [1, 1, 2, 15, 16, 17, 18, 2047, 2048, 2049, 2050, 1 << 40]
        let lengths: [Int?] = [11, nil, 0, 1, 126, 127, 128, 129, 16_382, 16_383]
        var device: Int64 = 41
        return (0..<240).map { number in
            device += steps[number % steps.count]
            return Item(
                device: device, outcome: PlainOutcome.allCases[number % PlainOutcome.allCases.count],
                telephone: lengths[number % lengths.count].map { length in
                    (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) & 0x7f }
                })
        }
    }()

    private static func packed(_ items: [Item]) -> DeliveryBatch {
        var packer = DeliveryPacker()
        for item in items {
            if let telephone = item.telephone {
                unsafe telephone.withUnsafeBytes { unsafe packer.append(item.device, item.outcome, telephone: $0) }
            } else {
                unsafe packer.append(item.device, item.outcome, telephone: nil)
            }
        }
        return DeliveryBatch(
            first: packer.first, last: packer.last, updatedAt: Timestamp(milliseconds: 7), outcomes: packer.outcomes,
            telephones: packer.telephones)
    }

    @Test("What was packed is read as it was, all of it and device by device")
    func roundTrip() throws {
        let batch = Self.packed(Self.items)
        let entries = try batch.entries()
        #expect(entries.map(\.device) == Self.items.map(\.device))
        #expect(entries.map(\.outcome) == Self.items.map(\.outcome))
        #expect(entries.map { $0.telephone.map { Array(batch.telephones[$0]) } } == Self.items.map(\.telephone))
        func outcome(_ device: Int64) throws -> PlainOutcome? {
            try DeliveryBatch.outcome(of: device, in: batch.outcomes, first: batch.first, last: batch.last)
        }
        for item in Self.items {
            #expect(try outcome(item.device) == item.outcome)
            if !Self.items.contains(where: { $0.device == item.device + 1 }) {
                #expect(try outcome(item.device + 1) == nil)
            }
        }
    }

    @Test("A plain device takes two bytes and its telephone")
    func size() {
        let batch = Self.packed(
            (1...1000).map { Item(device: $0, outcome: .accepted, telephone: Array("13812345678".utf8)) })
        #expect(batch.outcomes.count + batch.telephones.count == 1000 * (2 + 11))
    }

    @Test("The packer begins anew when it was emptied")
    func emptied() throws {
        var packer = DeliveryPacker()
        unsafe packer.append(5, .knownDead, telephone: nil)
        #expect([packer.accepted, packer.filtered, packer.first, packer.last] == [0, 1, 5, 5])
        packer.removeAll()
        unsafe packer.append(2, .accepted, telephone: nil)
        unsafe packer.append(9, .accepted, telephone: nil)
        #expect([packer.accepted, packer.filtered, packer.first, packer.last] == [2, 0, 2, 9])
    }

    @Test("Bytes that are cut off or too many are refused, never taken for devices")
    func damage() throws {
        let whole = Self.packed(Array(Self.items.prefix(60)))
        func isRefused(_ batch: DeliveryBatch) -> Bool {
            do throws(StoreError) {
                _ = try batch.entries()
                return false
            } catch {
                return error.code == .failed && error.context.contains("is damaged")
            }
        }
        #expect(!isRefused(whole))
        for count in whole.outcomes.indices {
            var cut = whole
            cut.outcomes = Array(whole.outcomes.prefix(count))
            #expect(isRefused(cut), "\(count) bytes of outcomes")
        }
        for count in stride(from: 0, to: whole.telephones.count, by: 97) {
            var cut = whole
            cut.telephones = Array(whole.telephones.prefix(count))
            #expect(isRefused(cut), "\(count) bytes of telephones")
        }
        var more = whole
        more.telephones.append(0)
        #expect(isRefused(more))
        more = whole
        more.outcomes.append(0)
        more.telephones.append(0)
        #expect(isRefused(more))
        for bytes in [[0xff], [UInt8](repeating: 0xff, count: 20), [5], [7], [0x80]] {
            var bad = whole
            bad.outcomes = bytes
            #expect(isRefused(bad), "\(bytes)")
            bad = whole
            bad.telephones = bytes
            #expect(isRefused(bad), "\(bytes)")
        }
    }

    @Test("Whatever the bytes are, reading them ends, with devices in order or with a refusal")
    func anyBytes() {
        var random: UInt64 = 0x9e37_79b9_7f4a_7c15
        func next() -> UInt64 {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return random
        }
        for _ in 0..<20_000 {
            let batch = DeliveryBatch(
                first: Int64(bitPattern: next()), last: Int64(bitPattern: next()),
                updatedAt: Timestamp(milliseconds: 0),
                outcomes: (0..<(next() % 24)).map { _ in UInt8(truncatingIfNeeded: next()) },
                telephones: (0..<(next() % 24)).map { _ in UInt8(truncatingIfNeeded: next()) })
            guard let entries = try? batch.entries() else { continue }
            #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.device < $1.device })
        }
    }
}
