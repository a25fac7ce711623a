// SPDX-License-Identifier: Apache-2.0

/// A cursor over JSON that may break off anywhere. Each step returns whether to go on.
struct ErrorScan {
    let bytes: [UInt8]
    private var place = 0
    private var depth = 0

    private static let deepest = 16

    init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func next() -> UInt8? {
        while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
        return place < bytes.count ? bytes[place] : nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next() == byte else { return false }
        place += 1
        return true
    }

    var isObject: Bool { mutating get { next() == UInt8(ascii: "{") } }

    /// The value's members, in their order; a value of another kind is passed over.
    mutating func object(_ member: (inout ErrorScan, String) -> Bool) -> Bool {
        guard next() == UInt8(ascii: "{") else { return skip() }
        return elements(UInt8(ascii: "}")) { scan in
            var key = ""
            guard scan.next() == UInt8(ascii: "\""), scan.string({ key = $0 }), scan.take(UInt8(ascii: ":")) else {
                return false
            }
            return member(&scan, key)
        }
    }

    mutating func array(_ element: (inout ErrorScan) -> Bool) -> Bool {
        guard next() == UInt8(ascii: "[") else { return skip() }
        return elements(UInt8(ascii: "]"), element)
    }

    private mutating func elements(_ end: UInt8, _ element: (inout ErrorScan) -> Bool) -> Bool {
        guard depth < Self.deepest else { return false }
        depth += 1
        defer { depth -= 1 }
        place += 1
        if take(end) { return true }
        while element(&self) {
            if take(end) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
        return false
    }

    /// A text; a value of another kind is passed over. One that breaks off does not count.
    mutating func string(_ body: (String) -> Void) -> Bool {
        guard next() == UInt8(ascii: "\"") else { return skip() }
        place += 1
        var text: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""):
                body(String(decoding: text, as: UTF8.self))
                return true
            case UInt8(ascii: "\\"):
                guard place < bytes.count else { return false }
                // Codes and names have no escape but that of the slash; any other makes an unknown word.
                if bytes[place] != UInt8(ascii: "/") { text.append(byte) }
                text.append(bytes[place])
                place += 1
            default:
                text.append(byte)
            }
        }
        return false
    }

    /// A number of at most 16 digits; a value of another kind is passed over. One that breaks off does not count: it may be half
    /// of the number.
    mutating func integer(_ body: (Int64) -> Void) -> Bool {
        guard let first = next(), (48...57).contains(first) else { return skip() }
        let start = place
        guard skip(), place < bytes.count else { return false }
        let digits = bytes[start..<place]
        if digits.count <= 16, let number = Int64(String(decoding: digits, as: UTF8.self)) { body(number) }
        return true
    }

    mutating func skip() -> Bool {
        switch next() {
        case UInt8(ascii: "{"): return object { scan, _ in scan.skip() }
        case UInt8(ascii: "["): return array { $0.skip() }
        case UInt8(ascii: "\""): return string { _ in }
        case nil: return false
        default:
            let start = place
            while place < bytes.count, !Self.ends(bytes[place]) { place += 1 }
            return place > start
        }
    }

    private static func ends(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || byte <= 0x20
    }
}
