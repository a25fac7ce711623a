// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
package import Requirements
import Telemetry
import UpgradeRules
package import WireFormat

/// An error as RFC 9457 defines it.
package struct ProblemDetails: Error {
    package var status: Int
    /// A URI for the kind of problem; "about:blank" adds nothing to the status (RFC 9457, section 4.2.1).
    package var type = "about:blank"
    package var detail: String
    package var faults: [FieldFault] = []
    /// Members beyond the standard ones, in order.
    var extras: [(name: String, value: String)] = []
    /// The confirmed facts that no longer hold.
    package var changed: [Shown.Change] = []
    /// The doubts that need a confirmation: the member `confirm` lists them, to be sent back.
    var doubts: [Doubt] = []
    /// The result of each platform's part of a release; empty: it was for one platform.
    var parts: [PlatformAnswer] = []
    package var headers: [(String, String)] = []

    package init(_ status: Int, _ detail: String, headers: [(String, String)] = []) {
        self.status = status
        self.detail = detail
        self.headers = headers
    }

    /// Names only the first faults: a client with more of them corrects these and asks again.
    package init(faults: [FieldFault]) {
        let named = faults.prefix(ListBound.namedFaults.limit)
        let more = named.count < faults.count ? "; and more" : ""
        self.init(422, named.map(\.description).joined(separator: "; ") + more)
        self.faults = Array(named)
    }

    package init(field: String, _ reason: String) {
        self.init(faults: [FieldFault(field, reason)])
    }

    /// The problem for any error of a handler, without internals where the failure is the relay's own.
    package static func of(_ error: any Error) -> ProblemDetails {
        switch error {
        case let problem as ProblemDetails: problem
        case let error as BodyError: of(error)
        case let error as StoreError: of(error)
        case let error as ControlError: of(error)
        case let fault as RequestTarget.Fault: of(fault)
        case let error as StaleConfirmation: of(error)
        default: ProblemDetails(500, "the relay failed at this; its log says more")
        }
    }

    private static func of(_ error: BodyError) -> ProblemDetails {
        switch error {
        case .notJSON(let syntax): ProblemDetails(400, "the body is not JSON: \(syntax)")
        case .fields(let faults): ProblemDetails(faults: faults)
        }
    }

    private static func of(_ fault: RequestTarget.Fault) -> ProblemDetails {
        switch fault {
        case .malformed: ProblemDetails(400, "the request's target is not a path in percent-encoded UTF-8")
        case .tooManySegments: ProblemDetails(404, "there is nothing at this path")
        case .tooManyParameters:
            ProblemDetails(
                400, "the request has more than the \(ListBound.queryParameters.limit) parameters that are taken")
        }
    }

    private static func of(_ error: StaleConfirmation) -> ProblemDetails {
        var problem = ProblemDetails(409, error.description)
        problem.type = staleConfirmation
        problem.changed = error.changes
        return problem
    }

    /// The type of a problem with an act whose confirmed facts no longer hold.
    package static let staleConfirmation = "urn:upgrade-relay:stale-confirmation"

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
        case .breaksRules(let faults): return ProblemDetails(faults: faults)
        case .refused, .nameInUse: return ProblemDetails(409, error.description)
        case .doubtful(let doubt):
            var problem = ProblemDetails(409, error.description)
            problem.type = "urn:upgrade-relay:\(doubt.reason.rawValue)"
            problem.doubts = [doubt]
            return problem
        case .nameTaken: return ProblemDetails(409, "a token of that name exists already, or did before it was revoked")
        case .webhookDiffers:
            return ProblemDetails(409, "this id came before, with another body; give each event an id of its own")
        case .full: return unavailable("the store's disk is full", error.hint, retryAfter: 30)
        case .readOnly: return unavailable("the store is read-only", error.hint, retryAfter: 30)
        case .busy: return unavailable("another process keeps the store locked", error.hint, retryAfter: 2)
        case .unreachable: return unavailable("the store's database cannot be reached", error.hint, retryAfter: 2)
        case .moved, .wentBack: return unavailable(error.context, error.hint, retryAfter: 30)
        case .fenced: return unavailable(error.context, error.hint, retryAfter: 2)
        case .tooNew, .conflict, .failed:
            return ProblemDetails(500, "the store failed at this; the relay's log says more")
        }
    }

    private static func of(_ error: ControlError) -> ProblemDetails {
        switch error.code {
        case .unknownApp, .noSuchCampaign, .noSuchApproval, .noSuchDevice: ProblemDetails(404, error.description)
        case .wrongState, .withdrawn, .refusedBefore: ProblemDetails(409, error.description)
        case .ownRequest: ProblemDetails(403, error.description)
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
            FieldFault(field, "leaps over \(known), the highest version beyond doubt; got \(proposed)")
        ]
        problem.extras = [("field", field), ("current", known.text), ("proposed", proposed.text)]
        problem.doubts = [Doubt(.implausibleRise, proposed)]
        return problem
    }

    private static let noDownloadURL =
        "a requirement is announced with a download URL: send downloadUrl, or configure one for the app"

    private static func unavailable(_ detail: String, _ hint: String?, retryAfter: Int) -> ProblemDetails {
        ProblemDetails(503, hint.map { "\(detail). \($0)" } ?? detail, headers: [("Retry-After", String(retryAfter))])
    }

    /// The longest answer to an error, in bytes: answering a faulty request must not cost more than the request.
    package static let longest = 4096
    /// The longest detail as JSON, in bytes.
    private static let longestDetail = 1400
    /// Bytes kept for everything but the detail and the faults.
    private static let frame = 700

    /// The text, cut so that its JSON has at most `most` bytes.
    private static func clipped(_ text: String, _ most: Int) -> String {
        func size(_ text: some StringProtocol) -> Int {
            var bytes: [UInt8] = []
            JSONWriter.append(quoted: String(text), to: &bytes)
            return bytes.count
        }
        guard text.utf8.count * 6 > most, size(text) > most else { return text }
        var scalars = text.unicodeScalars.prefix(most)
        while size(String(scalars)) > most - 3 { scalars = scalars.dropLast(max(1, scalars.count / 16)) }
        return String(scalars) + "…"
    }

    /// As many faults as there is room for.
    private func shown(beside detail: String) -> [FieldFault] {
        var left = Self.longest - Self.frame
        func take(_ text: String) -> Int {
            var bytes: [UInt8] = []
            JSONWriter.append(quoted: text, to: &bytes)
            return bytes.count
        }
        left -= take(detail)
        var shown: [FieldFault] = []
        for fault in faults.prefix(ListBound.namedFaults.limit) {
            let fault = FieldFault(Self.clipped(fault.field, 300), Self.clipped(fault.reason, 700))
            left -= take(fault.field) + take(fault.reason) + 24
            if left < 0 { break }
            shown.append(fault)
        }
        return shown
    }

    /// The value; a text is cut to at most 200 bytes of JSON.
    private static func clipped(_ value: Shown.Value) -> Shown.Value {
        if case .text(let text) = value { .text(clipped(text, 200)) } else { value }
    }

    package var response: Response {
        var problem = self
        problem.detail = Self.clipped(detail, Self.longestDetail)
        problem.faults = shown(beside: problem.detail)
        var writer = JSONWriter()
        writer.object(problem, Self.shape)
        return Response(
            status: status,
            headers: [("Content-Type", "application/problem+json")] + headers.map { (name: $0.0, value: $0.1) },
            body: .bytes(writer.bytes))
    }
}

extension ProblemDetails {
    static let shape = Shape<ProblemDetails>(
        "Problem", "An error (RFC 9457).",
        [
            .member(.type, .text, "A URI for the kind of problem; about:blank adds nothing to the status.") { $0.type },
            .member(.title, .text) { Response.reason($0.status) },
            .member(.status, .integer.within(400...599)) { $0.status },
            .member(.detail, .text) { $0.detail },
            .optional(.request, .text, "The request's id, as in X-Request-Id and the relay's log.") { _ in
                RequestMark.current
            },
            .others(
                .text.described(
                    "More about this kind of problem: such as the version that would fall, and from which one.")
            ) {
                for extra in $1.extras.prefix(4) { $0.member(extra.name, clipped(extra.value, 100)) }
            },
            .optionalList(.changed, of: changeShape, "The confirmed facts that no longer hold. Nothing was changed.") {
                $0.changed.isEmpty ? nil : $0.changed
            },
            .optionalList(
                .platforms, of: PlatformAnswer.failureShape, "Of a release for several platforms: the result of each."
            ) { $0.parts.isEmpty ? nil : $0.parts },
            .optionalList(
                .confirm, of: Doubt.shape,
                "The doubts for which the bump is refused: sent as `confirm`, they are covered."
            ) { $0.doubts.isEmpty ? nil : $0.doubts },
            .optionalList(.errors, of: FieldFault.shape, "The fields at fault.", atMost: ListBound.namedFaults.limit) {
                $0.faults.isEmpty ? nil : $0.faults
            },
        ])

    private static let changeShape = Shape<Shown.Change>([
        .member(.field, .words(Shown.Fact.self)) { $0.fact.rawValue },
        .member(.shown, .fact) { clipped($0.shown) },
        .member(.now, .fact) { clipped($0.now) },
    ])
}

extension Schema {
    /// A fact that was shown: a text, a number or nothing.
    fileprivate static let fact = Schema(["type": .array(["string", "integer", "null"].map(JSONValue.string))])
}

extension FieldFault {
    static let shape = Shape<FieldFault>(
        "FieldFault", "One field at fault: its value, and a right one.",
        [
            .member(.field, .text) { $0.field },
            .member(.reason, .text) { $0.reason },
        ])
}
