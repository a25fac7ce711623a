// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

/// An App Store Connect answer other than a success: its error, and a remedy.
package struct AppStoreConnectRefusal: Hashable, Sendable {
    package var status: Int
    package var body: [UInt8]
    /// The header `Retry-After`, parsed.
    package var retryAfter: Duration?
    /// The header `Date`: the server's clock.
    package var date: String?

    package func fault(of source: AppStoreConnectSource, at now: Timestamp) -> SourceFault {
        let error = firstError
        var text = "App Store Connect answers HTTP \(status)"
        let said = [error.code, error.title, error.detail].compactMap(\.self)
        if !said.isEmpty { text += ", \(said.joined(separator: ": "))" }
        if let retryAfter { text += "; to be asked again in \(retryAfter.components.seconds) s" }
        if let remedy = remedy(error.code, source, now) { text += "; \(remedy)" }
        return SourceFault(text, isThrottled: status == 429 || status == 503, retryAfter: retryAfter)
    }

    private func remedy(_ code: String?, _ source: AppStoreConnectSource, _ now: Timestamp) -> String? {
        let key = source.key
        switch status {
        case 401:
            if let skew = skew(at: now), abs(skew) > 60 {
                return "this machine's clock is \(abs(skew)) s \(skew > 0 ? "fast" : "slow"): set it (timedatectl)"
            }
            let issuer =
                key.issuerID == nil
                ? "a team's key needs `issuerId` (without it, \(key.keyID) is taken for an individual key)"
                : "`issuerId`, `keyId` and `key` must belong together"
            return "the key \(key.keyID) may be revoked, see Users and Access, Integrations; \(issuer)"
        case 403 where code?.contains("AGREEMENT") == true:
            return "the Account Holder must accept the agreement in App Store Connect, Business"
        case 403:
            return
                "the role of the key \(key.keyID) must be one that can view the app \(source.appID), such as Developer"
        case 404:
            return "is \(source.appID) the app's Apple ID, and may the key \(key.keyID) see the app?"
        case 429:
            return "does another program use the key \(key.keyID)? Apple counts their requests together"
        default: return nil
        }
    }

    /// The seconds that this machine's clock is ahead of the server's.
    private func skew(at now: Timestamp) -> Int64? {
        date.flatMap { HTTPDate.secondsSince1970(Array($0.utf8), now: now.seconds) }.map { now.seconds - $0 }
    }

    /// The first of `{"errors": [{"status", "code", "title", "detail"}]}`; its fields may hold anything.
    private var firstError: (code: String?, title: String?, detail: String?) {
        guard body.count <= AppStoreConnectAnswer.maximumSize, let answer = try? JSONReader.read(body),
            let error = answer.find(["errors"])?.array?.first
        else { return (nil, nil, nil) }
        func text(_ name: String) -> String? {
            guard let text = error.find([name])?.string, !text.isEmpty else { return nil }
            // The text goes into logs and terminals: one line, no control characters, and a limited length.
            let scalars = text.unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                    ? " " : scalar
            }
            return String(String.UnicodeScalarView(scalars.prefix(200))) + (scalars.count > 200 ? "…" : "")
        }
        return (text("code"), text("title"), text("detail"))
    }
}

/// The remaining questions of a key: `X-Rate-Limit: user-hour-lim:3500;user-hour-rem:500;` (Apple, "Identifying Rate
/// Limits"). The hour is a rolling one.
package struct AppStoreConnectRate: Hashable, Sendable {
    package var limit: Int
    package var remaining: Int

    package init?(_ header: String) {
        var values: [Substring: Int] = [:]
        for part in ListBound.foreignHeaderParts.members(of: header, at: ";") {
            let pair = part.split(separator: ":", maxSplits: 1)
            guard pair.count == 2, let number = Int(pair[1].filter { $0 != " " }), number >= 0 else { continue }
            values[pair[0].drop { $0 == " " }] = number
        }
        guard let limit = values["user-hour-lim"], let remaining = values["user-hour-rem"], limit > 0 else {
            return nil
        }
        (self.limit, self.remaining) = (limit, remaining)
    }

    /// How long the key must rest: the last tenth of its questions is left to the owner's other tools.
    package var pause: Duration {
        if remaining == 0 { return .seconds(30 * 60) }
        return remaining <= limit / 10 ? .seconds(15 * 60) : .zero
    }
}
