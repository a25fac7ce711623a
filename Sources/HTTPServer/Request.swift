// SPDX-License-Identifier: Apache-2.0

/// By which door a request came in.
package enum Door: Hashable, Sendable {
    case network
    /// The control socket: file permissions have already said who may.
    case control

    /// As a log line shows it: what the configuration calls it.
    package var name: String { self == .control ? "controlSocket" : "network" }
}

/// A request before its body.
package struct RequestHead: Sendable {
    package var door: Door
    package var method: String
    /// Path and query as they came over the wire, still encoded.
    package var target: String
    package var headers: HeaderFields
    /// Where it comes from.
    package var peer = PeerAddress.none
    /// Why nobody on its connection is let in; nil: ask on.
    package var refusal: PeerRefusal?
    /// Bytes of the whole head.
    package var size = 0
    /// nil when it is chunked or has none.
    package var contentLength: Int64? { headers["content-length"].flatMap { Int64($0) } }
}

/// The headers of a request that its handler reads, by name in lower case. They are few: looking through them costs less than
/// a hash.
package struct HeaderFields: Sendable {
    private var fields: [(name: String, value: String)] = []

    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    package var byName: [String: String] {
        Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func append(_ name: String, _ value: String) { fields.append((name, value)) }
}

/// What becomes of a request's body.
package enum Admission {
    /// The body, if there is one, is read and dropped.
    case answer(Response)
    /// Collected up to `limit` bytes; more is a 413.
    case collect(limit: Int, finish: @Sendable ([UInt8]) -> Response)
    /// Handed on as it comes.
    case stream(any BodyConsumer)
}

/// Takes a body piece by piece, on a thread that may wait; one piece at a time.
package protocol BodyConsumer: AnyObject {
    func consume(_ bytes: [UInt8])
    func finish() -> Response
}

/// An answer on its way out.
package struct Response {
    package enum Body {
        case bytes([UInt8])
        /// The same for many.
        case shared(SharedBytes)
        case stream(any ByteSource)
        /// Made before, with its status and headers.
        case ready(PreparedResponse)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body
    /// It was answered before, and is answered again as it was then.
    package var isReplay = false

    package init(status: Int, headers: [(name: String, value: String)], body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package static var noContent: Response { Response(status: 204, headers: [], body: .bytes([])) }
}

/// A body that is made as it is sent, on a thread that may wait; one piece at a time.
package protocol ByteSource: AnyObject {
    /// Whether a piece may take so long that it needs a thread of its own.
    var mayWaitLong: Bool { get }

    /// The next piece, never empty; nil at the end. May wait, but returns soon after the server is stopping.
    ///
    /// - Throws: when the rest cannot be made: the connection is cut, so that the client does not take a part for the whole.
    func next() throws -> [UInt8]?
}

extension ByteSource {
    package var mayWaitLong: Bool { false }
}

/// Reports why a source failed: who reads it only sees the connection cut.
package final class WatchedSource: ByteSource {
    private let source: any ByteSource
    private let failed: (any Error) -> Void

    package init(_ source: any ByteSource, failed: @escaping (any Error) -> Void) {
        self.source = source
        self.failed = failed
    }

    package var mayWaitLong: Bool { source.mayWaitLong }

    package func next() throws -> [UInt8]? {
        do {
            return try source.next()
        } catch {
            failed(error)
            throw error
        }
    }
}
