// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// The header fields of every page.
enum PageHeaders {
    /// Browsers load only this server's files, run no inline code, show the page in no frame, and send no form elsewhere
    /// (CSP 3; Trusted Types, section 3).
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types upgrade-relay",
    ].joined(separator: "; ")

    /// For a report that is saved as a file for a ticket: its style is inline, and nothing else is loaded.
    static let reportPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

    static func response(
        _ status: Int, _ bytes: [UInt8], policy: String = policy, more: [(name: String, value: String)] = []
    ) -> Response {
        Response(
            status: status,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"),
                ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
                ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
                ("Vary", "Accept-Encoding"),
            ] + more,
            body: .bytes(bytes))
    }

    /// A 303: the browser gets another page by GET (RFC 9110, section 15.4.4).
    static func redirect(to path: PagePath, more: [(name: String, value: String)] = []) -> Response {
        var response = response(303, [], more: more)
        response.headers.append(("Location", path.text))
        return response
    }
}
