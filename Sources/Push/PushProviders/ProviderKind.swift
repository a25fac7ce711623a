// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A kind of push service: its facts that are the same for every app.
package protocol ProviderKind {
    /// All reasons that a push can have, except the bare status of an answer. etc/TROUBLESHOOTING.md explains each.
    static var reasons: Set<String> { get }

    /// The reasons that an operator can end by another credential, project, topic, environment or permission.
    static var credentialReasons: Set<String> { get }

    /// The answer that means yes, for the guide (`PeerAnswer`).
    static var yes: String { get }

    /// The fields of its good answers that are checked, for the guide (`AnswerField`).
    static var answerFields: [(field: String, check: String)] { get }
}

extension ProviderName {
    /// The facts of this provider.
    package var kind: any ProviderKind.Type {
        switch self {
        case .apns: APNsProvider.self
        case .fcm: FCMProvider.self
        }
    }
}
