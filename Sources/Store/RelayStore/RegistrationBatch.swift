// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import Requirements
import UpgradeRules

/// Many devices of one app as an import gives them: one byte arena and fixed-size rows, reused from batch to batch, so that
/// a device of an import allocates nothing on its way from the socket to the store (STYLE 5).
package struct RegistrationBatch: Sendable {
    /// One device: no references, slices of the batch's arena.
    package struct Row: Hashable, Sendable {
        package var token: ByteSlice
        package var texts: DeviceTexts<ByteSlice>
        package var channel: Channel
        /// The fields that the row does not name: they stay as they are. A new device gets the row's values for them.
        package var kept: DeviceFieldSet
        /// Not `Timestamp?`, which takes 16 bytes.
        private var registered: Int64
        private var dead: Int64
        private var seen: Int64

        package var registeredAt: Timestamp? { registered == .min ? nil : Timestamp(milliseconds: registered) }
        package var deadSince: Timestamp? { dead == .min ? nil : Timestamp(milliseconds: dead) }
        package var seenAt: Timestamp? { seen == .min ? nil : Timestamp(milliseconds: seen) }

        /// The row without its texts, for the rule.
        package var observation: Observation {
            Observation(leftOut: kept, registeredAt: registeredAt, deadSince: deadSince, seenAt: seenAt)
        }

        package init(
            token: ByteSlice, texts: DeviceTexts<ByteSlice>, channel: Channel, kept: DeviceFieldSet,
            registeredAt: Timestamp?, deadSince: Timestamp?, seenAt: Timestamp?
        ) {
            self.token = token
            self.texts = texts
            self.channel = channel
            self.kept = kept
            registered = registeredAt?.milliseconds ?? .min
            dead = deadSince?.milliseconds ?? .min
            seen = seenAt?.milliseconds ?? .min
        }
    }

    package let app: AppKey
    /// Tokens and the texts of the other fields, UTF-8, one after another.
    package private(set) var bytes: [UInt8] = []
    package private(set) var rows: [Row] = []

    package init(app: AppKey) {
        self.app = app
    }

    package var count: Int { rows.count }
    package var isEmpty: Bool { rows.isEmpty }

    /// Empties the batch and keeps its memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
    }

    /// Makes room for `devices` devices of the average size of those that the batch has, with at most `mostBytes` bytes
    /// of text. If it grew step by step, the memory of each step would stay with the allocator.
    package mutating func reserve(devices: Int, mostBytes: Int) {
        guard !isEmpty else { return }
        rows.reserveCapacity(devices)
        bytes.reserveCapacity(min(bytes.count / count * (devices + devices / 16), mostBytes))
    }

    /// Adds a device from a text that holds all of its fields. The contents of the ranges must have been checked.
    ///
    /// - Parameters:
    ///   - source: UTF-8; the ranges are its own.
    ///   - environment: the device's own; production where the row names none.
    ///   - text: the range of a field's text; nil: none.
    package mutating func append(
        from source: [UInt8], token: Range<Int>, environment: Channel.Environment, kept: DeviceFieldSet,
        registeredAt: Timestamp?, deadSince: Timestamp?, seenAt: Timestamp?, text: (DeviceField) -> Range<Int>?
    ) {
        let (token, provider) = store(token: source[token])
        let texts = DeviceTexts { field in text(field).map { store(source[$0]) } ?? .absent }
        rows.append(
            Row(
                token: token, texts: texts, channel: Channel(provider, environment, on: app.platform), kept: kept,
                registeredAt: registeredAt, deadSince: deadSince, seenAt: seenAt))
    }

    /// Adds a device of this batch's app, with all of its fields.
    package mutating func append(_ device: DeviceRegistration) {
        precondition(device.app == app, "a batch holds one app's devices")
        append(DeviceChange(device))
    }

    /// Adds a change of a device.
    package mutating func append(_ device: DeviceChange) {
        var kept: DeviceFieldSet = device.environment == .keep ? [.environment] : []
        let (token, provider) = store(token: device.token.utf8)
        let texts = DeviceTexts { field in
            switch device[text: field] {
            case .keep: kept.insert(field)
            case .set(let text?): return store(text.utf8)
            case .set(nil): break
            }
            return .absent
        }
        rows.append(
            Row(
                token: token, texts: texts,
                channel: Channel(provider, device.environment.value ?? .production, on: app.platform), kept: kept,
                registeredAt: device.registeredAt, deadSince: device.deadSince, seenAt: device.seenAt))
    }

    /// Copies a token in its stored form; returns its slice, and the provider that its form indicates.
    private mutating func store(token: some Collection<UInt8>) -> (ByteSlice, ProviderName) {
        let slice = store(token)
        let provider = ProviderName.of(token: bytes[slice.range], on: app.platform)
        guard provider.tokens.alphabet == .hexDigits else { return (slice, provider) }
        for index in slice.range where Platform.isUpperCase(bytes[index]) { bytes[index] |= 0x20 }
        return (slice, provider)
    }

    private mutating func store(_ text: some Collection<UInt8>) -> ByteSlice {
        let start = bytes.count
        bytes.append(contentsOf: text)
        return ByteSlice(offset: UInt32(start), length: UInt32(bytes.count - start))
    }
}

extension Platform {
    /// A token as it is stored: hex digits in lower case.
    package func stored(_ token: String) -> String {
        guard ProviderName.of(token: token, on: self).tokens.alphabet == .hexDigits,
            token.utf8.contains(where: Self.isUpperCase)
        else { return token }
        return String(decoding: token.utf8.map { Self.isUpperCase($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    fileprivate static func isUpperCase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
