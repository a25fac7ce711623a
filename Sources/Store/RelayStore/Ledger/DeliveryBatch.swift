// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine

/// Plain outcomes of many devices in a row of two blobs.
///
/// `outcomes` has a number for each device, ascending: how many ids lie between it and the device before, times eight,
/// plus its `PlainOutcome`. `telephones` has the length plus one and the bytes, or 0 without a telephone. Numbers are
/// LEB128, unsigned.
package struct DeliveryBatch: Sendable {
    /// A device of the batch. The telephone is a range of `telephones`; nil: it has none.
    package struct Entry: Equatable, Sendable {
        package var device: Int64
        package var outcome: PlainOutcome
        package var telephone: Range<Int>?
    }

    /// The most devices of a batch: a lookup of one of them reads the whole batch.
    package static let limit = 1000

    package var first: Int64
    package var last: Int64
    package var updatedAt: Timestamp
    package var outcomes: [UInt8]
    package var telephones: [UInt8]

    package init(first: Int64, last: Int64, updatedAt: Timestamp, outcomes: [UInt8], telephones: [UInt8]) {
        self.first = first
        self.last = last
        self.updatedAt = updatedAt
        self.outcomes = outcomes
        self.telephones = telephones
    }

    package func telephone(of entry: Entry) -> String? {
        entry.telephone.map { String(decoding: telephones[$0], as: UTF8.self) }
    }

    /// Every device, ascending.
    ///
    /// - Throws: `StoreError.failed` where the blobs are damaged.
    package func entries() throws(StoreError) -> [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(outcomes.count)
        var reader = OutcomeReader(outcomes, first: first, last: last)
        var place = 0
        while let (device, outcome) = try reader.next() {
            guard let number = Self.number(in: telephones, at: &place), number - 1 <= Int64(telephones.count - place)
            else { throw damage("the telephones end too soon") }
            guard number > 0 else {
                entries.append(Entry(device: device, outcome: outcome, telephone: nil))
                continue
            }
            let end = place + Int(number) - 1
            entries.append(Entry(device: device, outcome: outcome, telephone: place..<end))
            place = end
        }
        guard place == telephones.count else { throw damage("there are more telephones than devices") }
        guard entries.first?.device == first, entries.last?.device == last else {
            throw damage("its devices are not from \(first) to \(last)")
        }
        return entries
    }

    /// The outcome of the push to one device, from the column `outcomes` alone; nil where the batch does not contain
    /// the device.
    package static func outcome(
        of wanted: Int64, in outcomes: [UInt8], first: Int64, last: Int64
    ) throws(StoreError) -> PlainOutcome? {
        var reader = OutcomeReader(outcomes, first: first, last: last)
        while let (device, outcome) = try reader.next(), device <= wanted {
            if device == wanted { return outcome }
        }
        return nil
    }

    /// The devices of a batch, from the column `outcomes` alone.
    package static func devices(in outcomes: [UInt8], first: Int64, last: Int64) throws(StoreError) -> [Int64] {
        var reader = OutcomeReader(outcomes, first: first, last: last)
        var devices: [Int64] = []
        while let (device, _) = try reader.next() { devices.append(device) }
        return devices
    }

    private func damage(_ detail: String) -> StoreError { Self.damage(detail, first, last) }

    fileprivate static func damage(_ detail: String, _ first: Int64, _ last: Int64) -> StoreError {
        StoreError(
            .failed, context: "the batch of devices \(first) to \(last) is damaged: \(detail)",
            hint: "Stop the relay and restore the store from a backup")
    }

    /// The number at `place`, which moves behind it; nil where the bytes end within it, or it has more than 63 bits.
    @inline(__always)
    fileprivate static func number(in bytes: [UInt8], at place: inout Int) -> Int64? {
        var (value, shift) = (Int64(0), Int64(0))
        while place < bytes.count, shift < 63 {
            let byte = bytes[place]
            place += 1
            value |= Int64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }
}

/// Goes through the column `outcomes`.
private struct OutcomeReader {
    private let bytes: [UInt8]
    private let first: Int64
    private let last: Int64
    private var place = 0
    private var device: Int64

    init(_ bytes: [UInt8], first: Int64, last: Int64) {
        self.bytes = bytes
        self.first = first
        self.last = last
        device = first &- 1
    }

    /// nil at the end.
    mutating func next() throws(StoreError) -> (device: Int64, outcome: PlainOutcome)? {
        guard place < bytes.count else { return nil }
        guard let number = DeliveryBatch.number(in: bytes, at: &place),
            let outcome = PlainOutcome(rawValue: UInt8(number & 7)), device < last, number >> 3 < last &- device
        else { throw DeliveryBatch.damage("byte \(place) of its outcomes", first, last) }
        device += (number >> 3) + 1
        return (device, outcome)
    }
}

/// Gathers devices into the blobs of a `DeliveryBatch`. Reused for its memory.
package struct DeliveryPacker {
    package private(set) var first: Int64 = 0
    package private(set) var last: Int64 = 0
    package private(set) var outcomes: [UInt8] = []
    package private(set) var telephones: [UInt8] = []
    /// How many there are of each outcome, by its raw value.
    package private(set) var tally: [Int64] = noTally
    package private(set) var count = 0

    private static let noTally = [Int64](repeating: 0, count: PlainOutcome.allCases.count)

    package init() {
        // A telephone of eleven digits and its length.
        outcomes.reserveCapacity(DeliveryBatch.limit + 64)
        telephones.reserveCapacity(DeliveryBatch.limit * 12 + 64)
    }

    package var accepted: Int64 { tally[Int(PlainOutcome.accepted.rawValue)] }
    package var filtered: Int64 { Int64(count) - accepted }

    /// Adds a device, whose id must be higher than that of the device before.
    ///
    /// - Parameter telephone: nil: the device has none.
    package mutating func append(_ device: Int64, _ outcome: PlainOutcome, telephone: UnsafeRawBufferPointer?) {
        if count == 0 {
            first = device
            last = device - 1
        }
        Self.append(UInt64(device - last - 1) << 3 | UInt64(outcome.rawValue), to: &outcomes)
        last = device
        if let telephone = unsafe telephone {
            Self.append(UInt64(telephone.count) + 1, to: &telephones)
            unsafe telephones.append(contentsOf: telephone)
        } else {
            telephones.append(0)
        }
        tally[Int(outcome.rawValue)] += 1
        count += 1
    }

    package mutating func removeAll() {
        outcomes.removeAll(keepingCapacity: true)
        telephones.removeAll(keepingCapacity: true)
        tally = Self.noTally
        count = 0
    }

    @inline(__always)
    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var number = number
        while number >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: number))
    }
}
