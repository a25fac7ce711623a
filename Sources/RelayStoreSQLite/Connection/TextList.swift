// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A list of texts as a JSON array, which is how a column of the schema holds one.
enum TextList {
    static func json(_ texts: [String]) -> String {
        var writer = JSONWriter()
        writer.array(texts) { $0.string($1) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
