// SPDX-License-Identifier: Apache-2.0
package import WireFormat

/// Where the columns of a device are in one line of NDJSON that is written plainly, as nearly all are: one object, each
/// column once, its value a string of printable ASCII without escapes, or null.
///
/// It knows no faults: whatever is not of this form is for `JSONReader`, which reports what is wrong with it, if anything.
/// Allocates nothing.
package struct DeviceLineScan {
    /// The value's bytes; nil: left out, or null.
    package private(set) var app: Range<Int>?
    package private(set) var platform: Range<Int>?
    package private(set) var token: Range<Int>?
    package private(set) var telephone: Range<Int>?
    package private(set) var version: Range<Int>?
    package private(set) var environment: Range<Int>?
    package private(set) var osVersion: Range<Int>?
    package private(set) var country: Range<Int>?
    package private(set) var registeredAt: Range<Int>?
    package private(set) var deadSince: Range<Int>?
    package private(set) var seenAt: Range<Int>?
    /// Columns that the line names, also where their value is null.
    package private(set) var named: Columns = []

    /// The value's bytes of a column that a line may have; nil: left out, or null.
    package subscript(column: DeviceColumn) -> Range<Int>? {
        switch column {
        case .app: app
        case .platform: platform
        case .token: token
        case .telephone: telephone
        case .version: version
        case .environment: environment
        case .osVersion: osVersion
        case .country: country
        case .registeredAt: registeredAt
        case .deadSince: deadSince
        case .seenAt: seenAt
        }
    }

    package struct Columns: OptionSet, Sendable {
        package var rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let app = Columns(rawValue: 1)
        package static let platform = Columns(rawValue: 2)
        package static let token = Columns(rawValue: 4)
        package static let telephone = Columns(rawValue: 8)
        package static let version = Columns(rawValue: 16)
        package static let environment = Columns(rawValue: 32)
        package static let registeredAt = Columns(rawValue: 64)
        package static let deadSince = Columns(rawValue: 128)
        package static let seenAt = Columns(rawValue: 256)
        package static let osVersion = Columns(rawValue: 512)
        package static let country = Columns(rawValue: 1024)
    }

    /// nil: not of the plain form.
    package init?(_ bytes: [UInt8], in range: Range<Int>) {
        let end = range.upperBound
        var place = Self.skipSpace(bytes, range.lowerBound, end)
        guard place < end, bytes[place] == UInt8(ascii: "{") else { return nil }
        repeat {
            place = Self.skipSpace(bytes, place + 1, end)
            guard let name = Self.string(bytes, place, end) else { return nil }
            place = Self.skipSpace(bytes, name.upperBound + 1, end)
            guard place < end, bytes[place] == UInt8(ascii: ":") else { return nil }
            place = Self.skipSpace(bytes, place + 1, end)
            let value = Self.string(bytes, place, end)
            if let value {
                place = value.upperBound + 1
            } else {
                guard Self.isNull(bytes, place, end) else { return nil }
                place += 4
            }
            guard let column = Self.column(bytes, name), !named.contains(column) else { return nil }
            named.insert(column)
            switch column {
            case .app: app = value
            case .platform: platform = value
            case .token: token = value
            case .telephone: telephone = value
            case .version: version = value
            case .environment: environment = value
            case .registeredAt: registeredAt = value
            case .deadSince: deadSince = value
            case .osVersion: osVersion = value
            case .country: country = value
            default: seenAt = value
            }
            place = Self.skipSpace(bytes, place, end)
        } while place < end && bytes[place] == UInt8(ascii: ",")
        guard place < end, bytes[place] == UInt8(ascii: "}"), Self.skipSpace(bytes, place + 1, end) == end else {
            return nil
        }
    }

    @inline(__always)
    private static func skipSpace(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
        var place = start
        while place < end {
            switch bytes[place] {
            case 0x20, 0x09, 0x0A, 0x0D: place += 1
            default: return place
            }
        }
        return place
    }

    /// What is between two quotes; the closing one is behind it.
    @inline(__always)
    private static func string(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Range<Int>? {
        guard start < end, bytes[start] == UInt8(ascii: "\"") else { return nil }
        var place = start + 1
        while place < end {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\"") { return start + 1..<place }
            guard (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\\") else { return nil }
            place += 1
        }
        return nil
    }

    private static func isNull(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Bool {
        end - start >= 4 && bytes[start] == UInt8(ascii: "n") && bytes[start + 1] == UInt8(ascii: "u")
            && bytes[start + 2] == UInt8(ascii: "l") && bytes[start + 3] == UInt8(ascii: "l")
    }

    @inline(__always)
    private static func column(_ bytes: [UInt8], _ name: Range<Int>) -> Columns? {
        guard name.count <= 12 else { return nil }
        // The name as one number, a byte for each letter.
        var number: UInt128 = 0
        for index in name { number = number << 8 | UInt128(bytes[index]) }
        return switch number {
        case 0x61_70_70: .app
        case 0x70_6c_61_74_66_6f_72_6d: .platform
        case 0x74_6f_6b_65_6e: .token
        case 0x74_65_6c_65_70_68_6f_6e_65: .telephone
        case 0x76_65_72_73_69_6f_6e: .version
        case 0x65_6e_76_69_72_6f_6e_6d_65_6e_74: .environment
        case 0x72_65_67_69_73_74_65_72_65_64_41_74: .registeredAt
        case 0x64_65_61_64_53_69_6e_63_65: .deadSince
        case 0x73_65_65_6e_41_74: .seenAt
        case 0x6f_73_56_65_72_73_69_6f_6e: .osVersion
        case 0x63_6f_75_6e_74_72_79: .country
        default: nil
        }
    }
}
