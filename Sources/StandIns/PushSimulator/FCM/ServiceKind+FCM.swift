// SPDX-License-Identifier: Apache-2.0

extension ServiceKind {
    /// Google's own libraries use HTTP/1.1 for FCM and its token endpoint, at `/token`. A connection of HTTP/2 may have 100
    /// streams (PROTOCOLS 2.1).
    package static let fcm = ServiceKind(
        name: "FCM", reasons: RejectionReason.ofFCM,
        words: ServiceWords(
            deadToken: .fcmUnregistered, badToken: .fcmInvalidToken, foreignToken: .fcmSenderMismatch,
            tooMany: .fcmQuotaExceeded, internalError: .fcmInternal, unavailable: .fcmUnavailable),
        givesAccess: true, maximumStreams: 100)
}

extension SimulatedService {
    package static func fcm(_ project: FCMProject) -> SimulatedService {
        SimulatedService(
            .fcm, customer: project,
            accountFile: { project.keyFile(tokenURL: FCMProject.tokenURL(host: $0.host, port: $0.port)) },
            rules: { FCMRules(project, at: $0) })
    }
}

extension SimulatorConfiguration {
    /// A stand-in for FCM.
    package init(_ project: FCMProject) {
        self.init(.fcm(project))
    }
}

extension SimulatedPushService {
    /// A stand-in for FCM and its token endpoint.
    ///
    /// - Parameter project: the id of the Firebase project.
    /// - Throws: where the system gives no port, no thread or no file.
    public static func fcm(project: String) throws -> SimulatedPushService {
        try SimulatedPushService(SimulatorConfiguration(FCMProject(projectID: project))) { $0.accountFile ?? [] }
    }
}
