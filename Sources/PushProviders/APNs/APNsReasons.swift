// SPDX-License-Identifier: Apache-2.0

/// Reasons as labels: few, whatever a server says.
extension APNsProvider {
    /// The relay's own, beside those of APNs.
    private static let ownReasons = PushOutcome.transportReasons.union(["MalformedDeviceToken"])

    /// All that a push can have, but for an answer's bare status. The operator's guide explains each.
    package static let reasons = APNsReaction.reasons.union(ownReasons)

    package var knownReasons: Set<String> { Self.reasons }

    /// Whether a 5xx speaks of the server behind one connection, which is dropped, and not of the service.
    package func speaksOfConnection(_ reason: String) -> Bool { reason == "Shutdown" }

    /// Those that an operator ends by another key, topic or environment.
    package static let credentialReasons: Set<String> = [
        "BadCertificate", "BadCertificateEnvironment", "BadDeviceToken", "BadEnvironmentKeyIdInToken",
        "BadEnvironmentKeyInToken", "BadTopic", "CertificateEnvironment", "CertificateExpired",
        "CertificateNotYetValid", "ExpiredProviderToken", "Forbidden", "InvalidProviderToken",
        "MissingProviderToken", "MissingTopic", "TopicDisallowed", "UnrelatedKeyIdInToken",
    ]
}
