// SPDX-License-Identifier: Apache-2.0

/// The form of a provider's device tokens.
package struct TokenForm: Sendable, Hashable {
    package enum Alphabet: Sendable, Hashable {
        /// Stored in lower case.
        case hexDigits
        /// From "!" to "~".
        case visibleASCII
    }

    package let alphabet: Alphabet
    /// In bytes.
    package let lengths: ClosedRange<Int>

    package init(_ alphabet: Alphabet, _ lengths: ClosedRange<Int>) {
        (self.alphabet, self.lengths) = (alphabet, lengths)
    }

    /// Whether the UTF-8 is that of a token.
    package func holds(_ token: ArraySlice<UInt8>) -> Bool {
        guard lengths.contains(token.count) else { return false }
        return unsafe token.withUnsafeBufferPointer { token in
            switch alphabet {
            case .hexDigits: unsafe token.allSatisfy(Self.isHexDigit)
            case .visibleASCII: unsafe token.allSatisfy(Self.isVisible)
            }
        }
    }

    /// The reason why the text is no token; nil: it is one.
    package func fault(in token: String) -> String? {
        let length = token.utf8.count
        guard lengths.contains(length) else {
            let range = "\(lengths.lowerBound) to \(lengths.upperBound)"
            return switch alphabet {
            case .hexDigits: "\(range) hex digits are needed; it had \(length) characters"
            case .visibleASCII: "\(range) characters are needed; it had \(length)"
            }
        }
        func place(_ isRight: (UInt8) -> Bool) -> Int? {
            token.utf8.enumerated().first { !isRight($0.element) }.map { $0.offset + 1 }
        }
        return switch alphabet {
        case .hexDigits:
            place(Self.isHexDigit).map { "only hex digits are allowed; position \($0) holds another" }
        case .visibleASCII:
            place(Self.isVisible).map { "only visible ASCII is allowed; position \($0) holds something else" }
        }
    }

    package static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...70, 97...102: true
        default: false
        }
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte >= 0x21 && byte <= 0x7E }
}
