// SPDX-License-Identifier: Apache-2.0
import RelayStore
import WireFormat

/// By which door a request came in.
enum Door: Hashable, Sendable {
    case network
    /// The control socket: file permissions have already said who may.
    case control

    /// As a log line shows it: what the configuration calls it.
    var name: String { self == .control ? "controlSocket" : "network" }
}

/// A request before its body.
struct RequestHead: Sendable {
    var door: Door
    var method: String
    /// Path and query as they came over the wire, still encoded.
    var target: String
    /// By name in lower case; only those that the API reads.
    var headers: [String: String]
    /// Where it comes from.
    var peer = PeerAddress.none
    /// Bytes of the whole head.
    var size = 0
    /// nil when it is chunked or has none.
    var contentLength: Int64? { headers["content-length"].flatMap { Int64($0) } }
}

/// What becomes of a request's body.
enum Admission {
    /// The body, if there is one, is read and dropped.
    case answer(Response)
    /// Collected up to `limit` bytes; more is a 413.
    case collect(limit: Int, finish: @Sendable ([UInt8]) -> Response)
    /// Handed on as it comes.
    case stream(any BodyConsumer)
}

/// Takes a body piece by piece, on a thread that may wait; one piece at a time.
protocol BodyConsumer: AnyObject {
    func consume(_ bytes: [UInt8])
    func finish() -> Response
}

/// An answer on its way out.
struct Response {
    enum Body {
        case bytes([UInt8])
        /// The same for many.
        case shared(SharedBytes)
        case stream(any ByteSource)
        /// Made before, with its status and headers.
        case ready(ReadyResponse)
    }

    var status: Int
    var headers: [(name: String, value: String)]
    var body: Body
    /// It was answered before, and is answered again as it was then.
    var isReplay = false

    static func replay(_ answer: StoredAnswer) -> Response {
        var response = Response.json(answer.status, answer.body)
        response.isReplay = true
        return response
    }

    static func json(_ status: Int, _ bytes: [UInt8]) -> Response {
        Response(status: status, headers: [("Content-Type", "application/json")], body: .bytes(bytes))
    }

    static func json(_ status: Int = 200, _ content: (inout JSONWriter) -> Void) -> Response {
        var writer = JSONWriter()
        content(&writer)
        return .json(status, writer.bytes)
    }

    static var noContent: Response { Response(status: 204, headers: [], body: .bytes([])) }
}

/// A body that is made as it is sent, on a thread that may wait; one piece at a time.
protocol ByteSource: AnyObject {
    /// Whether a piece may take so long that it needs a thread of its own.
    var mayWaitLong: Bool { get }

    /// The next piece, never empty; nil at the end. May wait, but returns soon after the server is stopping.
    ///
    /// - Throws: when the rest cannot be made: the connection is cut, so that the client does not take a part for the whole.
    func next() throws -> [UInt8]?
}

extension ByteSource {
    var mayWaitLong: Bool { false }
}

/// Tells somebody why a source failed: who reads it only sees the connection cut.
final class WatchedSource: ByteSource {
    private let source: any ByteSource
    private let failed: (any Error) -> Void

    init(_ source: any ByteSource, failed: @escaping (any Error) -> Void) {
        self.source = source
        self.failed = failed
    }

    var mayWaitLong: Bool { source.mayWaitLong }

    func next() throws -> [UInt8]? {
        do {
            return try source.next()
        } catch {
            failed(error)
            throw error
        }
    }
}
