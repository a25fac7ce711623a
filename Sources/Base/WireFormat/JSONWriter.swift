// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Writes JSON as bytes, names and values in the order in which they are given.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init(reserving capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    /// Discards all bytes and keeps the memory.
    package mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Ends a line of NDJSON: the next value begins anew.
    package mutating func newLine() {
        bytes.append(0x0A)
        needsComma = false
    }

    // MARK: Structure

    package mutating func object(_ content: (inout JSONWriter) -> Void) {
        open("{")
        content(&self)
        close("}")
    }

    package mutating func array<Elements: Sequence>(
        _ elements: Elements, _ content: (inout JSONWriter, Elements.Element) -> Void
    ) {
        open("[")
        for element in elements { content(&self, element) }
        close("]")
    }

    package mutating func name(_ name: String) {
        separate()
        Self.append(quoted: name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    package mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    package mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    package mutating func string(_ value: String) {
        separate()
        Self.append(quoted: value, to: &bytes)
    }

    package mutating func integer(_ value: Int64) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// A number with at most `places` decimals; more than three places are not supported.
    /// NaN and infinities become 0, magnitudes above 1e15 become 1e15.
    package mutating func decimal(_ value: Double, places: Int = 1) {
        separate()
        let unit: Int64 = (0..<places).reduce(1) { unit, _ in unit * 10 }
        let bounded = value.isFinite ? min(max(value, -1e15), 1e15) : 0
        let scaled = Int64((bounded * Double(unit)).rounded())
        // Behind a 1, so that zeros at the front stay.
        var digits = String(scaled.magnitude % UInt64(unit) + UInt64(unit)).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        let whole = "\(scaled < 0 ? "-" : "")\(scaled.magnitude / UInt64(unit))"
        bytes.append(contentsOf: (digits.isEmpty ? whole : "\(whole).\(digits)").utf8)
    }

    /// A value that is JSON already.
    package mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// A value that writes itself; nil is null.
    package mutating func value(_ value: (any JSONWritable)?) {
        if let value { value.write(to: &self) } else { null() }
    }

    package mutating func member(_ name: String, _ value: (any JSONWritable)?) {
        self.name(name)
        self.value(value)
    }

    // MARK: Bytes

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    /// RFC 8259 section 7: the quotation mark, the reverse solidus and U+0000 to U+001F must be escaped, nothing else.
    package static func append(quoted text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        // Copied as a whole, as every name and nearly every text is.
        if isPlain { return bytes.append(contentsOf: text.utf8) }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A:
                bytes.append(contentsOf: "\\n".utf8)
            case 0x0D:
                bytes.append(contentsOf: "\\r".utf8)
            case 0x09:
                bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Hex.digit(byte >> 4))
                bytes.append(Hex.digit(byte & 15))
            default:
                bytes.append(byte)
            }
        }
    }
}

/// A type whose values can be written as JSON.
package protocol JSONWritable: SendableMetatype {
    func write(to writer: inout JSONWriter)
}

extension String: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Int64: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Int: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
}

extension Bool: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.bool(self) }
}

extension Timestamp: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.string(internetTime) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.array(self) { $0.value($1) } }
}

/// A number with at most `places` decimals.
package struct JSONDecimal: JSONWritable {
    private let value: Double
    private let places: Int

    package init(of value: Double, places: Int = 1) {
        (self.value, self.places) = (value, places)
    }

    /// - Returns: nil for nil.
    package init?(_ value: Double?, places: Int = 1) {
        guard let value else { return nil }
        (self.value, self.places) = (value, places)
    }

    package func write(to writer: inout JSONWriter) { writer.decimal(value, places: places) }
}
