// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayEngine
import WireFormat

/// Asks the sources that are on the network. Each call blocks until the answer is there, 20 s at most.
struct SourceClient: Sendable {
    private static let timeout = Duration.seconds(20)

    let clock: @Sendable () -> Timestamp
    let isStopping: @Sendable () -> Bool

    func lookup(_ key: LookupKey, in source: AppStoreSource) -> Result<AppStoreEntry?, SourceFault> {
        do throws(SourceFault) {
            let response = try get(
                .appStore, Self.address(key, source, at: clock()), source.egress, [], AppStoreAnswer.maximumSize)
            return .success(try AppStoreAnswer.read(response.body, of: source, by: key))
        } catch {
            return .failure(error)
        }
    }

    func document(
        _ source: LaunchGateURLSource, since validators: SourceDocument.Validators
    ) throws(SourceFault) -> SourceDocument {
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if let etag = validators.etag { headers.append(("If-None-Match", etag)) }
        if let date = validators.lastModified { headers.append(("If-Modified-Since", date)) }
        let response = try get(.launchGate, source.url, source.egress, headers, LaunchGateReading.maximumSize)
        if response.status == 304 {
            guard validators != SourceDocument.Validators() else {
                throw SourceFault("HTTP 304 to a question that was not conditional")
            }
            return .unchanged
        }
        return .body(
            response.body,
            validators: SourceDocument.Validators(etag: response["etag"], lastModified: response["last-modified"]))
    }

    /// Redirects are not followed: a token stays with the server that it is for.
    func send(
        _ request: HTTPRequest, to destination: Destination, _ egress: Egress
    ) throws(SourceFault) -> HTTPResponse {
        var request = request
        request.timeout = Self.timeout
        do {
            return try HTTPClient(to: destination, egress: egress).send(request, isCancelled: isStopping)
        } catch {
            throw SourceFault("\(error)")
        }
    }

    /// The pause that the server asks for.
    func retryAfter(_ response: HTTPResponse) -> Duration? {
        response["retry-after"].flatMap { RetryAfter.duration($0, at: clock()) }
    }

    /// `country` changes the answer, and a parameter that changes gets past stale copies (PROTOCOLS 4).
    static func address(_ key: LookupKey, _ source: AppStoreSource, at now: Timestamp) -> String {
        let query =
            switch key {
            case .trackID(let id): "id=\(id)"
            case .bundleID(let id): "bundleId=\(id)"
            }
        let country = source.country.map { "&country=\($0)" } ?? ""
        return "\(source.server)/lookup?\(query)\(country)&_cb=\(now.milliseconds)"
    }

    private func get(
        _ destination: Destination, _ url: String, _ egress: Egress, _ headers: [(name: String, value: String)],
        _ limit: Int
    ) throws(SourceFault) -> HTTPResponse {
        var request = HTTPRequest("GET", url)
        request.headers = headers
        request.maximumResponse = limit
        let response = try send(request, to: destination, egress)
        switch response.status {
        case 200, 304:
            return response
        case 300...399:
            // A CDN's redirect address is often signed.
            let place = response["location"].map { " to \(ShownAddress.withoutSecrets($0).prefix(100))" } ?? ""
            throw SourceFault(
                "HTTP \(response.status) redirects\(place); redirects are not followed, give the final address")
        default:
            let isThrottled = [403, 429, 503].contains(response.status)
            let retryAfter = retryAfter(response)
            throw SourceFault(
                "HTTP \(response.status)"
                    + (retryAfter.map { ", to be asked again in \($0.components.seconds) s" } ?? ""),
                isThrottled: isThrottled, retryAfter: retryAfter)
        }
    }
}
