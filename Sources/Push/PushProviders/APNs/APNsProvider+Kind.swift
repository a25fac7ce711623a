// SPDX-License-Identifier: Apache-2.0

extension APNsProvider: ProviderKind {
    package static let yes = "HTTP 200 and no body; a stand-in's JSON object, if it has no `reason`"

    package static let answerFields: [(field: String, check: String)] = []

    package var trial: TrialPush? { .apns(credential: certificate == nil ? "key" : "certificate") }
}

extension TrialPush {
    /// - Parameter credential: "key" or "certificate".
    package static func apns(credential: String) -> TrialPush {
        TrialPush(
            // A token never has an odd number of hex digits.
            token: String(repeating: "0", count: 63), refusal: "BadDeviceToken",
            parts: "\(credential), topic and environment",
            otherWorld: [
                "CertificateEnvironment", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken",
                "BadEnvironmentKeyInToken",
            ])
    }
}
