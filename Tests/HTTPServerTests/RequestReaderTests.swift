// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPServer

@Suite("Requests out of bytes")
struct RequestReaderTests {
    /// The requests and the refusal that bytes give when they arrive in pieces of `piece`.
    static func read(_ bytes: [UInt8], piece: Int) -> (requests: [String], refusal: RequestRefusal?, ends: Bool) {
        var reader = RequestReader(RequestShape.rules)
        var (requests, body): ([String], [UInt8]) = ([], [])
        var head: RequestHead?
        var (rest, given) = (0..<0, 0)
        while true {
            switch reader.next(bytes, &rest) {
            case .more:
                if given == bytes.count { return (requests, nil, false) }
                given = min(given + piece, bytes.count)
                rest = rest.lowerBound..<given
            case .head(let new): (head, body) = (new, [])
            case .body(let range): body.append(contentsOf: bytes[range])
            case .end:
                guard let whole = head else { continue }
                requests.append("\(whole.method) \(whole.target) \(String(decoding: body, as: UTF8.self))")
                head = nil
                if !whole.keepsAlive { return (requests, nil, true) }
            case .refused(let refusal):
                return (requests, refusal, true)
            }
        }
    }

    @Test("at least 130 shapes: what is answered, what is refused, and whether the connection ends")
    func shapes() {
        #expect(RequestShape.all.count >= 130)
        #expect(Set(RequestShape.all.map(\.description)).count == RequestShape.all.count)
        for shape in RequestShape.all {
            for piece in [Int.max >> 1, 1, 7] where piece > 100 || shape.bytes.count < 20_000 {
                let (requests, refusal, ends) = Self.read(shape.bytes, piece: piece)
                #expect(requests == shape.requests, "\(shape), in pieces of \(piece)")
                #expect(refusal == shape.refusal, "\(shape), in pieces of \(piece)")
                #expect(ends == shape.ends, "\(shape), in pieces of \(piece)")
            }
        }
    }

    @Test("the fields that a handler reads come by their names, several of one as a list, and no others")
    func fields() throws {
        var reader = RequestReader(RequestShape.rules)
        let text = "GET / HTTP/1.1\r\nHost: a\r\nIF-NONE-MATCH:\t\"a\" \r\nX: y\r\nIf-None-Match: \"b\"\r\n\r\n"
        var rest = 0..<text.utf8.count
        guard case .head(let head) = reader.next(Array(text.utf8), &rest) else {
            Issue.record("no head")
            return
        }
        #expect(head.headers.byName == ["if-none-match": "\"a\", \"b\""])
        #expect(head.headers["host"] == nil && head.headers["authorization"] == nil)
    }

    @Test("every refusal has its status and its words")
    func refusals() {
        for shape in RequestShape.all {
            guard let refusal = shape.refusal else { continue }
            #expect((400...505).contains(refusal.status) && !Response.reason(refusal.status).isEmpty)
            #expect(!refusal.detail.isEmpty)
        }
        let statuses: [(RequestRefusal, Int)] = [
            (.badRequestLine, 400), (.repeatedField("host"), 400), (.lengthAndCoding, 400), (.unknownCoding, 501),
            (.targetTooLong(limit: 1), 414), (.headTooLarge(limit: 1), 431), (.tooManyFields(limit: 1), 431),
            (.timedOut, 408), (.bodyTooLarge(limit: 1), 413), (.unknownExpectation, 417), (.unknownVersion, 505),
            (.busy, 503),
        ]
        for (refusal, status) in statuses { #expect(refusal.status == status) }
    }

    @Test("an answer's head: a length where there is content, none for 204 and 304, and no line break out of a value")
    func responseHead() {
        func text(_ status: Int, _ framing: ResponseHead.Framing, _ connection: String? = nil) -> String {
            var bytes: [UInt8] = []
            let headers = [(name: "X-A", value: "b"), (name: "X-C", value: "d\r\nX-Evil: e")]
            ResponseHead.append(
                Response(status: status, headers: headers, body: .bytes([])), framing,
                date: ResponseHead.date(784_111_777), connection: connection, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        let start = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-A: b\r\nCache-Control: no-store\r\n"
        #expect(text(200, .length(3)) == "HTTP/1.1 200 OK\r\n\(start)Content-Length: 3\r\n\r\n")
        #expect(text(304, .none) == "HTTP/1.1 304 Not Modified\r\n\(start)\r\n")
        #expect(
            text(200, .chunked, "close")
                == "HTTP/1.1 200 OK\r\n\(start)Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
    }
}
