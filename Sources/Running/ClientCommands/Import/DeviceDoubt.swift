// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import UpgradeRules
import WireFormat

/// A value that the relay would store as it is, but that looks like a mistake. Reported, and refused with `--strict`; never
/// changed.
struct DeviceDoubt: Hashable, Sendable {
    var column: DeviceField
    var doubt: ValueDoubt

    /// The text for the lines that have it.
    var text: String { doubt.words(for: column.name) }

    /// - Parameters:
    ///   - value: in UTF-8, as it stood in the file; empty where the file has none.
    ///   - platform: the device's platform.
    init?(_ value: ArraySlice<UInt8>, of column: DeviceField, on platform: Platform) {
        guard !value.isEmpty else { return nil }
        let found: ValueDoubt? =
            switch column {
            case .token:
                // Nearly no token is doubtful, so its provider is seldom looked for.
                ValueDoubt.hexToken(value).flatMap {
                    ProviderName.of(token: value, on: platform).tokens.alphabet == .hexDigits ? $0 : nil
                }
            case .registeredAt, .seenAt, .deadSince: .time(value)
            default: column.text?.doubt(value)
            }
        guard let found else { return nil }
        (self.column, doubt) = (column, found)
    }

    /// The columns that are judged, in the order of the report.
    static let columns: [DeviceField] =
        [.telephone, .token] + DeviceField.texts.filter { $0 != .telephone } + [.registeredAt, .seenAt, .deadSince]
}

/// The number of a file's lines with each doubt, and the first of them.
struct DoubtTally: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        var count: Int64 = 0
        var line = 0
        var example = ""
    }

    private(set) var entries: [DeviceDoubt: Entry] = [:]

    /// In the order of `DeviceDoubt.columns`.
    var doubts: [DeviceDoubt] {
        DeviceDoubt.columns.flatMap { column in
            ValueDoubt.allCases.flatMap { doubt in entries.keys.filter { $0.column == column && $0.doubt == doubt } }
        }
    }

    mutating func add(_ doubt: DeviceDoubt, _ value: ArraySlice<UInt8>, line: Int) {
        if entries[doubt] == nil {
            entries[doubt] = Entry(line: line, example: String(decoding: value.prefix(80), as: UTF8.self))
        }
        entries[doubt]?.count += 1
    }
}
