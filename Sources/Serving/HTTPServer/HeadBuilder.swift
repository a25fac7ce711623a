// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// Reads a request's head line by line (RFC 9112, sections 3 and 5; RFC 9110). Pure.
struct HeadBuilder {
    private let rules: RequestRules
    private var head = RequestHead(method: "", target: "")
    private var fields = 0
    private var hasHost = false
    private var length: Int64?
    private var isChunked = false
    private var (closes, keepsAlive) = (false, false)

    /// Twice the length of the longest method of RFC 9110, in bytes.
    private static let longestMethod = 16

    init(_ rules: RequestRules) {
        self.rules = rules
    }

    // MARK: Request line

    mutating func take(requestLine line: ArraySlice<UInt8>) throws(RequestRefusal) {
        let space = UInt8(ascii: " ")
        guard let first = line.firstIndex(of: space), let last = line.lastIndex(of: space), first < last,
            first > line.startIndex, line[..<first].allSatisfy(Self.isToken)
        else { throw .badRequestLine }
        let (method, target) = (line[..<first], line[(first + 1)..<last])
        // "A server that receives a method longer than any that it implements SHOULD respond with a 501" (section 3).
        if method.count > Self.longestMethod { throw .methodTooLong }
        // "No whitespace is allowed in the request-target" (section 3.2), and no controls are; the handler refuses
        // everything else that is no URI.
        guard target.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .badRequestLine }
        if target.count > rules.target { throw rules.targetTooLong }
        head.isOld = try Self.isOld(line[(last + 1)...])
        head.method = String(decoding: method, as: UTF8.self)
        head.target = try Self.origin(of: target, isOptions: head.method == "OPTIONS")
    }

    private static func isOld(_ version: ArraySlice<UInt8>) throws(RequestRefusal) -> Bool {
        let (start, digits) = (version.prefix(5), version.dropFirst(5))
        guard start.elementsEqual("HTTP/".utf8), digits.count == 3, digits[digits.startIndex + 1] == UInt8(ascii: "."),
            let (major, minor) = digits.first.flatMap({ first in digits.last.map { (first, $0) } }),
            isDigit(major), isDigit(minor)
        else { throw .badRequestLine }
        guard major == UInt8(ascii: "1"), minor <= UInt8(ascii: "1") else { throw .unknownVersion }
        return minor == UInt8(ascii: "0")
    }

    /// Returns path and query. "A server MUST accept the absolute-form in requests" (section 3.2.2); the host is dropped, as
    /// the relay has only one.
    private static func origin(of target: ArraySlice<UInt8>, isOptions: Bool) throws(RequestRefusal) -> String {
        // A target that is not UTF-8 would have to be repaired, and other software might repair it differently.
        guard String(validating: target, as: UTF8.self) != nil else { throw .badTarget }
        if target.first == UInt8(ascii: "/") { return String(decoding: target, as: UTF8.self) }
        if isOptions, target.elementsEqual([UInt8(ascii: "*")]) { return "*" }
        let (http, https) = (target.prefix(7), target.prefix(8))
        let scheme = equal(http, "http://") ? 7 : equal(https, "https://") ? 8 : 0
        let rest = target.dropFirst(scheme)
        let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard scheme > 0, !host.isEmpty, host.allSatisfy(isHost) else { throw .badTarget }
        let path = String(decoding: rest.dropFirst(host.count), as: UTF8.self)
        return path.hasPrefix("/") ? path : "/" + path
    }

    // MARK: Fields

    mutating func take(field line: ArraySlice<UInt8>) throws(RequestRefusal) {
        fields += 1
        if fields > rules.fields { throw .tooManyFields(limit: rules.fields) }
        let (name, value) = try Self.cut(field: line)
        switch name.count {
        case 4 where Self.equal(name, "host"):
            if hasHost { throw .repeatedField("host") }
            // An empty "Host:" is valid where the target has no authority (RFC 9110, section 7.2).
            guard value.allSatisfy(Self.isHost) else { throw .badHost }
            hasHost = true
            if rules.handed.contains("host") { head.headers.append("host", String(decoding: value, as: UTF8.self)) }
        case 6 where Self.equal(name, "expect"):
            // "A server that receives an Expect field value containing a member other than 100-continue MAY respond with
            // a 417" (RFC 9110, section 10.1.1).
            guard value.isEmpty || Self.equal(value, "100-continue") else { throw .unknownExpectation }
            head.expectsContinue = !value.isEmpty
        case 10 where Self.equal(name, "connection"):
            guard let options = ListBound.connectionOptions.whole(value, at: UInt8(ascii: ",")) else {
                throw .tooManyOptions(limit: ListBound.connectionOptions.limit)
            }
            for option in options.map(Self.trimmed) {
                if Self.equal(option, "close") { closes = true }
                if Self.equal(option, "keep-alive") { keepsAlive = true }
            }
        case 14 where Self.equal(name, "content-length"):
            if length != nil { throw .repeatedField("content-length") }
            guard (1...18).contains(value.count), value.allSatisfy(Self.isDigit) else { throw .badContentLength }
            length = value.reduce(0) { $0 * 10 + Int64($1 - 48) }
        case 17 where Self.equal(name, "transfer-encoding"):
            if isChunked { throw .repeatedField("transfer-encoding") }
            guard Self.equal(value, "chunked") else { throw .unknownCoding }
            isChunked = true
        default:
            guard let field = rules.handed.first(where: { Self.equal(name, $0) }) else { return }
            // With two credentials, two readers could disagree on which of them counts.
            if field == "authorization", head.headers[field] != nil { throw .repeatedField(field) }
            head.headers.append(field, String(decoding: value, as: UTF8.self))
        }
    }

    /// Returns the name and value of one line, in the strict form (RFC 9112, section 5).
    static func cut(field line: ArraySlice<UInt8>) throws(RequestRefusal) -> (
        name: ArraySlice<UInt8>, value: ArraySlice<UInt8>
    ) {
        if let first = line.first, isSpace(first) { throw .foldedField }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
            throw line.allSatisfy(isText) ? .badField : .controlCharacter
        }
        let name = line[..<colon]
        guard name.allSatisfy(isToken) else {
            if let last = name.last, isSpace(last) { throw .spaceBeforeColon }
            throw name.allSatisfy(isText) ? .badField : .controlCharacter
        }
        let value = trimmed(line[(colon + 1)...])
        guard value.allSatisfy(isText) else { throw .controlCharacter }
        return (name, value)
    }

    // MARK: The whole head

    func finish() throws(RequestRefusal) -> RequestHead {
        var head = head
        if !hasHost, !head.isOld { throw .missingHost }
        if isChunked, length != nil { throw .lengthAndCoding }
        // "A server or client that receives an HTTP/1.0 message containing a Transfer-Encoding header field MUST treat the
        // message as if the framing is faulty" (section 6.1).
        if isChunked, head.isOld { throw .codingInOldVersion }
        if let length, length > 0 { head.body = .length(length) }
        if isChunked { head.body = .chunked }
        head.keepsAlive = !closes && (!head.isOld || keepsAlive)
        if head.isOld || head.body == .none { head.expectsContinue = false }
        return head
    }

    // MARK: Bytes

    /// RFC 9110, section 5.6.2: "any VCHAR, except delimiters".
    private static let tokens: [Bool] = (0..<256).map { byte in
        byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(UInt8(byte))
    }

    private static func isToken(_ byte: UInt8) -> Bool { tokens[Int(byte)] }

    /// Whether a field's value may hold the byte: no control but the tab (RFC 9110, section 5.5).
    static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Whether a host and its port may hold the byte (RFC 3986, section 3.2): no user, no path, no space, no list.
    private static func isHost(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"#,/<>?@\\^`{|}".utf8.contains(byte)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while let first = text.first, isSpace(first) { text.removeFirst() }
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }

    /// - Parameter other: in lower case.
    private static func equal(_ text: ArraySlice<UInt8>, _ other: String) -> Bool {
        text.count == other.utf8.count
            && zip(text, other.utf8).allSatisfy { $0 == $1 || $0 | 0x20 == $1 && (0x61...0x7A).contains($1) }
    }
}
