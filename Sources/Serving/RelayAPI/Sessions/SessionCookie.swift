// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import WireFormat

/// The cookie of a session (RFC 6265bis), and the origin of a request that came with it.
package enum SessionCookie {
    private static let name = "upgrade_relay_session"
    /// The prefix makes a browser refuse it from any other host or without TLS (RFC 6265bis, section 4.1.3.2).
    private static let secureName = "__Host-upgrade_relay_session"

    /// - Parameter isSecure: whether the browser used TLS. Then the name without the prefix does not count: a neighbouring
    ///   host, or one without TLS, could have set it.
    package static func secret(in head: RequestHead, isSecure: Bool) -> SessionSecret? {
        let value = value(of: secureName, in: head) ?? (isSecure ? nil : value(of: name, in: head))
        return value.map(SessionSecret.init(text:))
    }

    package static func value(of name: String, in head: RequestHead) -> String? {
        for pair in ListBound.cookies.members(of: head.headers["cookie"] ?? "", at: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == name { return String(parts[1]) }
        }
        return nil
    }

    /// - Parameters:
    ///   - secret: nil deletes the cookie.
    ///   - isOfProxy: whether it is for a person whom a proxy signed in. Such a person comes back from the page of the sign-in, and
    ///     by links of other sites, with the header that signs in: a `Strict` cookie would be missing there, and each such look
    ///     would begin another session and make the forms of all open pages stale. `Lax` is sent with looks alone (RFC 6265bis,
    ///     section 5.6.7.1).
    static func header(
        _ secret: SessionSecret?, isSecure: Bool, isOfProxy: Bool = false
    ) -> (name: String, value: String) {
        let life = secret == nil ? 0 : Sessions.life.components.seconds
        return (
            "Set-Cookie",
            "\(isSecure ? secureName : name)=\(secret?.text ?? ""); Path=/; Max-Age=\(life); HttpOnly; SameSite=\(isOfProxy ? "Lax" : "Strict")"
                + (isSecure ? "; Secure" : "")
        )
    }

    /// Whether a browser reports that a page of this server made the request (W3C Fetch Metadata, section 2.2); a browser without
    /// such a report names the page's origin at least.
    package static func isSameOrigin(_ head: RequestHead) -> Bool {
        if let site = head.headers["sec-fetch-site"] { return site == "same-origin" }
        guard let origin = head.headers["origin"], let host = head.headers["host"] else { return false }
        return origin == "http://\(host)" || origin == "https://\(host)"
    }
}
