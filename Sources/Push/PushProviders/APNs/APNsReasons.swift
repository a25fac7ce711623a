// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// Reasons as labels: a bounded set, whatever a server answers.
extension APNsProvider {
    /// The relay's own reasons, beside those of APNs.
    private static let ownReasons = PushOutcome.transportReasons.union(["MalformedDeviceToken"])

    /// All reasons that a push can have, except the bare status of an answer. etc/TROUBLESHOOTING.md explains each.
    package static let reasons = APNsReaction.reasons.union(ownReasons)

    package var knownReasons: Set<String> { Self.reasons }

    private static let ofConnection: Set<String> = ["Shutdown"]
    package var connectionReasons: Set<String> { Self.ofConnection }

    /// The reasons that an operator can end by another key, topic or environment.
    package static let credentialReasons: Set<String> = [
        "BadCertificate", "BadCertificateEnvironment", "BadDeviceToken", "BadEnvironmentKeyIdInToken",
        "BadEnvironmentKeyInToken", "BadTopic", "CertificateEnvironment", "CertificateExpired",
        "CertificateNotYetValid", "ExpiredProviderToken", "Forbidden", "InvalidProviderToken",
        "MissingProviderToken", "MissingTopic", "TopicDisallowed", "UnrelatedKeyIdInToken",
    ]
}
