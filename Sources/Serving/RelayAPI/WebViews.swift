// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import WireFormat

/// The origins whose scripts may read the answers of routes that are `Route.isForWebViews`: an app's web view, or a site (WHATWG
/// Fetch, "HTTP CORS protocol"). Never with credentials: these routes need none that a browser sends by itself.
package enum WebOrigins: Sendable, Hashable {
    case everybody
    /// As a browser writes them: scheme, host, and a port that is not the scheme's own.
    case these(Set<String>)

    package static let none = WebOrigins.these([])

    /// The fault in the text of one origin; nil: none.
    package static func fault(in text: String) -> String? {
        let needed =
            "an origin as a browser sends it is needed, such as \"https://app.example.com\" or \"capacitor://localhost\""
        guard let colon = text.firstRange(of: "://") else { return "\(needed), or \"*\" alone for all" }
        let scheme = text[..<colon.lowerBound]
        let host = text[colon.upperBound...]
        guard text.utf8.count <= 255, scheme.utf8.first.map({ (0x61...0x7A).contains($0) }) == true,
            scheme.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 &- 0x30 < 10 || "+-.".utf8.contains($0) })
        else { return "\(needed): its scheme is in lower case" }
        guard !host.isEmpty,
            !host.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || "/?#@\"\\<>,*".utf8.contains($0) })
        else { return "\(needed): a host, perhaps a port, and nothing behind it" }
        if host.utf8.contains(where: { (0x41...0x5A).contains($0) }) { return "\(needed): its host is in lower case" }
        if scheme == "https" && host.hasSuffix(":443") || scheme == "http" && host.hasSuffix(":80") {
            return "\(needed): browsers leave the scheme's own port out"
        }
        return nil
    }

    /// The fields that let a script read an answer, and keep caches from mixing origins up.
    func headers(for origin: String?) -> [(name: String, value: String)] {
        switch self {
        case .everybody: return Self.granted("*")
        case .these(let origins) where origins.isEmpty: return []
        case .these(let origins):
            guard let origin, origins.contains(origin) else { return [("Vary", "Origin")] }
            return Self.granted(origin) + [("Vary", "Origin")]
        }
    }

    func allows(_ origin: String) -> Bool {
        switch self {
        case .everybody: true
        case .these(let origins): origins.contains(origin)
        }
    }

    private static func granted(_ origin: String) -> [(name: String, value: String)] {
        [("Access-Control-Allow-Origin", origin), ("Access-Control-Expose-Headers", "ETag, X-Request-Id")]
    }
}

extension API {
    /// Answers OPTIONS: the methods that a path takes (RFC 9110, section 9.3.7), and whether another site's script may call it.
    ///
    /// - Parameter routes: the routes of the path; empty: the whole server is meant.
    func options(of routes: [Route], _ head: RequestHead) -> Response {
        var response = Response.noContent
        response.headers.append(("Allow", Router.allowed(routes.isEmpty ? Route.all : routes)))
        guard let route = routes.first(where: \.isForWebViews), head.door == .network else { return response }
        let origin = head.headers["origin"]
        response.headers += settings.webOrigins.headers(for: origin)
        if let origin, settings.webOrigins.allows(origin) {
            response.headers += [
                ("Access-Control-Allow-Methods", route.method == "GET" ? "GET, HEAD" : route.method),
                ("Access-Control-Allow-Headers", "Accept-Language, If-None-Match, X-Request-Id"),
                ("Access-Control-Max-Age", "7200"),
            ]
        }
        return response
    }
}
