// SPDX-License-Identifier: Apache-2.0

/// Reads an event stream line by line (HTML Living Standard, 9.2.6 "Interpreting an event stream"). Pure.
struct ServerSentEvents: Sendable {
    private var data: [Substring] = []

    /// The data of the event that an empty line completes, whatever its name; nil otherwise.
    mutating func feed(line: [UInt8]) -> String? {
        guard !line.isEmpty else {
            defer { data = [] }
            return data.isEmpty ? nil : data.joined(separator: "\n")
        }
        // A line that begins with a colon is a comment: the server's sign of life.
        let text = String(decoding: line, as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0] == "data" else { return nil }
        let value = parts.count > 1 ? parts[1] : ""
        data.append(value.hasPrefix(" ") ? value.dropFirst() : value)
        return nil
    }
}
