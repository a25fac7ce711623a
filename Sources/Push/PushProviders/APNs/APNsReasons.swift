// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// Reasons as labels: few, whatever a server answers.
extension APNsProvider {
    /// The relay's own, beside those of APNs.
    private static let ownReasons = PushOutcome.transportReasons.union(["MalformedDeviceToken"])

    /// All reasons that a push can have, but for an answer's bare status. etc/TROUBLESHOOTING.md explains each.
    package static let reasons = APNsReaction.reasons.union(ownReasons)

    package var knownReasons: Set<String> { Self.reasons }

    private static let ofConnection: Set<String> = ["Shutdown"]
    package var connectionReasons: Set<String> { Self.ofConnection }

    /// The reasons that an operator ends by another key, topic or environment.
    package static let credentialReasons: Set<String> = [
        "BadCertificate", "BadCertificateEnvironment", "BadDeviceToken", "BadEnvironmentKeyIdInToken",
        "BadEnvironmentKeyInToken", "BadTopic", "CertificateEnvironment", "CertificateExpired",
        "CertificateNotYetValid", "ExpiredProviderToken", "Forbidden", "InvalidProviderToken",
        "MissingProviderToken", "MissingTopic", "TopicDisallowed", "UnrelatedKeyIdInToken",
    ]
}
