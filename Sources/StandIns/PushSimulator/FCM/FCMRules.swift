// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// FCM's side of a simulator, and the token endpoint of its service account (PROTOCOLS part 2).
final class FCMRules: ServiceRules {
    /// The request that is being judged.
    private struct Current {
        /// nil: the body is not JSON.
        var json: JSONValue?
        var jsonFault = ""
        var pushID: String?
        var message: FCMMessage?
        var fault: FCMMessage.Fault?
        var isAnonymous = false
        /// "projects/P/messages/M".
        var name = ""
    }

    private let project: FCMProject
    private let path: [UInt8]
    private var tokens: AccessTokens
    private var current = Current()
    private var messages: UInt64 = 0

    private static let tokenPath = Array("/token".utf8)
    private static let post = Array("POST".utf8)

    init(_ project: FCMProject, at place: SimulatorPlace) {
        self.project = project
        path = Array("/v1/projects/\(project.projectID)/messages:send".utf8)
        let hosts = [place.host, "127.0.0.1", "localhost", "[::1]"] + project.otherHosts
        // Google's own libraries name Google's endpoint as the audience, whatever the key file contains (google-auth,
        // service_account).
        let audiences =
            hosts.map { FCMProject.tokenURL(host: $0, port: place.port) } + ["https://oauth2.googleapis.com/token"]
        tokens = AccessTokens(project, audiences: audiences)
    }

    var firstStreams: Int? { nil }
    var credentials: Int { tokens.given.count }

    func scriptChanged() { tokens.forgetCount() }

    func goAwayText(_ reason: String) -> [UInt8] { Array(reason.utf8) }

    // MARK: Requests

    func begin(_ slot: StreamSlot) {
        current = Current()
        guard let path = Self.path(of: slot), !path.elementsEqual(Self.tokenPath) else { return }
        if slot.payloadSize == slot.payload.count {
            do throws(JSONSyntaxError) {
                current.json = try JSONReader.read(slot.payload)
            } catch {
                current.jsonFault = error.description
            }
        } else {
            current.jsonFault = "\(slot.payloadSize) bytes are too many"
        }
        current.pushID = current.json?.find(["message", "data", "pushId"])?.string
        if let id = current.pushID {
            slot.foreignIDHash = ShortHash.ofToken(id.utf8)
        } else {
            slot.ensureID()
        }
    }

    /// The path without the query.
    private static func path(of slot: StreamSlot) -> ArraySlice<UInt8>? {
        slot.headers[.path]?.prefix { $0 != UInt8(ascii: "?") }
    }

    func answerToOther(_ slot: StreamSlot, now: Int64, under judge: RequestJudge) -> PushAnswer? {
        guard let path = Self.path(of: slot), path.elementsEqual(Self.tokenPath) else { return nil }
        var answer = PushAnswer()
        answer.isPush = false
        if let fault = judge.faults.tokenEndpointFault(after: tokens.asked) {
            if fault.status == nil { answer.fault = .noAnswer }
            send(tokens.answer(fault), &answer, slot)
        } else if let method = slot.headers[.method], method.elementsEqual(Self.post) {
            let reply = tokens.answer(
                to: slot.payload, contentType: slot.headers[.contentType], now: now, judged: judge.faults.judged,
                isRevoked: judge.faults.isRevoked(keyID: project.keyID))
            send(reply, &answer, slot)
        } else {
            send(AccessTokens.Answer(status: 404, json: nil), &answer, slot)
        }
        return answer
    }

    private func send(_ reply: AccessTokens.Answer, _ answer: inout PushAnswer, _ slot: StreamSlot) {
        answer.status = reply.status
        answer.isPage = reply.json == nil
        slot.body += reply.json.map { $0.bytes(isPretty: true) } ?? FCMErrorBody.page(status: reply.status)
    }

    // MARK: Pushes

    /// Checks access first, then the request's content.
    func verdict(
        on slot: StreamSlot, credential: inout ConnectionCredential, now: Int64, under judge: RequestJudge
    ) -> Verdict {
        guard let sentTo = Self.path(of: slot), sentTo.starts(with: Self.prefix), sentTo.suffix(14) == Self.suffix,
            slot.headers[.method]?.elementsEqual(Self.post) == true
        else { return .rejected(.fcmNoSuchPage) }
        if let reason = accessFault(slot.headers[.authorization], now: now, under: judge) { return .rejected(reason) }
        guard sentTo.elementsEqual(path) else { return .rejected(.fcmPermissionDenied) }
        do throws(FCMMessage.Fault) {
            let message = try message(slot)
            current.message = message
            messages += 1
            let number = message.isDryRun ? "fake_message_id" : "0:\(now)\(messages)%\(String(slot.idHash, radix: 16))"
            current.name = "projects/\(project.projectID)/messages/\(number)"
            return message.isDryRun ? .validated : .accepted
        } catch {
            current.fault = error
            return .rejected(error == .badToken ? .fcmInvalidToken : .fcmBadRequest)
        }
    }

    private static let prefix = Array("/v1/projects/".utf8)
    private static let suffix = Array("/messages:send".utf8)[...]

    private func accessFault(
        _ authorization: ArraySlice<UInt8>?, now: Int64, under judge: RequestJudge
    ) -> RejectionReason? {
        guard let authorization, !authorization.isEmpty else {
            current.isAnonymous = true
            return .fcmUnauthenticated
        }
        // RFC 9110 section 11.1: the scheme is case-insensitive.
        let scheme = "bearer ".utf8
        guard authorization.count > scheme.count,
            authorization.prefix(scheme.count).elementsEqual(scheme, by: { $0 | 0x20 == $1 }),
            let access = tokens.given.access(authorization.dropFirst(scheme.count)), now < access.expiresAt,
            !judge.faults.isAccessRevoked(since: access.judgedBefore)
        else { return .fcmUnauthenticated }
        return access.maySend ? nil : .fcmScopeInsufficient
    }

    private func message(_ slot: StreamSlot) throws(FCMMessage.Fault) -> FCMMessage {
        let type = slot.headers[.contentType]?.prefix { $0 != UInt8(ascii: ";") }.map { $0 | 0x20 } ?? []
        guard type == Array("application/json".utf8) else {
            throw .unreadable(FieldFault("", "Invalid content type; it has to be application/json"))
        }
        guard let json = current.json else {
            throw .unreadable(FieldFault("", "Invalid JSON payload received. \(current.jsonFault)"))
        }
        return try FCMMessage(json)
    }

    func target(_ place: Int, of slot: StreamSlot) -> UInt64 {
        ShortHash.ofToken((current.message?.target ?? "").utf8)
    }

    func writeBody(of answer: PushAnswer, into slot: StreamSlot) {
        guard let reason = answer.reason else {
            slot.body += "{\n  \"name\": \"\(current.name)\"\n}\n".utf8
            return
        }
        slot.body += FCMErrorBody.bytes(
            reason, fault: current.fault, project: project.projectID, isAnonymous: current.isAnonymous)
    }

    func field(of answer: PushAnswer) -> AnswerHeader {
        switch answer.reason {
        case .fcmNoSuchPage?, .fcmBadGateway?: .page
        default: answer.isPage ? .page : .json
        }
    }

    func record(_ slot: StreamSlot, into line: inout JSONWriter) {
        guard let message = current.message else { return }
        line.member("name", current.name)
        line.member("pushId", current.pushID)
        line.member(message.kind.rawValue, message.target)
    }
}
