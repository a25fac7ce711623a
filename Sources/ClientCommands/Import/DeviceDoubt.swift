// SPDX-License-Identifier: Apache-2.0

/// What the relay would store as it is, and what can hardly be meant: a telephone that no app on a phone would ever equal, a
/// token that is no whole number of bytes. Reported, and refused with `--strict`; never changed.
enum DeviceDoubt: CaseIterable, Sendable {
    case oddTelephone, oddToken

    /// Of the lines that have it.
    var text: String {
        switch self {
        case .oddTelephone: "phone number as a spreadsheet or a conversion leaves it"
        case .oddToken: "token of an odd number of hex digits"
        }
    }

    init?(telephone bytes: ArraySlice<UInt8>) {
        // Nearly all of them.
        if bytes.dropFirst(bytes.first == UInt8(ascii: "+") ? 1 : 0).allSatisfy({ (0x30...0x39).contains($0) }) {
            return nil
        }
        // White space around it; full-width, invisible and lost characters; a formula or text mark; a number that was shortened or
        // got decimals; a word for nothing.
        let odd =
            #/\s.*|.*\s|.*[^ -~].*|['=].*|[+-]?\d+(\.\d*)?[eE][+-]?\d+|[+-]?\d+\.\d*|(?i:null|nil|none|nan|#?n/?a|\\n|undefined|unknown|--?)/#
            .dotMatchesNewlines()
        guard String(decoding: bytes, as: UTF8.self).wholeMatch(of: odd) != nil else { return nil }
        self = .oddTelephone
    }

    /// - Parameter token: of iOS, where it stands for bytes in hex.
    init?(token bytes: ArraySlice<UInt8>) {
        guard bytes.count % 2 == 1 else { return nil }
        self = .oddToken
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
