// SPDX-License-Identifier: Apache-2.0
package import Signing

extension ServiceKind {
    /// "APNs requires the use of HTTP/2" (Apple). A connection may have 1000 streams once it has shown a valid provider token
    /// (PROTOCOLS 1.7).
    package static let apns = ServiceKind(
        name: "APNs", reasons: RejectionReason.ofAPNs,
        words: ServiceWords(
            deadToken: .unregistered, badToken: .badDeviceToken, foreignToken: .deviceTokenNotForTopic,
            tooMany: .tooManyRequests, internalError: .internalServerError, unavailable: .serviceUnavailable),
        headers: KnownHeader.ofAPNs, takesHTTP1: false, maximumStreams: 1000)
}

extension SimulatedService {
    package static func apns(_ team: APNsTeam) -> SimulatedService {
        SimulatedService(.apns, customer: team) { _ in APNsRules(team) }
    }
}

extension SimulatorConfiguration {
    /// A stand-in for APNs.
    package init(topics: Set<String>, teamID: String, keys: [String: ES256PublicKey]) {
        self.init(.apns(APNsTeam(topics: topics, teamID: teamID, keys: keys)))
    }
}

extension SimulatedPushService {
    /// A stand-in for APNs.
    ///
    /// - Parameters:
    ///   - topics: the bundle ids that may be pushed to.
    ///   - teamID: the team that provider tokens must name.
    ///   - keyID: the id of the key that provider tokens must name.
    /// - Throws: where the system gives no port, no thread or no file.
    public static func apns(topics: Set<String>, teamID: String, keyID: String) throws -> SimulatedPushService {
        let key = try ES256PrivateKey.generate()
        return try SimulatedPushService(
            SimulatorConfiguration(topics: topics, teamID: teamID, keys: [keyID: key.publicKey])
        ) { _ in key.pem }
    }
}
