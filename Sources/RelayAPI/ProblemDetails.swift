// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
import Telemetry
import UpgradeRules
package import WireFormat

/// An error as RFC 9457 defines it.
package struct ProblemDetails: Error {
    package var status: Int
    /// A URI for the kind of problem; "about:blank" means no more than the status says (RFC 9457, section 4.2.1).
    package var type = "about:blank"
    package var detail: String
    package var faults: [FieldFault] = []
    /// Members beyond the standard ones, in order.
    var extras: [(name: String, value: String)] = []
    package var headers: [(String, String)] = []

    package init(_ status: Int, _ detail: String, headers: [(String, String)] = []) {
        self.status = status
        self.detail = detail
        self.headers = headers
    }

    package init(faults: [FieldFault]) {
        self.init(422, faults.map(\.description).joined(separator: "; "))
        self.faults = faults
    }

    package init(field: String, _ reason: String) {
        self.init(faults: [FieldFault(field, reason)])
    }

    /// Whatever a handler threw, without its internals where it is our own failure.
    package static func of(_ error: any Error) -> ProblemDetails {
        switch error {
        case let problem as ProblemDetails: problem
        case let error as BodyError: of(error)
        case let error as StoreError: of(error)
        case let error as ControlError: of(error)
        default: ProblemDetails(500, "the relay failed at this; its log says more")
        }
    }

    private static func of(_ error: BodyError) -> ProblemDetails {
        switch error {
        case .notJSON(let syntax): ProblemDetails(400, "the body is not JSON: \(syntax)")
        case .fields(let faults): ProblemDetails(faults: faults)
        }
    }

    private static func of(_ error: StoreError) -> ProblemDetails {
        switch error.code {
        case .versionWouldFall(let field, let current, let proposed):
            var problem = ProblemDetails(
                409, "\(field) would fall from \(current) to \(proposed); versions only rise")
            problem.type = "urn:upgrade-relay:version-would-fall"
            problem.faults = [FieldFault(field, "must not be below \(current); got \(proposed)")]
            problem.extras = [("field", field), ("current", current.text), ("proposed", proposed.text)]
            return problem
        case .noDownloadURL: return ProblemDetails(field: "downloadUrl", noDownloadURL)
        case .refused: return ProblemDetails(409, error.description)
        case .nameTaken: return ProblemDetails(409, "a token of that name exists already, or did before it was revoked")
        case .webhookDiffers:
            return ProblemDetails(409, "this id came before, with another body; give each event an id of its own")
        case .full: return unavailable("the store's disk is full", error.hint, retryAfter: 30)
        case .readOnly: return unavailable("the store is read-only", error.hint, retryAfter: 30)
        case .busy: return unavailable("another process keeps the store locked", error.hint, retryAfter: 2)
        case .unreachable: return unavailable("the store's database cannot be reached", error.hint, retryAfter: 2)
        case .moved: return unavailable(error.context, error.hint, retryAfter: 30)
        case .fenced: return unavailable(error.context, error.hint, retryAfter: 2)
        case .tooNew, .conflict, .failed:
            return ProblemDetails(500, "the store failed at this; the relay's log says more")
        }
    }

    private static func of(_ error: ControlError) -> ProblemDetails {
        switch error.code {
        case .unknownApp, .noSuchCampaign, .noSuchDevice: ProblemDetails(404, error.description)
        case .wrongState, .withdrawn: ProblemDetails(409, error.description)
        case .notReloaded: ProblemDetails(422, error.description)
        case .stopping: ProblemDetails(503, error.description)
        case .noDownloadURL: ProblemDetails(field: "downloadUrl", noDownloadURL)
        case .implausible(let field, let proposed, let known): implausible(field, proposed, known)
        case .noRequirement: ProblemDetails(field: "required", error.context)
        case .payloadTooLarge: ProblemDetails(field: "message", error.description)
        }
    }

    private static func implausible(_ field: String, _ proposed: Version, _ known: Version) -> ProblemDetails {
        var problem = ProblemDetails(
            409,
            "\(field): \(KnownVersions.doubt(proposed, known: known)). Nothing was changed. "
                + "If it is meant, send it again with \"confirm\": true (on the command line: --yes)")
        problem.type = "urn:upgrade-relay:implausible-rise"
        problem.faults = [
            FieldFault(field, "leaps over \(known), the highest version known; got \(proposed)")
        ]
        problem.extras = [("field", field), ("current", known.text), ("proposed", proposed.text)]
        return problem
    }

    private static let noDownloadURL =
        "a requirement is announced with a download URL: send downloadUrl, or configure one for the app"

    private static func unavailable(_ detail: String, _ hint: String?, retryAfter: Int) -> ProblemDetails {
        ProblemDetails(503, hint.map { "\(detail). \($0)" } ?? detail, headers: [("Retry-After", String(retryAfter))])
    }

    package var response: Response {
        var writer = JSONWriter()
        writer.object { writer in
            writer.members([.type: type, .title: Response.reason(status), .status: status, .detail: detail])
            if let request = RequestMark.current { writer.member("request", request) }
            for extra in extras { writer.member(extra.name, extra.value) }
            if !faults.isEmpty {
                writer.array(.errors, faults) { writer, fault in
                    writer.object([.field: fault.field, .reason: fault.reason])
                }
            }
        }
        return Response(
            status: status,
            headers: [("Content-Type", "application/problem+json")] + headers.map { (name: $0.0, value: $0.1) },
            body: .bytes(writer.bytes))
    }
}
