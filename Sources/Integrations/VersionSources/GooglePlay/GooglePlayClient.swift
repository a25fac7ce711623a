// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayEngine
import WireFormat

/// Asks the Google Play Developer API about one track, with an access token. Each request blocks until its answer is there,
/// 20 s at most.
struct GooglePlayClient {
    enum Refusal: Error {
        /// 401: another token may work.
        case token(SourceFault)
        case fault(SourceFault)
    }

    /// The longest wait for the deletion of an edit, which is made even while the relay stops.
    private static let deletionTimeout = Duration.seconds(5)

    let source: GooglePlaySource
    let token: String
    let client: SourceClient

    /// Empty where the track never had a release.
    func releases() throws(Refusal) -> [GooglePlaySummary] {
        let response = try send("GET", source.releasesAddress)
        if response.status == 404, isUnusedTrack(response) { return [] }
        return try read(response) { body throws(SourceFault) in
            try GooglePlayAnswer.releases(body, track: source.track)
        }
    }

    /// Opens an edit, reads the track, and deletes the edit whatever the answer was.
    ///
    /// An edit cannot be deleted if the request to open it got no answer: it expires, or ends when the next one is opened.
    /// - Returns: also the edit, where it could not be deleted.
    func rollouts() -> (answer: Result<[GooglePlayRollout], Refusal>, leftover: String?) {
        let edit: String
        do throws(Refusal) {
            edit = try read(send("POST", source.editsAddress), GooglePlayAnswer.edit)
        } catch {
            return (.failure(error), nil)
        }
        let answer = Result { () throws(Refusal) in
            try read(send("GET", source.trackAddress(edit))) { body throws(SourceFault) in
                try GooglePlayAnswer.track(body, track: source.track)
            }
        }
        return (answer, discard(edit) ? nil : edit)
    }

    /// - Returns: whether the edit is gone.
    func discard(_ edit: String) -> Bool {
        var request = request("DELETE", source.editAddress(edit))
        request.timeout = Self.deletionTimeout
        let http = HTTPClient(to: .googlePlay, egress: source.egress)
        guard let response = try? http.send(request) else { return false }
        // A refusal means that it has ended already, by itself or through another edit (404, 400 editExpired, 409).
        return (200..<300).contains(response.status) || [400, 404, 409, 410].contains(response.status)
    }

    // MARK: One request

    private func request(_ method: String, _ address: String) -> HTTPRequest {
        var request = HTTPRequest(method, address)
        request.headers = [("Authorization", "Bearer \(token)"), ("Accept", "application/json")]
        if method == "POST" {
            request.headers.append(("Content-Type", "application/json"))
            request.body = Array("{}".utf8)
        }
        request.maximumResponse = GooglePlayAnswer.maximumSize
        return request
    }

    private func send(_ method: String, _ address: String) throws(Refusal) -> HTTPResponse {
        do throws(SourceFault) {
            return try client.send(request(method, address), to: .googlePlay, source.egress)
        } catch {
            throw .fault(error)
        }
    }

    private func read<Value>(
        _ response: HTTPResponse, _ parse: ([UInt8]) throws(SourceFault) -> Value
    ) throws(Refusal) -> Value {
        guard response.status == 200 else { throw refusal(response) }
        do throws(SourceFault) {
            return try parse(response.body)
        } catch {
            throw .fault(error)
        }
    }

    private func isUnusedTrack(_ response: HTTPResponse) -> Bool {
        let error = GoogleErrorBody(response.body)
        return error.status == "NOT_FOUND" && !isAboutPackage(error)
    }

    private func isAboutPackage(_ error: GoogleErrorBody) -> Bool {
        error.reasons.contains("applicationNotFound") || error.message?.lowercased().contains("package") == true
    }

    /// The fault, with a remedy.
    private func refusal(_ response: HTTPResponse) -> Refusal {
        let error = GoogleErrorBody(response.body)
        let status = "Google Play answers HTTP \(response.status)"
        let retryAfter = client.retryAfter(response)
        func fault(_ text: String, isThrottled: Bool = false) -> SourceFault {
            SourceFault("\(status): \(text)", isThrottled: isThrottled, retryAfter: retryAfter)
        }
        // The answer's text may name the project, and faults are shown to everybody: it is used only where no case explains the
        // fault.
        let said = [error.status, error.message].compactMap(\.self).joined(separator: ", ")
        switch response.status {
        case 401:
            return .token(fault("it does not take the service account's token"))
        case 403 where !error.reasons.isDisjoint(with: Self.disabled):
            return .fault(
                fault("the Google Play Android Developer API is not enabled in the service account's project"))
        case 403 where !error.reasons.isDisjoint(with: Self.overQuota), 429:
            return .fault(fault("it was asked too often", isThrottled: true))
        case 403:
            return .fault(
                fault(
                    "the service account may not see \(source.packageName); invite it in Play Console under Users and "
                        + "permissions, for this app, with \"View app information\" and the permission to release to "
                        + "the track. It takes up to a day to hold"))
        case 404 where isAboutPackage(error):
            return .fault(
                fault(
                    "there is no \(source.packageName) that the service account may see; is the packageName right, and "
                        + "was a first bundle uploaded by hand?"))
        case 503: return .fault(fault(said.isEmpty ? "it has no time now" : said, isThrottled: true))
        case 300...399: return .fault(fault("redirects are not followed"))
        default: return .fault(said.isEmpty ? SourceFault(status, retryAfter: retryAfter) : fault(said))
        }
    }

    private static let disabled: Set<String> = ["accessNotConfigured", "SERVICE_DISABLED"]
    private static let overQuota: Set<String> = [
        "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "RATE_LIMIT_EXCEEDED",
        "RESOURCE_QUOTA_EXCEEDED",
    ]
}
