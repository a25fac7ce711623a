// SPDX-License-Identifier: Apache-2.0

/// The reason why a device's value is unlikely to be intended, though it has the right form. It is judged alike everywhere: an
/// import reports the value, and refuses it with `--strict`; a single device is refused; no push goes to it, and it is no evidence.
///
/// All functions take UTF-8, allocate nothing for an ordinary value, and know no clock.
@usableFromInline package enum ValueDoubt: String, CaseIterable, Sendable {
    /// A program printed that it had no value, or printed an object in the place of its text: `(null)`, `Optional("138…")`.
    case noValue
    /// A spreadsheet or a conversion changed it: white space, full-width digits, `1.38E+10`.
    case converted
    /// A token in hex that is no whole number of bytes.
    case oddToken
    /// A number that no release has, such as 9999 or the largest integer of a type, or a date.
    case noRelease
    /// A system that no phone runs.
    case noSystem
    /// Two letters that stand for no country.
    case noCountry
    /// A time before the first pushes to phones, or in the far future.
    case noTime

    /// The words for values with this doubt.
    ///
    /// - Parameter column: the column that has them.
    package func words(for column: String) -> String {
        switch self {
        case .noValue: "phone number that a program printed where it had none"
        case .converted: "phone number as a spreadsheet or a conversion leaves it"
        case .oddToken: "token of an odd number of hex digits"
        case .noRelease: "version that no release has"
        case .noSystem: "version of a system that no phone runs"
        case .noCountry: "country code that stands for no country"
        case .noTime: "\(column) in which no phone was pushed"
        }
    }

    // MARK: Telephones

    /// - Parameter bytes: a telephone, or anything that an app sends in its place.
    @inlinable
    package static func telephone<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> ValueDoubt? {
        // Nearly all telephones.
        if isNumber(bytes) { return nil }
        return oddTelephone(String(decoding: bytes, as: UTF8.self))
    }

    /// Digits, with or without a plus sign, that are not all zero.
    @inlinable
    static func isNumber(_ bytes: some Collection<UInt8>) -> Bool {
        var isPastSign = false
        var isZero = true
        for byte in bytes {
            switch byte {
            case 0x31...0x39: isZero = false
            case 0x30: break
            case UInt8(ascii: "+") where !isPastSign: break
            default: return false
            }
            isPastSign = true
        }
        return !isZero
    }

    @usableFromInline
    static func oddTelephone(_ text: String) -> ValueDoubt? {
        if text.isEmpty { return nil }
        if isPrinted(text) { return .noValue }
        // White space around it; full-width, invisible and lost characters; a formula or text mark; a number that was shortened or
        // got decimals.
        let converted =
            #/\s.*|.*\s|.*[^ -~].*|['=].*|[+-]?\d+(\.\d*)?[eE][+-]?\d+|[+-]?\d+\.\d*|\+?0+/#.dotMatchesNewlines()
        return text.wholeMatch(of: converted) == nil ? nil : .converted
    }

    /// Whether a program printed "no value", an object or a template.
    package static func isPrinted(_ text: String) -> Bool {
        var bare = Substring(text)
        var isWrapped = false
        // One wrapper after the other: "<null>", "(nil)", "[object Object]".
        while let first = bare.first, let last = bare.last {
            if first.isWhitespace {
                bare.removeFirst()
            } else if last.isWhitespace {
                bare.removeLast()
            } else if wrappers[first] == last, bare.count > 1 {
                bare = bare.dropFirst().dropLast()
                isWrapped = true
            } else {
                break
            }
        }
        // White space alone counts: it is the telephone of a user for the app that sends it.
        if bare.isEmpty { return isWrapped }
        if words.contains(bare.lowercased()) { return true }
        // A language's own wrapper around a value, an object's identity, a template that was never filled.
        let printed =
            #/(?i)\s*(optional|some|just|maybe|option)\s*[(\[{].*|.*\[object\s.*|\s*[<{].*|.*[>}]\s*|\s*\$.*|.*%[@sd].*|.*[a-z0-9_$;\]]@[0-9a-f]{5,16}\s*|\s*b'.*'/#
            .dotMatchesNewlines()
        return text.wholeMatch(of: printed) != nil
    }

    private static let wrappers: [Character: Character] = [
        "(": ")", "<": ">", "[": "]", "{": "}", "\"": "\"", "'": "'", "`": "`",
    ]
    private static let words: Set<String> = [
        "null", "nil", "none", "nan", "na", "n/a", "#n/a", "#na", "#null!", "#value!", "#ref!", "\\n", "\\0",
        "undefined", "unknown",
        "void", "empty", "missing", "absent", "anonymous", "false", "true", "-", "--", "---", "_", ".", "?", "dbnull",
        "nsnull", "nonetype",
        "null null", "optional.empty", "optional.none", "nothing", "inf", "-inf", "infinity", "object object",
        "object null", "object undefined",
        "system.string", "system.object", "system.dbnull", "no value", "not set", "not available", "无", "空",
    ]
    // MARK: Versions

    /// - Parameter bytes: numbers with dots between them, an app's version.
    @inlinable
    package static func version(_ bytes: some Collection<UInt8>) -> ValueDoubt? {
        numbers(bytes, isSystem: false)
    }

    /// - Parameter bytes: the version of a phone's system; on Android the API level.
    @inlinable
    package static func system(_ bytes: some Collection<UInt8>) -> ValueDoubt? {
        numbers(bytes, isSystem: true)
    }

    /// One pass: the numbers, their digits, and which of them are nines alone.
    @inlinable
    static func numbers(_ bytes: some Collection<UInt8>, isSystem: Bool) -> ValueDoubt? {
        var number: UInt64 = 0
        var digits = 0
        var isNines = true
        var isAllZero = true
        var isPlaceholder = false
        var parts = 0
        var first: UInt64 = 0
        var second: UInt64 = 0
        var last: UInt64 = 0
        func end() {
            isPlaceholder = isPlaceholder || digits >= 3 && isNines || limits.contains(number)
            if number != 0 { isAllZero = false }
            if parts == 0 { first = number }
            if parts == 1 { second = number }
            last = number
            parts += 1
            (number, digits, isNines) = (0, 0, true)
        }
        for byte in bytes {
            let digit = byte &- 0x30
            if digit < 10 {
                number = number &* 10 &+ UInt64(digit)
                digits += 1
                if digit != 9 { isNines = false }
            } else {
                end()
            }
        }
        end()
        if isSystem {
            // iOS 3 was the first with pushes; Android's API levels begin at 1. Neither is near 100.
            return isPlaceholder || isAllZero || first == 0 || first > 99 ? .noSystem : nil
        }
        // A day, a month and a year: a spreadsheet's reading of "1.2.24" or of a date column. Versions by calendar begin with the year.
        let isDate = parts == 3 && (1...31).contains(first) && (1...12).contains(second) && (1900...2100).contains(last)
        return isPlaceholder || isAllZero || isDate ? .noRelease : nil
    }

    /// The largest integers of 16, 32 and 64 bits, signed and unsigned.
    @usableFromInline
    static let limits: Set<UInt64> = [
        32767, 65535, 2_147_483_647, 4_294_967_295, 9_223_372_036_854_775_807, 18_446_744_073_709_551_615,
    ]

    // MARK: The others

    /// - Parameter bytes: a token that stands for bytes in hex.
    package static func hexToken(_ bytes: some Collection<UInt8>) -> ValueDoubt? {
        bytes.count % 2 == 1 ? .oddToken : nil
    }

    /// - Parameter bytes: a time as in RFC 3339. No phone was seen in 1970 or 9999: there were no pushes before 2008.
    package static func time(_ bytes: some Collection<UInt8>) -> ValueDoubt? {
        var year = 0
        for byte in bytes.prefix(4) {
            guard byte &- 0x30 < 10 else { return nil }
            year = year * 10 + Int(byte - 0x30)
        }
        return (2008..<2038).contains(year) ? nil : .noTime
    }
}
