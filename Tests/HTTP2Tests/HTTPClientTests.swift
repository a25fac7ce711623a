// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Glibc
import OwnThread
import TestPeers
import Testing

@Suite(.timeLimit(.minutes(60)), .ownThread)
struct HTTPClientTests {
    private func url(_ server: PlainServer, _ path: String = "/x") -> String {
        "http://127.0.0.1:\(server.port)\(path)"
    }

    @Test func sendsBytesAndReadsTheAnswer() throws {
        let server = try PlainServer { _ in
            "HTTP/1.1 201 Created\r\nX-Name:  a value \r\nContent-Length: 5\r\n\r\nhello"
        }
        defer { server.stop() }
        var request = HTTPRequest("POST", url(server))
        request.headers = [("content-type", "application/json"), ("x-empty", "")]
        request.body = Array("{}".utf8)
        let response = try HTTPClient().send(request)
        #expect(response.status == 201)
        #expect(response["x-name"] == "a value" && response["X-NAME"] == "a value" && response["absent"] == nil)
        #expect(response.body == Array("hello".utf8))
        let seen = try #require(server.state.now.requests.first)
        #expect(seen.hasPrefix("POST /x HTTP/1.1\r\n") && seen.hasSuffix("\r\n\r\n{}"))
        #expect(seen.contains("content-type: application/json\r\n") && seen.contains("x-empty:\r\n"))
        #expect(!seen.contains("form-urlencoded") && !seen.lowercased().contains("expect:"))
    }

    @Test func aBadStatusIsAnAnswer() throws {
        let server = try PlainServer { _ in "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno" }
        defer { server.stop() }
        let response = try HTTPClient().send(HTTPRequest("GET", url(server)))
        #expect(response.status == 404 && response.body == Array("no".utf8))
    }

    @Test func handsOverPiecesAsTheyCome() throws {
        let server = try PlainServer { _ in
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{\"a\":1\r\n9\r\n}\r\nsecond\r\n5\r\n\nlast\r\n0\r\n\r\n"
        }
        defer { server.stop() }
        var text = ""
        let response = try HTTPClient().pieces(HTTPRequest("GET", url(server))) {
            text += String(decoding: $0, as: UTF8.self)
            return true
        }
        #expect(response.status == 200 && response.body.isEmpty)
        #expect(text == "{\"a\":1}\r\nsecond\nlast")
    }

    @Test func theReaderOfPiecesMayHaveEnough() throws {
        let server = try PlainServer { _ in "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\none\ntwo\n" }
        defer { server.stop() }
        var count = 0
        let response = try HTTPClient().pieces(HTTPRequest("GET", url(server))) { _ in
            count += 1
            return false
        }
        #expect(response.status == 200 && count == 1)
    }

    @Test func aRefusalOfPiecesComesAsABody() throws {
        let server = try PlainServer { _ in "HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nno\n\n" }
        defer { server.stop() }
        let response = try HTTPClient().pieces(HTTPRequest("GET", url(server))) { _ in
            Issue.record("a refusal is no piece")
            return true
        }
        #expect(response.status == 403 && response.body == Array("no\n\n".utf8))
    }

    @Test func speaksOverALocalSocket() throws {
        let path = "/tmp/relay-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        defer { unlink(path) }
        let server = try PlainServer(path: path) { _ in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
        defer { server.stop() }
        #expect(try HTTPClient(unixSocket: path).send(HTTPRequest("GET", "http://relay/v1/status")).status == 200)
        #expect(server.state.now.requests.first?.contains("Host: relay\r\n") == true)
    }

    private func code(_ body: () throws -> Void) -> TransportError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? TransportError)?.code
        }
    }

    @Test func saysWhatFailed() throws {
        let server = try PlainServer {
            $0.hasPrefix("GET /slow") ? "" : "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123456"
        }
        let client = HTTPClient()
        #expect(code { _ = try client.send(HTTPRequest("GET", url(server))) } == .broken)
        var slow = HTTPRequest("GET", url(server, "/slow"))
        slow.timeout = .milliseconds(200)
        #expect(code { _ = try client.send(slow) } == .timedOut)
        var small = HTTPRequest("GET", url(server))
        small.maximumResponse = 3
        #expect(code { _ = try client.send(small) } == .tooLarge)
        var smuggled = HTTPRequest("GET", url(server))
        smuggled.headers = [("x", "a\r\ny: b")]
        #expect(code { _ = try client.send(smuggled) } == .badRequest)
        #expect(code { _ = try client.send(HTTPRequest("GET", "file:///etc/passwd")) } == .badRequest)
        server.stop()
        let nobody = try Loopback.ReservedPort()
        #expect(
            code { _ = try client.send(HTTPRequest("GET", "http://127.0.0.1:\(nobody.port)/")) } == .cannotConnect)
        #expect(
            code { _ = try HTTPClient(unixSocket: "/nonexistent").send(HTTPRequest("GET", "http://r/")) }
                == .cannotConnect)
        #expect(code { _ = try client.send(HTTPRequest("GET", "http://nowhere.invalid/")) } == .cannotConnect)
    }

    @Test func aTransportErrorHidesTheQuery() throws {
        do {
            _ = try HTTPClient(unixSocket: "/nonexistent").send(HTTPRequest("GET", "http://r/path?secret=1"))
            Issue.record("connected to nothing")
        } catch let error as TransportError {
            #expect(error.context == "GET http://r/path" && !"\(error)".contains("secret"))
        }
    }

    @Test func whoSendsMayGiveUp() throws {
        // Set once the request is there.
        let isThere = Watched(false)
        let isOver = Watched(false)
        let server = try PlainServer { _ in
            isThere.change { $0 = true }
            _ = isOver.wait { $0 }
            return ""
        }
        #expect(throws: TransportError.self) {
            try HTTPClient().send(HTTPRequest("GET", url(server)), isCancelled: { isThere.now })
        }
        isOver.change { $0 = true }
        server.stop()
    }
}
