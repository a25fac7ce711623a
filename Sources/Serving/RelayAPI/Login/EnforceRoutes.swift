// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import UpgradeRules
import WireFormat

/// The question of reverse proxies before they pass a request on (PROTOCOLS 4.3): whether this version of the app may go on.
/// Answered from memory.
extension API {
    /// Its path; Envoy appends the path and the query of its client.
    static let enforcePath = "/v1/enforce"

    /// Whether a request's target is below that path, as Envoy sends it: "path_prefix: sets a prefix to the value of
    /// authorization request header Path".
    static func isBelowEnforce(_ target: String) -> Bool {
        let prefix = enforcePath.utf8
        guard target.utf8.starts(with: prefix) else { return false }
        return target.utf8.dropFirst(prefix.count).first == UInt8(ascii: "/")
    }

    func enforce(_ head: RequestHead, _ query: inout Query) throws -> Response {
        // Below the path, the query is the client's own, and its "version" may mean something else.
        let isBelow = Self.isBelowEnforce(head.target)
        var asked = EnforceSubject()
        var status = EnforceRefusal.Status.upgradeRequired
        var language: String?
        if !isBelow {
            asked = EnforceSubject(
                app: query.text("app"), platform: query.text("platform"), version: query.text("version"),
                system: query.text("os"))
            status = query.denyStatus()
            language = query.text("lang")
            try query.finish()
        }
        var rules = settings.enforce()
        rules.headers = enforceHeaders
        let subject = rules.complete(asked) { head.headers[$0] }
        let version = subject.version.flatMap { try? Version($0) }
        let system = subject.system.flatMap { try? Version($0) }
        let (key, verdict) = versionCache.enforce(subject.key, version: version, system: system)
        enforceFigures.count(key, verdict)
        func refused(_ refusal: EnforceRefusal) -> Response {
            refusal.response(status, for: RequestedLanguages(parameter: language, head))
        }
        switch verdict {
        case .denied(let refusal): return refused(refusal)
        case .unknown(let refusal) where rules.unknown == .deny: return refused(refusal)
        case .passes, .unknown:
            // Envoy takes only 200 as a yes (ext_authz_http_impl.cc); the other proxies take every 2xx.
            return Response(status: isBelow ? 200 : 204, headers: [], body: .bytes([]))
        }
    }
}

extension Query {
    fileprivate mutating func denyStatus() -> EnforceRefusal.Status {
        guard let text = text("deny") else { return .upgradeRequired }
        guard let status = Int(text).flatMap(EnforceRefusal.Status.init(rawValue:)), text.utf8.count == 3 else {
            refuse("deny", "403 or 426 is needed; got \"\(JSONValue.shortened(text))\"")
            return .upgradeRequired
        }
        return status
    }
}
