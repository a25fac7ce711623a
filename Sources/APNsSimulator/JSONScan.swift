// SPDX-License-Identifier: Apache-2.0

/// A validator of JSON bytes (RFC 8259) that also tells where the members of the outermost object are. It builds
/// nothing, because it runs once for every push.
struct JSONScan {
    enum Kind {
        case object, array, string, number, literal
    }

    /// One member of the outermost object; ranges include the quotes of strings.
    struct Member {
        var key: Range<Int>
        var value: Range<Int>
        var kind: Kind
    }

    private let bytes: [UInt8]
    private var at = 0
    private var hasHighBytes = false
    /// Deeper than this is refused rather than risking the stack.
    private static let deepest = 64

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Calls `member` for each member of the outermost object. False if `bytes` are not one JSON object.
    static func object(_ bytes: [UInt8], member: (Member) -> Void) -> Bool {
        var scan = JSONScan(bytes)
        scan.skipSpace()
        guard scan.current == UInt8(ascii: "{"), scan.object(depth: 0, member) else { return false }
        scan.skipSpace()
        guard scan.at == bytes.count else { return false }
        // RFC 8259 section 8.1: JSON between systems is UTF-8.
        return !scan.hasHighBytes || String(validating: bytes, as: UTF8.self) != nil
    }

    /// 0 at the end: no JSON token starts with it.
    private var current: UInt8 { at < bytes.count ? bytes[at] : 0 }

    private mutating func skipSpace() {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x09, 0x0a, 0x0d: at += 1
            default: return
            }
        }
    }

    private mutating func take(_ character: UInt8) -> Bool {
        guard current == character else { return false }
        at += 1
        return true
    }

    private mutating func value(depth: Int) -> Kind? {
        switch current {
        case UInt8(ascii: "{"): object(depth: depth) { _ in } ? .object : nil
        case UInt8(ascii: "["): array(depth: depth) ? .array : nil
        case UInt8(ascii: "\""): string() ? .string : nil
        case UInt8(ascii: "t"): literal("true")
        case UInt8(ascii: "f"): literal("false")
        case UInt8(ascii: "n"): literal("null")
        default: number() ? .number : nil
        }
    }

    private mutating func object(depth: Int, _ member: (Member) -> Void) -> Bool {
        guard depth < Self.deepest, take(UInt8(ascii: "{")) else { return false }
        skipSpace()
        if take(UInt8(ascii: "}")) { return true }
        while true {
            skipSpace()
            let keyStart = at
            guard string() else { return false }
            let keyEnd = at
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return false }
            skipSpace()
            let valueStart = at
            guard let kind = value(depth: depth + 1) else { return false }
            member(Member(key: keyStart..<keyEnd, value: valueStart..<at, kind: kind))
            skipSpace()
            if take(UInt8(ascii: "}")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    private mutating func array(depth: Int) -> Bool {
        guard depth < Self.deepest, take(UInt8(ascii: "[")) else { return false }
        skipSpace()
        if take(UInt8(ascii: "]")) { return true }
        while true {
            skipSpace()
            guard value(depth: depth + 1) != nil else { return false }
            skipSpace()
            if take(UInt8(ascii: "]")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    private mutating func string() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                let escaped = current
                at += 1
                switch escaped {
                case UInt8(ascii: "u"):
                    for _ in 0..<4 {
                        guard isHexDigit(current) else { return false }
                        at += 1
                    }
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
                    UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                    break
                default: return false
                }
            case 0..<0x20: return false
            case 0x80...: hasHighBytes = true
            default: break
            }
        }
        return false
    }

    private mutating func digits() -> Bool {
        let start = at
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { at += 1 }
        return at > start
    }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        // RFC 8259 section 6: no leading zeros.
        if !take(UInt8(ascii: "0")) {
            guard digits() else { return false }
        }
        if take(UInt8(ascii: ".")) {
            guard digits() else { return false }
        }
        if current | 0x20 == UInt8(ascii: "e") {
            at += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { at += 1 }
            guard digits() else { return false }
        }
        return true
    }

    private mutating func literal(_ text: StaticString) -> Kind? {
        for scalar in text.description.utf8 {
            guard take(scalar) else { return nil }
        }
        return .literal
    }
}

func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
    default: false
    }
}
