// SPDX-License-Identifier: Apache-2.0

/// One family of parsers that meet foreign bytes, and the properties that must hold for any bytes.
///
/// libFuzzer drives a target with bytes of its own making (`make fuzz`), the tests with those that are kept in `Corpus`.
struct FuzzTarget: Sendable, CustomStringConvertible {
    /// The name of the target, and of its directory in `Corpus`.
    let name: String
    /// - Throws: `Violation`.
    let check: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, _ check: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.check = check
    }

    var description: String { name }

    static let all: [FuzzTarget] = [
        .version, .telephone, .payload, .json, .bumpBody, .releaseEvent, .webhookSignature, .deviceImport, .launchGate,
        .storeLookup, .storeConnect, .google, .pushAnswer, .providerToken, .messageToFCM, .configuration, .http,
        .request, .wireTime,
        .shownText, .userAgent,
    ]
}

/// A property that did not hold.
struct Violation: Error, CustomStringConvertible {
    let description: String
}

/// - Throws: `Violation` with `what` where `condition` is false.
func hold(_ condition: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String) throws {
    guard try condition() else { throw Violation(description: what()) }
}

/// An input cut into the parts that a target needs.
struct FuzzInput {
    /// Never a byte of UTF-8, so that texts go in one piece.
    static let separator: UInt8 = 0xFF

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// The bytes up to the next separator; empty when there are no more.
    mutating func part() -> [UInt8] {
        let part = rest.prefix { $0 != Self.separator }
        rest = rest.dropFirst(part.count + 1)
        return Array(part)
    }

    mutating func text() -> String { String(decoding: part(), as: UTF8.self) }

    /// nil where the part is empty.
    mutating func optionalText() -> String? {
        let text = text()
        return text.isEmpty ? nil : text
    }

    /// All that is left, separators too.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }
}
