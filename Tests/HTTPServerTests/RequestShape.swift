// SPDX-License-Identifier: Apache-2.0
@testable import HTTPServer

/// Bytes that a client may send, and the result that they must have.
struct RequestShape: Sendable, CustomStringConvertible {
    /// The one thing that this shape alone shows.
    let description: String
    let bytes: [UInt8]
    /// The requests that are answered: method, target and body.
    var requests: [String]
    var refusal: RequestRefusal?
    /// Whether the connection ends after the last answer.
    var ends: Bool

    static let rules = RequestRules(target: 8192, head: 16_384, handed: ["authorization", "if-none-match"])

    private static func taken(_ what: String, _ text: String, _ requests: String..., ends: Bool = false) -> Self {
        Self(description: what, bytes: Array(text.utf8), requests: requests, refusal: nil, ends: ends)
    }

    private static func refused(
        _ what: String, _ text: String, _ refusal: RequestRefusal, after requests: String...
    ) -> Self {
        Self(description: what, bytes: Array(text.utf8), requests: requests, refusal: refusal, ends: true)
    }

    /// A head with these lines behind `Host`, and the bytes that follow it.
    private static func get(_ lines: String = "", _ rest: String = "") -> String {
        "GET / HTTP/1.1\r\nHost: relay\r\n\(lines)\r\n\(rest)"
    }

    private static func post(_ lines: String, _ rest: String) -> String {
        "POST /a HTTP/1.1\r\nHost: relay\r\n\(lines)\r\n\(rest)"
    }

    private static func chunked(_ rest: String) -> String { post("Transfer-Encoding: chunked\r\n", rest) }

    private static func long(_ count: Int, _ text: String = "x") -> String { String(repeating: text, count: count) }

    /// The second request of the shapes that try to smuggle one: it must never be answered.
    private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: relay\r\n\r\n"

    static let all = lines + targets + fields + hosts + lengths + codings + chunks + connections + sizes

    // MARK: The request line (RFC 9112, sections 2.2 and 3)

    private static let lines: [Self] = [
        taken("the least of a request", get(), "GET / "),
        taken("any token is a method", "M-SEARCH /x HTTP/1.1\r\nHost: a\r\n\r\n", "M-SEARCH /x "),
        taken("methods are case-sensitive: this is another", "get / HTTP/1.1\r\nHost: a\r\n\r\n", "get / "),
        taken("one empty line before a request is skipped", "\r\n" + get(), "GET / "),
        taken("nothing at all", ""),
        taken("half a request line", "GET / HT"),
        taken("a head without its end", "GET / HTTP/1.1\r\nHost: relay\r\n"),
        refused("two empty lines before a request", "\r\n\r\n" + get(), .badRequestLine),
        refused("a line that ends with LF alone", "GET / HTTP/1.1\nHost: relay\r\n\r\n", .bareLineFeed),
        refused("LF alone before a request", "\n" + get(), .bareLineFeed),
        refused("two spaces before the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("two spaces behind the target", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a tab for a space", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a tab before the target", "GET \t/ HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a space before the method", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a space at the end of the line", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a target with a space in it", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        Self(
            description: "a target that is no UTF-8",
            bytes: Array("GET /".utf8) + [0xFF] + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8), requests: [],
            refusal: .badTarget, ends: true),
        refused("no version: HTTP/0.9", "GET /\r\n\r\n", .badRequestLine),
        refused("no target", "GET HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("no method", "/ HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a method that is no token", "GE(T / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a method with a NUL", "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a method that nobody has", "\(long(17, "A")) / HTTP/1.1\r\nHost: a\r\n\r\n", .methodTooLong),
        refused("HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .unknownVersion),
        refused("HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", .unknownVersion),
        refused("HTTP/0.9 by name", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", .unknownVersion),
        refused("HTTP/3.0", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", .unknownVersion),
        refused("a version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a version of two digits", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a version without its second digit", "GET / HTTP/1.\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a version with a comma", "GET / HTTP/1,1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("another protocol", "GET / SPDY/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("TLS where none is spoken", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\r\n", .badRequestLine),
        refused("an answer for a request", "HTTP/1.1 200 OK\r\n\r\n", .badRequestLine),
    ]

    // MARK: Targets (section 3.2)

    private static let targets: [Self] = [
        taken("a path and a query", "GET /a/b?c=d&e HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a/b?c=d&e "),
        taken("the absolute form", "GET http://relay/a?b=c HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a?b=c "),
        taken("its scheme in capitals, and a port", "GET HTTP://relay:8480/a HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a "),
        taken("https, as a proxy that ends TLS sends it", "GET https://relay/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET / "),
        taken("the absolute form without a path", "GET http://relay HTTP/1.1\r\nHost: a\r\n\r\n", "GET / "),
        taken("the same with a query", "GET http://relay?a=b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?a=b "),
        taken("an address of IPv6", "GET http://[::1]:8480/ HTTP/1.1\r\nHost: [::1]:8480\r\n\r\n", "GET / "),
        taken("the asterisk form", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * "),
        taken("a path of two slashes", "GET //a HTTP/1.1\r\nHost: a\r\n\r\n", "GET //a "),
        taken("a target of 8192 bytes", "GET /\(long(8191)) HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\(long(8191)) "),
        refused(
            "a target of 8193 bytes", "GET /\(long(8192)) HTTP/1.1\r\nHost: a\r\n\r\n", .targetTooLong(limit: 8192)),
        refused("a target without an end", "GET /\(long(9000))", .targetTooLong(limit: 8192)),
        refused("an asterisk that is asked for", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        refused("the authority form", "CONNECT relay:80 HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        refused("a path that is not absolute", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        refused("another scheme", "GET ftp://relay/ HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        refused("the absolute form without a host", "GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        refused("the absolute form with a user", "GET http://me@relay/ HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        refused("a control in the target", "GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("a NUL in the target", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("DEL in the target", "GET /\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        refused("CR in the target", "GET /\rX HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
    ]

    // MARK: Fields (section 5)

    private static let fields: [Self] = [
        taken("a field without a value", get("X:\r\n"), "GET / "),
        taken("no space behind the colon", get("X:y\r\n"), "GET / "),
        taken("white space around a value", get("X: \t y \t \r\n"), "GET / "),
        taken("a tab in a value", get("X: a\tb\r\n"), "GET / "),
        taken("UTF-8 in a value", get("X: Zürich\r\n"), "GET / "),
        taken("every kind of a token's characters", get("!#$%&'*+-.^_`|~09aZ: x\r\n"), "GET / "),
        taken("a field that nobody knows, twice", get("X: 1\r\nX: 2\r\n"), "GET / "),
        taken("a list in two fields", get("If-None-Match: \"a\"\r\nIf-None-Match: \"b\"\r\n"), "GET / "),
        taken("one Authorization", get("Authorization: Bearer x\r\n"), "GET / "),
        taken("350 cookies", get(long(350, "Cookie: a=b\r\n")), "GET / "),
        taken("350 cookies in one field", get("Cookie: \(long(350, "a=b; "))\r\n"), "GET / "),
        taken(
            "350 parameters", "GET /?\(long(350, "a=b&")) HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?\(long(350, "a=b&")) "),
        refused("a space before the colon", get("X : y\r\n"), .spaceBeforeColon),
        refused("a tab before the colon", get("X\t: y\r\n"), .spaceBeforeColon),
        refused(
            "a length whose colon stands apart", post("Content-Length : 44\r\n", smuggled), .spaceBeforeColon),
        refused("a space in a name", get("X Y: z\r\n"), .badField),
        refused("a line without a colon", get("nothing\r\n"), .badField),
        refused("a field without a name", get(": x\r\n"), .badField),
        refused("a name that is no token", get("X(y): z\r\n"), .badField),
        refused("a name of UTF-8", get("Zürich: x\r\n"), .badField),
        refused("a folded field", get("X: a\r\n b\r\n"), .foldedField),
        refused("a folded field, by a tab", get("X: a\r\n\tb\r\n"), .foldedField),
        refused("white space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", .foldedField),
        refused("a NUL in a value", get("X: a\0b\r\n"), .controlCharacter),
        refused("a NUL in a name", get("X\0: b\r\n"), .controlCharacter),
        refused("a control in a value", get("X: a\u{8}b\r\n"), .controlCharacter),
        refused("DEL in a value", get("X: a\u{7F}b\r\n"), .controlCharacter),
        refused("CR in a value", get("X: a\rb\r\n"), .controlCharacter),
        refused("two CR before LF", get("X: a\r\r\n"), .controlCharacter),
        refused("LF alone behind a field", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", .bareLineFeed),
        refused("LF alone behind the head", "GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLineFeed),
        refused("two Authorization", get("Authorization: Bearer x\r\nAuthorization: Bearer y\r\n"), .authorizations),
        refused("twice the same", get("authorization: Bearer x\r\nAUTHORIZATION: Bearer x\r\n"), .authorizations),
        taken("Expect without a value", post("Expect:\r\nContent-Length: 1\r\n", "b"), "POST /a b"),
        refused("another expectation", post("Expect: a pony\r\nContent-Length: 1\r\n", "b"), .unknownExpectation),
    ]

    // MARK: Host (section 3.2)

    private static let hosts: [Self] = [
        taken("a host with a port", "GET / HTTP/1.1\r\nHost: relay.example:8480\r\n\r\n", "GET / "),
        taken("an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / "),
        taken("HTTP/1.0 without one", "GET / HTTP/1.0\r\n\r\n", "GET / ", ends: true),
        refused("no host", "GET / HTTP/1.1\r\n\r\n", .missingHost),
        refused("no host in the absolute form", "GET http://relay/ HTTP/1.1\r\n\r\n", .missingHost),
        refused("two hosts", get("Host: relay\r\n"), .repeatedField("host")),
        refused("two hosts, the second empty", get("HOST:\r\n"), .repeatedField("host")),
        refused("a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .badHost),
        refused("a host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", .badHost),
        refused("a list of hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .badHost),
        refused("a host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .badHost),
    ]

    // MARK: Content-Length (section 6.2)

    private static let lengths: [Self] = [
        taken("a body", post("Content-Length: 3\r\n", "abc"), "POST /a abc"),
        taken("a body of a GET", get("Content-Length: 3\r\n", "abc"), "GET / abc"),
        taken("an empty body", post("Content-Length: 0\r\n", ""), "POST /a "),
        taken("zeros before the number", post("Content-Length: 003\r\n", "abc"), "POST /a abc"),
        taken("a POST without a body", post("", ""), "POST /a "),
        taken("half a body", post("Content-Length: 3\r\n", "ab")),
        taken(
            "a body with lines of a head in it", post("Content-Length: \(smuggled.utf8.count)\r\n", smuggled),
            "POST /a \(smuggled)"),
        taken(
            "a body and the next request", post("Content-Length: 1\r\n", "b") + get(), "POST /a b", "GET / "),
        refused(
            "a length and a coding",
            post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + smuggled), .lengthAndCoding),
        refused(
            "a coding and a length",
            post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + smuggled), .lengthAndCoding),
        refused("two lengths", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd" + smuggled), .lengths),
        refused("the same length twice", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), .lengths),
        refused("a list of lengths", post("Content-Length: 3, 3\r\n", "abc"), .badContentLength),
        refused("a length with a sign", post("Content-Length: +3\r\n", "abc"), .badContentLength),
        refused("a negative length", post("Content-Length: -1\r\n", "abc"), .badContentLength),
        refused("a length in base 16", post("Content-Length: 0x3\r\n", "abc"), .badContentLength),
        refused("a length with a fraction", post("Content-Length: 3.0\r\n", "abc"), .badContentLength),
        refused("a length with a space in it", post("Content-Length: 1 1\r\n", "abc"), .badContentLength),
        refused("a length without digits", post("Content-Length:\r\n", "abc"), .badContentLength),
        refused("a length beyond 64 bits", post("Content-Length: 99999999999999999999\r\n", "a"), .badContentLength),
        refused("a length in other digits", post("Content-Length: ٣\r\n", "abc"), .badContentLength),
    ]

    // MARK: Transfer-Encoding (section 6.1)

    private static let codings: [Self] = [
        taken("chunks", chunked("3\r\nabc\r\n0\r\n\r\n"), "POST /a abc"),
        taken("its name in capitals", post("TRANSFER-ENCODING: Chunked\r\n", "1\r\na\r\n0\r\n\r\n"), "POST /a a"),
        refused("another coding", post("Transfer-Encoding: gzip\r\n", "x"), .unknownCoding),
        refused("a coding before chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), .unknownCoding),
        refused("a coding behind chunked", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), .unknownCoding),
        refused("identity, which is no coding any more", post("Transfer-Encoding: identity\r\n", "x"), .unknownCoding),
        refused("chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), .unknownCoding),
        refused(
            "chunked in two fields", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            .repeatedField("transfer-encoding")),
        refused(
            "chunked and then another", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "0\r\n\r\n"),
            .repeatedField("transfer-encoding")),
        refused("almost chunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n" + smuggled), .unknownCoding),
        refused("chunked in quotation marks", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), .unknownCoding),
        refused(
            "chunked behind a vertical tab", post("Transfer-Encoding: \u{B}chunked\r\n", "0\r\n\r\n"), .controlCharacter
        ),
        refused("no coding", post("Transfer-Encoding:\r\n", "0\r\n\r\n"), .unknownCoding),
        refused(
            "a coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .codingInOldVersion),
    ]

    // MARK: Chunks (section 7.1)

    private static let chunks: [Self] = [
        taken("no chunk but the last", chunked("0\r\n\r\n"), "POST /a "),
        taken("two chunks", chunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "POST /a abcde"),
        taken(
            "sizes in either case", chunked("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"),
            "POST /a 01234567890123456789"),
        taken("zeros before a size", chunked("0003\r\nabc\r\n000\r\n\r\n"), "POST /a abc"),
        taken("extensions", chunked("1;a=b;c=\"d\"\r\nx\r\n0;last\r\n\r\n"), "POST /a x"),
        taken("white space before an extension", chunked("1 ; a\r\nx\r\n0\r\n\r\n"), "POST /a x"),
        taken("trailers are dropped", chunked("0\r\nX: y\r\nHost: other\r\n\r\n") + get(), "POST /a ", "GET / "),
        taken("a chunk with line ends in it", chunked("4\r\n\r\n\r\n\r\n0\r\n\r\n"), "POST /a \r\n\r\n"),
        taken("a body without its last chunk", chunked("1\r\nx\r\n")),
        refused("a size that is no number", chunked("x\r\nabc\r\n"), .badChunk),
        refused("a size with a sign", chunked("+3\r\nabc\r\n0\r\n\r\n"), .badChunk),
        refused("a size with its base", chunked("0x3\r\nabc\r\n0\r\n\r\n"), .badChunk),
        refused("no size", chunked("\r\nabc\r\n0\r\n\r\n"), .badChunk),
        refused("a space behind a size", chunked("3 \r\nabc\r\n0\r\n\r\n"), .badChunk),
        refused("a space before a size", chunked(" 3\r\nabc\r\n0\r\n\r\n"), .badChunk),
        refused("a size beyond 64 bits", chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), .badChunk),
        refused("a chunk that is longer than it says", chunked("2\r\nabc\r\n0\r\n\r\n" + smuggled), .badChunk),
        refused("a chunk that is shorter than it says", chunked("5\r\nabc\r\n0\r\n\r\n"), .badChunk),
        refused("LF alone behind a size", chunked("3\nabc\r\n0\r\n\r\n"), .bareLineFeed),
        refused("LF alone behind a chunk", chunked("3\r\nabc\n0\r\n\r\n"), .bareLineFeed),
        refused("CR alone behind a size", chunked("3\rabc\r\n0\r\n\r\n"), .badChunk),
        refused("a control in an extension", chunked("3;a\u{1}\r\nabc\r\n0\r\n\r\n"), .controlCharacter),
        refused("an extension without an end", chunked("3;\(long(2000))"), .chunkExtensionsTooLong),
        refused(
            "extensions that are longer than bodies", chunked(long(100, "1;\(long(900))\r\nx\r\n")),
            .chunkExtensionsTooLong),
        refused("a trailer without a colon", chunked("0\r\nnothing\r\n\r\n"), .badField),
        refused("a folded trailer", chunked("0\r\n X: y\r\n\r\n"), .foldedField),
        refused("trailers without an end", chunked("0\r\n" + long(20, "X: \(long(1000))\r\n")), .trailersTooLarge),
    ]

    // MARK: Connections (section 9)

    private static let connections: [Self] = [
        taken("three in a row", get() + get() + get(), "GET / ", "GET / ", "GET / "),
        taken("close", get("Connection: close\r\n") + smuggled, "GET / ", ends: true),
        taken("close, among others and in capitals", get("Connection: TE , CLOSE\r\n"), "GET / ", ends: true),
        taken("close, in the second field", get("Connection: x\r\nConnection: close\r\n"), "GET / ", ends: true),
        taken("close wins over keep-alive", get("Connection: keep-alive, close\r\n"), "GET / ", ends: true),
        taken("an upgrade that nobody offers", get("Connection: Upgrade\r\nUpgrade: h2c\r\n"), "GET / "),
        taken("HTTP/1.0 ends", "GET / HTTP/1.0\r\n\r\n" + smuggled, "GET / ", ends: true),
        taken("HTTP/1.0 that goes on", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" + get(), "GET / ", "GET / "),
        taken("a word before the body", post("Expect: 100-continue\r\nContent-Length: 1\r\n", "b"), "POST /a b"),
        taken(
            "an old one asks for no word", "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nb",
            "POST / b", ends: true),
        taken("HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD / "),
        refused("a good request, then a bad one", get() + "GET / HTTP/1.1\r\n\r\n", .missingHost, after: "GET / "),
        taken(
            "what is left of a body is a request", post("Content-Length: 1\r\n", "bc" + get()), "POST /a b", "cGET / "),
    ]

    // MARK: Sizes

    private static let sizes: [Self] = [
        taken("a head of 16,384 bytes", get("X: \(long(16_384 - 36))\r\n"), "GET / "),
        refused("a head of 16,385 bytes", get("X: \(long(16_385 - 36))\r\n"), .headTooLarge(limit: 16_384)),
        refused("a field without an end", "GET / HTTP/1.1\r\nX: \(long(60_000))", .headTooLarge(limit: 16_384)),
        refused("fields without an end", "GET / HTTP/1.1\r\n" + long(3000, "X: yyyy\r\n"), .tooManyFields(limit: 512)),
        taken("511 fields behind the host", get(long(511, "X:\r\n")), "GET / "),
        refused("512 fields behind the host", get(long(512, "X:\r\n")), .tooManyFields(limit: 512)),
        taken("a body of 100,000 bytes", post("Content-Length: 100000\r\n", long(100_000)), "POST /a \(long(100_000))"),
    ]
}

extension RequestRefusal {
    fileprivate static let authorizations = repeatedField("authorization")
    fileprivate static let lengths = repeatedField("content-length")
}
