// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A value that is JSON already.
struct WrittenJSON: JSONWritable {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
    init(_ text: String) { bytes = Array(text.utf8) }

    func write(to writer: inout JSONWriter) { writer.raw(bytes) }
}
