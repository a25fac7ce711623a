// SPDX-License-Identifier: Apache-2.0
import UpgradeRules
import WireFormat

/// A value that the relay would store as it is, and that can hardly be meant. Reported, and refused with `--strict`; never changed.
struct DeviceDoubt: Hashable, Sendable {
    var column: DeviceColumn
    var doubt: ValueDoubt

    /// Of the lines that have it.
    var text: String {
        switch (column, doubt) {
        case (_, .noValue): "phone number that a program printed where it had none"
        case (.telephone, _): "phone number as a spreadsheet or a conversion leaves it"
        case (.token, _): "token of an odd number of hex digits"
        case (_, .noRelease): "version that no release has"
        case (_, .noSystem): "version of a system that no phone runs"
        case (_, .noCountry): "country code that stands for no country"
        default: "\(column.rawValue) in which no phone was pushed"
        }
    }

    /// - Parameters:
    ///   - value: in UTF-8, as it stood in the file; empty where the file has none.
    ///   - platform: of the device.
    init?(_ value: ArraySlice<UInt8>, of column: DeviceColumn, on platform: String) {
        guard !value.isEmpty else { return nil }
        let found: ValueDoubt? =
            switch column {
            case .token: platform == Platform.ios.rawValue ? .hexToken(value) : nil
            case .telephone: .telephone(value)
            case .version: .version(value)
            case .osVersion: .system(value)
            case .country: .country(value)
            case .registeredAt, .seenAt, .deadSince: .time(value)
            default: nil
            }
        guard let found else { return nil }
        (self.column, doubt) = (column, found)
    }

    /// The columns that are judged, as they are reported.
    static let columns: [DeviceColumn] = [
        .telephone, .token, .version, .osVersion, .country, .registeredAt, .seenAt, .deadSince,
    ]
}

/// How many lines of a file have each doubt, and the first of them.
struct DoubtTally: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        var count: Int64 = 0
        var line = 0
        var example = ""
    }

    private(set) var entries: [DeviceDoubt: Entry] = [:]

    /// The first columns first.
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
