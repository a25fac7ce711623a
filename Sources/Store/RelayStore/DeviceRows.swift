// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A batch of devices as the fan-out reads them: one byte arena and fixed-size rows, reused from batch to batch, so that
/// reading a device allocates nothing (STYLE 5).
package struct DeviceRows: Sendable {
    /// Tokens, telephones and versions, UTF-8, one after another.
    package private(set) var bytes: [UInt8] = []
    package private(set) var rows: [DeviceRow] = []

    package init() {}

    package var count: Int { rows.count }
    package var isEmpty: Bool { rows.isEmpty }

    /// Empties the batch and keeps its memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
    }

    /// Drops all rows after the first `count`; the arena keeps their bytes.
    package mutating func cut(to count: Int) {
        rows.removeLast(max(rows.count - count, 0))
    }

    /// Copies text into the arena. A driver calls this for each column, then `append(_:)` with the slices.
    package mutating func store(_ text: UnsafeRawBufferPointer) -> ByteSlice {
        let start = bytes.count
        unsafe bytes.append(contentsOf: text)
        return ByteSlice(offset: UInt32(start), length: UInt32(text.count))
    }

    package mutating func append(_ row: DeviceRow) {
        rows.append(row)
    }

    package func string(_ slice: ByteSlice) -> String {
        String(decoding: bytes[slice.range], as: UTF8.self)
    }
}

/// One device in a `DeviceRows`: no references, copied by value.
package struct DeviceRow: Hashable, Sendable {
    package var id: Int64
    package var token: ByteSlice
    package var telephone: ByteSlice
    package var version: ByteSlice
    /// The version of the phone's system.
    package var system: ByteSlice
    package var channel: Channel
    /// Whether the push service declared the token dead.
    package var isDead: Bool
    /// Milliseconds since 1970: compared with a 410's timestamp.
    package var registeredAt: Int64
    /// Attempts so far in this campaign: 0 unless the row was read as a due retry.
    package var attempts: UInt16
    /// Its wave of the campaign; 0 where there are none.
    package var wave: UInt8
    /// Empty unless the row was read as a due retry.
    package var again: RequeueReasons = []

    package init(
        id: Int64, token: ByteSlice, telephone: ByteSlice, version: ByteSlice, system: ByteSlice = .absent,
        channel: Channel, isDead: Bool, registeredAt: Int64, attempts: UInt16 = 0, wave: UInt8 = 0
    ) {
        self.id = id
        self.token = token
        self.telephone = telephone
        self.version = version
        self.system = system
        self.channel = channel
        self.isDead = isDead
        self.registeredAt = registeredAt
        self.attempts = attempts
        self.wave = wave
    }
}
