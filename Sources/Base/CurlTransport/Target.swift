// SPDX-License-Identifier: Apache-2.0
import CCurl

/// The server of an address, as libcurl itself parses the address: so the server that is
/// checked is the one that is dialled.
struct Target: Sendable, Hashable, CustomStringConvertible {
    /// Without brackets.
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        (self.host, self.port) = (host, port)
    }

    /// nil where libcurl cannot read it, or knows no port for its scheme.
    init?(url: String) {
        guard let handle = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(handle) }
        func part(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard unsafe curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text = unsafe text else {
                return nil
            }
            defer { unsafe curl_free(text) }
            return unsafe String(cString: text)
        }
        guard unsafe curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK, let host = part(CURLUPART_HOST),
            let port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT).flatMap({ UInt16($0) })
        else { return nil }
        self.init(host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host, port: port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
