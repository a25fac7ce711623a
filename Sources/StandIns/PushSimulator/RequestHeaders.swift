// SPDX-License-Identifier: Apache-2.0

/// The header fields that the simulator looks at.
package enum KnownHeader: Int, CaseIterable, Sendable {
    case method, path, authorization, topic, pushType, id, expiration, priority, collapseID, contentType

    package var name: StaticString {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .authorization: "authorization"
        case .topic: "apns-topic"
        case .pushType: "apns-push-type"
        case .id: "apns-id"
        case .expiration: "apns-expiration"
        case .priority: "apns-priority"
        case .collapseID: "apns-collapse-id"
        case .contentType: "content-type"
        }
    }
}

/// The values of one request's known header fields, in one arena that is reused for the next request.
package struct RequestHeaders: Sendable {
    private var arena: [UInt8] = []
    /// Start and end in `arena`, two for each known header; -1 where the header was not sent.
    private var ends: [Int32] = Array(repeating: -1, count: 2 * KnownHeader.allCases.count)
    /// Whether no known header was sent.
    private(set) var isEmpty = true
    /// Whether a known header was sent twice.
    package private(set) var hasDuplicate = false

    package init() {}

    package mutating func removeAll() {
        arena.removeAll(keepingCapacity: true)
        for index in ends.indices { ends[index] = -1 }
        hasDuplicate = false
        isEmpty = true
    }

    package mutating func add(_ header: KnownHeader, _ value: borrowing Span<UInt8>) {
        let place = header.rawValue * 2
        isEmpty = false
        if ends[place] >= 0 { hasDuplicate = true }
        ends[place] = Int32(arena.count)
        unsafe value.withUnsafeBufferPointer { unsafe arena.append(contentsOf: $0) }
        ends[place + 1] = Int32(arena.count)
    }

    /// Nil if it was not sent.
    package subscript(_ header: KnownHeader) -> ArraySlice<UInt8>? {
        let place = header.rawValue * 2
        guard ends[place] >= 0 else { return nil }
        return arena[Int(ends[place])..<Int(ends[place + 1])]
    }

    /// The device token: the path after `/3/device/`; nil for another path.
    package var deviceToken: ArraySlice<UInt8>? {
        guard let path = self[.path], path.prefix(Self.prefix.count) == Self.prefix else { return nil }
        return path.dropFirst(Self.prefix.count)
    }

    private static let prefix = Array("/3/device/".utf8)[...]
}
