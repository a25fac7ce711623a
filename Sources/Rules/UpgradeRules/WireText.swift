// SPDX-License-Identifier: Apache-2.0

/// A text that the other side may send as a JSON string or as a number: "1" and 1 both read as "1".
///
/// The clients read every field through a to-string conversion (SEEDS S1, S2), so their servers grew used to sending
/// either. The result is what NSNumber's `stringValue` gives: integers exactly, with every digit; `true` and `false` as
/// "1" and "0"; whole numbers without a fraction. Other fractions have the fewest digits that still name the same number,
/// where NSNumber prints up to 16; no telephone or flag is a fraction.
///
/// It is always written as a JSON string.
public struct WireText: Hashable, Sendable {
    /// The text, literally.
    public let text: String

    /// Takes a text as it is.
    public init(_ text: String) {
        self.text = text
    }

    /// Takes an integer, as its decimal digits.
    public init(_ number: some BinaryInteger) {
        text = String(number)
    }

    /// Takes a number; a whole one loses its fraction ("1" for 1.0).
    public init(_ number: Double) {
        // Not Int64(exactly:): it calls libm, which is not linked in a build without optimisation and without Foundation.
        let fits = number >= -0x1p63 && number < 0x1p63
        let whole = fits ? Int64(number) : 0
        text = fits && Double(whole) == number ? String(whole) : number.description
    }

    /// Compares literally, by code units as the clients do, not by canonical equivalence as Swift's `String` does.
    public static func == (left: WireText, right: WireText) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the code units, in step with `==`.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8.max)  // never a byte of UTF-8, so that "1","2" and "12" side by side hash differently
    }
}

extension WireText: Codable {
    /// Reads a JSON string, number or boolean.
    ///
    /// - Throws: `DecodingError.typeMismatch` for an object, an array or null. An optional field reads null as missing.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
            self.init(text)
        } else if let flag = try? value.decode(Bool.self) {
            self.init(flag ? 1 : 0)
        } else if let integer = try? value.decode(Int64.self) {
            self.init(integer)
        } else if let integer = try? value.decode(UInt64.self) {
            self.init(integer)
        } else if let number = try? value.decode(Double.self) {
            self.init(number)
        } else {
            throw DecodingError.typeMismatch(
                String.self,
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "a string or a number is needed here"))
        }
    }

    /// Writes a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(text)
    }
}
