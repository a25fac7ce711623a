// SPDX-License-Identifier: Apache-2.0

/// The door that a request came in by.
package enum Door: String, Sendable {
    case network
    /// The second address.
    case operations
    /// The control socket: its file permissions have already decided who may connect.
    case control

    /// The name in log lines and in the configuration.
    package var name: String { self == .control ? "controlSocket" : rawValue }
}

/// A request before its body.
package struct RequestHead: Sendable {
    /// How the length of a body is known (RFC 9112, section 6.3).
    package enum Body: Hashable, Sendable {
        case none
        /// Bytes.
        case length(Int64)
        case chunked
    }

    package var door = Door.network
    package var method: String
    /// Path and query as they came over the wire, still encoded.
    package var target: String
    package var headers: HeaderFields
    /// The client's address: that of the connection, or the one that a trusted proxy reports.
    package var peer = PeerAddress.none
    /// The trusted proxy that the connection comes from; nil: the connection is the client's own.
    package var proxy: PeerAddress?
    /// The user of the process at the other end of the control socket; nil on the network, and where the system does not
    /// report it.
    package var user: UInt32?
    /// Why every request on its connection is refused; nil: check it as usual.
    package var refusal: PeerRefusal?
    var body = Body.none
    /// HTTP/1.0, which has no chunks.
    var isOld = false
    /// Whether the client asks to keep the connection open after the answer.
    package internal(set) var keepsAlive = true
    /// Whether the client waits for "100 Continue" before it sends the body (RFC 9110, section 10.1.1).
    package internal(set) var expectsContinue = false

    package init(method: String, target: String, headers: HeaderFields = HeaderFields()) {
        self.method = method
        self.target = target
        self.headers = headers
    }
}

/// The headers of a request that its handler reads, by name in lower case. These headers are so few that a linear search is
/// cheaper than a hash table.
package struct HeaderFields: Sendable {
    private var fields: [(name: String, value: String)] = []
    /// The names of fields that came more than once.
    private var repeated: [String] = []

    package init() {}

    /// Whether the field came more than once, so that its value is a list of several senders' texts.
    package func isRepeated(_ name: String) -> Bool { repeated.contains(name) }

    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    package var byName: [String: String] {
        Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Repeated fields are joined to one list (RFC 9110, section 5.3).
    mutating func append(_ name: String, _ value: String) {
        if let known = fields.firstIndex(where: { $0.name == name }) {
            fields[known].value += ", " + value
            repeated.append(name)
        } else {
            fields.append((name, value))
        }
    }
}

/// How the body of a request is handled.
package enum Admission {
    /// The body, if there is one, is read and dropped.
    case answer(Response)
    /// Collected up to `limit` bytes; more is a 413.
    case collect(limit: Int, finish: @Sendable ([UInt8]) -> Response)
    /// Handed on as it comes.
    case stream(any BodyConsumer)
}

/// Takes a body one piece at a time, on a thread that may wait.
package protocol BodyConsumer: AnyObject {
    func consume(_ bytes: [UInt8])
    func finish() -> Response
}

/// An answer to be sent.
package struct Response {
    package enum Body {
        case bytes([UInt8])
        case stream(any ByteSource)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    /// The value of the field `Cache-Control` (RFC 9111, section 5.2), which every answer has.
    package var cacheControl = Response.unkept
    package var body: Body
    /// Whether this repeats an earlier answer to the same request.
    package var isReplay = false

    package init(status: Int, headers: [(name: String, value: String)], body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer that no cache may keep.
    package static let unkept = "no-store"

    package static var noContent: Response { Response(status: 204, headers: [], body: .bytes([])) }
}

/// A body that is made while it is sent, one piece at a time, on a thread that reads the store.
package protocol ByteSource: AnyObject {
    /// The next piece. Waits for nothing but the store.
    ///
    /// - Throws: when the rest cannot be made: the connection is cut, so that the client does not take a part for the whole.
    func next() throws -> BodyPiece
}

package enum BodyPiece: Hashable, Sendable {
    case bytes([UInt8])
    /// There is nothing yet: ask again after so many milliseconds, or when the server stops.
    case later(Int64)
    case end
}
