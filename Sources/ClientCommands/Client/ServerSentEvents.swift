// SPDX-License-Identifier: Apache-2.0

/// Reads an event stream line by line (HTML Living Standard, 9.2.6 "Interpreting an event stream"). Pure.
struct ServerSentEvents: Sendable {
    struct Event: Sendable, Equatable {
        var name = "message"
        var data = ""
    }

    private var name = ""
    private var data: [String] = []

    /// The event that an empty line completes; nil otherwise.
    mutating func feed(line: [UInt8]) -> Event? {
        guard !line.isEmpty else {
            defer { (name, data) = ("", []) }
            guard !data.isEmpty else { return nil }
            return Event(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
        }
        let text = String(decoding: line, as: UTF8.self)
        // A line that begins with a colon is a comment: the server's sign of life.
        guard !text.hasPrefix(":") else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : ""
        if value.hasPrefix(" ") { value = value.dropFirst() }
        switch parts.first {
        case "event": name = String(value)
        case "data": data.append(String(value))
        default: break
        }
        return nil
    }
}
