// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A header field that the simulator looks at: one that the rules of all services read, or one of its service's own.
package struct KnownHeader: Sendable {
    /// In lower case.
    package let name: StaticString
    /// The field's place in `RequestHeaders`.
    package let place: Int

    /// The number of places.
    static let most = 12

    private init(_ name: StaticString, place: Int) {
        (self.name, self.place) = (name, place)
    }

    /// A field of one service.
    ///
    /// - Parameter number: from 0 to 7; each field of the service has another.
    init(_ name: StaticString, own number: Int) {
        self.init(name, place: Self.firstOwn + number)
    }

    static let method = KnownHeader(":method", place: 0)
    static let path = KnownHeader(":path", place: 1)
    static let authorization = KnownHeader("authorization", place: 2)
    static let contentType = KnownHeader("content-type", place: 3)

    fileprivate static let ofEveryService = [method, path, authorization, contentType]
    private static let firstOwn = 4
}

/// The header fields that a simulator looks at, by name.
package struct KnownHeaders: Sendable {
    /// By the length of their names.
    package let all: [KnownHeader]
    /// The index in `all` of the first name that has this length or more. In place, as it is read for each field of a request.
    private let starts: InlineArray<32, UInt8>

    /// The names are shorter than 31 bytes.
    package init(of service: ServiceKind) {
        let all = (KnownHeader.ofEveryService + service.headers).sorted {
            $0.name.utf8CodeUnitCount < $1.name.utf8CodeUnitCount
        }
        starts = InlineArray { length in
            UInt8(all.firstIndex { $0.name.utf8CodeUnitCount >= length } ?? all.count)
        }
        self.all = all
    }

    /// The field's place in `RequestHeaders`. Names are lower case already: nghttp2 refuses others, as RFC 9113 section 8.2.1
    /// asks.
    func place(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = name.baseAddress, name.count + 1 < starts.count else { return nil }
        for index in Int(starts[name.count])..<Int(starts[name.count + 1]) {
            let header = all[index]
            if unsafe memcmp(base, header.name.utf8Start, name.count) == 0 { return header.place }
        }
        return nil
    }
}

/// The values of one request's known header fields, in one arena that is reused for the next request.
package struct RequestHeaders: Sendable {
    private var arena: [UInt8] = []
    /// Start and end in `arena`, two for each known header; -1 where the header was not sent.
    private var ends: [Int32] = Array(repeating: -1, count: 2 * KnownHeader.most)
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

    /// - Parameter place: a known header's.
    package mutating func add(_ value: borrowing Span<UInt8>, at place: Int) {
        let place = place * 2
        isEmpty = false
        if ends[place] >= 0 { hasDuplicate = true }
        ends[place] = Int32(arena.count)
        unsafe value.withUnsafeBufferPointer { unsafe arena.append(contentsOf: $0) }
        ends[place + 1] = Int32(arena.count)
    }

    /// Nil if it was not sent.
    package subscript(_ header: KnownHeader) -> ArraySlice<UInt8>? {
        let place = header.place * 2
        guard ends[place] >= 0 else { return nil }
        return arena[Int(ends[place])..<Int(ends[place + 1])]
    }
}
