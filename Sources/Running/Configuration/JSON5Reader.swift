// SPDX-License-Identifier: Apache-2.0
import Terminal
package import WireFormat

/// Reads JSON5, and reports a fault with its line and column. Pure.
package enum JSON5Reader {
    /// The most duplicate keys reported: more than a person repairs at a time.
    private static let mostDuplicates = 20

    /// The text's value, and a fault for each key that occurs twice; the value has its last occurrence.
    ///
    /// - Throws: the first fault of the JSON5.
    package static func read(
        _ file: [UInt8]
    ) throws(FieldFault) -> (value: JSONValue, duplicates: [FieldFault]) {
        let bytes: [UInt8]
        do throws(TextFile.Fault) {
            bytes = try TextFile.utf8(file)
        } catch {
            throw FieldFault("", "the file \(error)")
        }
        do throws(JSONSyntaxError) {
            let (value, duplicates) = try JSONReader.readJSON5(bytes)
            return (value, duplicates.prefix(mostDuplicates).map { FieldFault("", text($0, bytes)) })
        } catch {
            throw FieldFault("", "not JSON5: \(text(error, bytes))")
        }
    }

    private static func text(_ fault: JSONSyntaxError, _ bytes: [UInt8]) -> String {
        let lines = bytes[..<fault.offset].split(separator: 0x0A, omittingEmptySubsequences: false)
        let column = String(decoding: lines.last ?? [], as: UTF8.self).unicodeScalars.count + 1
        return "line \(max(lines.count, 1)), column \(column): \(DisplayWidth.sanitised(fault.reason))"
    }
}
