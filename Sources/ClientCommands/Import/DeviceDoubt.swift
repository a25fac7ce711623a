// SPDX-License-Identifier: Apache-2.0

/// What the relay would store as it is, and what can hardly be meant: a telephone that no app on a phone would ever equal, a
/// token that is no whole number of bytes. Reported, and refused with `--strict`; never changed.
enum DeviceDoubt: Int, CaseIterable, Sendable {
    case lostCharacter, invisible, fullWidth, padded, exponent, decimals, nothing, formula, oddToken

    /// Of the lines that have it.
    var text: String {
        switch self {
        case .lostCharacter: "phone number with U+FFFD, where an earlier conversion lost a character"
        case .invisible: "phone number with a no-break space or another invisible character"
        case .fullWidth: "phone number in full-width characters"
        case .padded: "phone number with white space at its beginning or end"
        case .exponent: "phone number as a spreadsheet shortens a number"
        case .decimals: "phone number with a decimal point"
        case .nothing: "phone number that is a word for nothing"
        case .formula: "phone number that begins as a spreadsheet's formula or text mark"
        case .oddToken: "token of an odd number of hex digits"
        }
    }

    private static let words: Set<String> = [
        "null", "nil", "none", "nan", "na", "n/a", "#n/a", "\\n", "undefined", "unknown", "-", "--",
    ]

    init?(telephone bytes: ArraySlice<UInt8>) {
        guard let first = bytes.first, let last = bytes.last else { return nil }
        // Nearly all of them.
        if bytes.allSatisfy({ (0x30...0x39).contains($0) }) { return nil }
        if let doubt = Self.letters(bytes) {
            self = doubt
        } else if [0x20, 0x09].contains(first) || [0x20, 0x09].contains(last) {
            self = .padded
        } else if first == UInt8(ascii: "=") || first == UInt8(ascii: "'") {
            self = .formula
        } else if Self.words.contains(String(decoding: bytes, as: UTF8.self).lowercased()) {
            self = .nothing
        } else if let doubt = Self.number(bytes) {
            self = doubt
        } else {
            return nil
        }
    }

    /// - Parameter token: of iOS, where it stands for bytes in hex.
    init?(token bytes: ArraySlice<UInt8>) {
        guard bytes.count % 2 == 1 else { return nil }
        self = .oddToken
    }

    private static func letters(_ bytes: ArraySlice<UInt8>) -> DeviceDoubt? {
        guard bytes.contains(where: { $0 >= 0x80 }) else { return nil }
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0xFFFD: return .lostCharacter
            case 0xFF01...0xFF5E, 0x3000: return .fullWidth
            case 0xA0, 0xAD, 0x2007, 0x202F, 0xFEFF, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064:
                return .invisible
            default: break
            }
        }
        return nil
    }

    /// "1.38E+10", "13800138000.0"
    private static func number(_ bytes: ArraySlice<UInt8>) -> DeviceDoubt? {
        var rest = bytes
        func digits() -> Bool {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(count)
            return count > 0
        }
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        guard digits() else { return nil }
        let hasPoint = rest.first == UInt8(ascii: ".")
        if hasPoint {
            rest = rest.dropFirst()
            _ = digits()
        }
        if rest.isEmpty { return hasPoint ? .decimals : nil }
        guard rest.first.map({ $0 | 0x20 }) == UInt8(ascii: "e") else { return nil }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return digits() && rest.isEmpty ? .exponent : nil
    }
}

/// How many lines of a file have each doubt, and the first of them.
struct DoubtTally: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        var count: Int64 = 0
        var line = 0
        var example = ""
    }

    private(set) var entries: [DeviceDoubt: Entry] = [:]

    mutating func add(_ doubt: DeviceDoubt, _ value: ArraySlice<UInt8>, line: Int) {
        if entries[doubt] == nil {
            entries[doubt] = Entry(line: line, example: String(decoding: value.prefix(80), as: UTF8.self))
        }
        entries[doubt]?.count += 1
    }
}
