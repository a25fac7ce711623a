// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An answer's status line and fields (RFC 9112, section 4), as bytes. Pure.
enum ResponseHead {
    /// How the client finds the answer's end (RFC 9112, section 6.3).
    enum Framing: Hashable {
        /// By its status: 1xx, 204 and 304 have no content. A 304 gives no length of the content that it stands for.
        case none
        case length(Int)
        case chunked
        /// By the end of the connection.
        case close
    }

    /// - Parameters:
    ///   - date: the field `Date` with its end of line.
    ///   - connection: the value of the field `Connection`; nil: none.
    static func append(
        _ response: Response, _ framing: Framing, date: [UInt8], connection: String?, to bytes: inout [UInt8]
    ) {
        bytes += "HTTP/1.1 ".utf8
        bytes += String(response.status).utf8
        bytes += " ".utf8
        bytes += Response.reason(response.status).utf8
        bytes += "\r\n".utf8
        bytes += date
        for (name, value) in response.headers {
            // A line break in a value would end the field, so such a field is left out: this prevents header injection.
            guard value.utf8.allSatisfy(HeadBuilder.isText) else { continue }
            append(name, value, to: &bytes)
        }
        append("Cache-Control", response.cacheControl, to: &bytes)
        switch framing {
        case .none, .close: break
        case .length(let count): append("Content-Length", String(count), to: &bytes)
        case .chunked: append("Transfer-Encoding", "chunked", to: &bytes)
        }
        if let connection { append("Connection", connection, to: &bytes) }
        bytes += "\r\n".utf8
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes += name.utf8
        bytes += ": ".utf8
        bytes += value.utf8
        bytes += "\r\n".utf8
    }

    /// The field `Date` (RFC 9110, sections 5.6.7 and 6.6.1), with its end of line.
    static func date(_ seconds: time_t) -> [UInt8] {
        var (moment, parts) = (seconds, unsafe tm())
        unsafe gmtime_r(&moment, &parts)
        var text = [CChar](repeating: 0, count: 64)
        // The names are English: nothing here calls setlocale(3).
        let count = unsafe strftime(&text, text.count, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts)
        return text.prefix(count).map { UInt8(bitPattern: $0) }
    }
}

extension Response {
    /// The reason phrase of each status that the relay sends (RFC 9110, section 15; RFC 6585).
    package static func reason(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 303: "See Other"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}
