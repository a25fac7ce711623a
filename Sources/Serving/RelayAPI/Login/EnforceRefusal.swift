// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import UpgradeRules
import WireFormat

/// The verdict on a version at a proxy.
package enum EnforceVerdict: Sendable {
    case passes
    /// The version is blocked, or below the version that everybody must have.
    case denied(EnforceRefusal)
    /// The version is unknown; with the refusal where such versions are denied.
    case unknown(EnforceRefusal)
}

/// The refusal of a request at a proxy, rendered when versions change: it does not depend on the single client.
package struct EnforceRefusal: Sendable {
    /// The status of a refusal.
    package enum Status: Int, Sendable, CaseIterable {
        /// "Upgrade Required" (RFC 9110, section 15.5.22), but without the `Upgrade` field that the RFC demands: no other
        /// protocol is needed here, and nginx hands that field on to HTTP/2, where it makes the message malformed (RFC
        /// 9113, section 8.2.2) and iOS drops it.
        case upgradeRequired = 426
        /// nginx: "If the subrequest returns 401 or 403, the access is denied with the corresponding error code"; any other
        /// code "is considered an error" (ngx_http_auth_request_module).
        case forbidden = 403
    }

    private let forms: LocalizedAnswer<Forms>

    /// The refusal with each status.
    private struct Forms {
        let upgradeRequired: [UInt8]
        let forbidden: [UInt8]
    }

    /// The refusal of a version that is below the one in force, or is blocked.
    static func forced(_ target: UpgradeTarget, downloadURL: String, message: LocalizedText?) -> EnforceRefusal {
        let (type, why) =
            target.isBlock
            ? ("urn:upgrade-relay:version-blocked", "\(target.version) is blocked; another version is available")
            : ("urn:upgrade-relay:upgrade-required", "\(target.version) or later is required,")
        return EnforceRefusal(
            type, "this version may not go on: \(why) from downloadUrl", target: target, downloadURL: downloadURL,
            message: message)
    }

    /// The refusal of a version that is below the one in force, or is blocked, on a phone whose system is too old for a
    /// permitted version, where `belowMinimumOs` is "deny".
    static func ended(_ target: UpgradeTarget, minimumOS: Version?, message: LocalizedText?) -> EnforceRefusal {
        let system = minimumOS.map { "system version \($0)" } ?? "a newer system"
        let why =
            target.isBlock
            ? "\(target.version) is blocked, and what is above it needs"
            : "\(target.version) or later is required, and that needs"
        return EnforceRefusal(
            "urn:upgrade-relay:os-too-old", "this version may not go on: \(why) \(system) or later",
            target: target, downloadURL: nil, message: message)
    }

    /// The refusal of an unknown app or version, where `enforce.unknown` is "deny".
    ///
    /// - Parameters: the app's requirement, as far as the app is known.
    static func unknown(
        required: Version? = nil, downloadURL: String? = nil, message: LocalizedText? = nil
    ) -> EnforceRefusal {
        EnforceRefusal(
            "urn:upgrade-relay:version-unknown",
            "the request names no app that is known here, or no version of it; without that it may not go on",
            target: required.map { UpgradeTarget($0, isBlock: false) }, downloadURL: downloadURL, message: message)
    }

    static let ofNobody = EnforceRefusal.unknown()

    private init(
        _ type: String, _ detail: String, target: UpgradeTarget?, downloadURL: String?, message: LocalizedText?
    ) {
        func render(_ status: Status, _ message: String?) -> [UInt8] {
            var writer = JSONWriter()
            let body = UpgradeRequired(
                status: status, type: type, detail: detail, target: target, downloadURL: downloadURL,
                message: message)
            writer.object(body, UpgradeRequired.shape)
            return writer.bytes
        }
        forms = LocalizedAnswer(message) {
            Forms(upgradeRequired: render(.upgradeRequired, $0), forbidden: render(.forbidden, $0))
        }
    }

    /// The answer in the default language.
    package func response(_ status: Status) -> Response { response(status, for: RequestedLanguages()) }

    func response(_ status: Status, for wish: @autoclosure () -> RequestedLanguages) -> Response {
        let (form, vary) = forms.chosen(for: wish())
        var headers = [("Content-Type", "application/problem+json")]
        if let vary { headers.append(("Vary", vary)) }
        return Response(
            status: status.rawValue, headers: headers,
            body: .bytes(status == .forbidden ? form.forbidden : form.upgradeRequired))
    }
}

/// A refusal as clients read it.
struct UpgradeRequired {
    let status: EnforceRefusal.Status
    let type: String
    let detail: String
    let target: UpgradeTarget?
    let downloadURL: String?
    let message: String?

    static let shape = Shape<UpgradeRequired>(
        "UpgradeRequired", "The reason why a request may not go on (RFC 9457).",
        [
            .member(
                .type,
                .words(
                    ["upgrade-required", "version-blocked", "version-unknown", "os-too-old"].map {
                        "urn:upgrade-relay:\($0)"
                    }),
                "…:version-blocked where exactly this version must be left. …:version-unknown where enforce.unknown is \"deny\" and the app or its version is not known. …:os-too-old where belowMinimumOs is \"deny\" and the required version does not run on the phone's system; then there is no downloadUrl."
            ) { $0.type },
            // The title belongs to the type, and is the same with each status (RFC 9457, section 3.1.3).
            .member(.title, .text) { _ in Response.reason(EnforceRefusal.Status.upgradeRequired.rawValue) },
            .member(.status, .integer.with("enum", .array([.integer(403), .integer(426)]))) {
                Int64($0.status.rawValue)
            },
            .member(.detail, .text) { $0.detail },
            .optional(
                .downloadUrl, .text,
                "The place where users get the new version; always there in upgrade-required and version-blocked."
            ) { $0.downloadURL },
            .optional(.required, .version) { $0.target?.required?.text },
            .optional(.blocked, .version, "The version that must be left.") { $0.target?.blocked?.text },
            .optional(.message, .text, "The text for the users, in the requested language if there is one.") {
                $0.message
            },
        ])
}
