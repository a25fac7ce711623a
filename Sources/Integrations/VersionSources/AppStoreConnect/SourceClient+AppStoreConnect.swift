// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import WireFormat

extension SourceClient {
    /// App Store Connect's answer, and the key's remaining budget where the response carries it.
    ///
    /// Not a conditional request: Apple documents neither ETag nor Last-Modified for this API.
    func connect(
        _ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource, _ tokens: AppStoreConnectTokens
    ) -> (answer: Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?) {
        var rate: AppStoreConnectRate?
        do throws(SourceFault) {
            return (.success(try read(question, source, tokens, &rate)), rate)
        } catch {
            return (.failure(error), rate)
        }
    }

    /// Asks for a few fields only: without `fields` a version has twenty relationships with two links each.
    static func address(_ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource) -> String {
        switch question {
        case .page(let link?): link
        case .page(nil):
            source.list + "?filter%5Bplatform%5D=IOS&limit=200&include=appStoreVersionPhasedRelease"
                + "&fields%5BappStoreVersions%5D=platform,versionString,appVersionState,appStoreState,downloadable,"
                + "appStoreVersionPhasedRelease"
                + "&fields%5BappStoreVersionPhasedReleases%5D=phasedReleaseState"
        case .phase(let id):
            "\(source.server)/v1/appStoreVersions/\(id)/appStoreVersionPhasedRelease"
        }
    }

    private func read(
        _ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource, _ tokens: AppStoreConnectTokens,
        _ rate: inout AppStoreConnectRate?
    ) throws(SourceFault) -> AppStoreConnectMachine.Answer {
        let token = try tokens.token(source.key, at: clock())
        var request = HTTPRequest("GET", Self.address(question, source))
        request.headers = [("Accept", "application/json"), ("Authorization", "Bearer \(token)")]
        request.maximumResponse = AppStoreConnectAnswer.maximumSize
        let response = try send(request, to: .appStoreConnect, source.egress)
        rate = response["x-rate-limit"].flatMap(AppStoreConnectRate.init)
        switch (response.status, question) {
        case (200, .page): return .page(try AppStoreConnectAnswer.page(response.body, of: source))
        case (200, .phase(let version)): return .phase(try AppStoreConnectAnswer.phase(response.body, of: version))
        // "404 where there is none" (PROTOCOLS 4.1).
        case (404, .phase): return .phase(nil)
        default:
            if response.status == 401 { tokens.refused(token, of: source.key) }
            throw AppStoreConnectRefusal(
                status: response.status, body: response.body, retryAfter: retryAfter(response), date: response["date"]
            ).fault(of: source, at: clock())
        }
    }
}
