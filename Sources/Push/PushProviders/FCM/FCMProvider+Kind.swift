// SPDX-License-Identifier: Apache-2.0
import Signing

extension FCMProvider: ProviderKind {
    package static let yes =
        "HTTP 200 and a JSON object without `error`, whose `name` begins with `projects/` where it has one; or no body"

    package static let answerFields: [(field: String, check: String)] = [
        ("name", "begins with `projects/`: the message that was taken; where it is there")
    ]

    package var trial: TrialPush? { .fcm }
    package var credentialURL: String? { tokens.account.tokenURL }
}

extension TrialPush {
    /// No token has a "!".
    package static let fcm = TrialPush(
        token: "no-such-token!", refusal: "INVALID_ARGUMENT", parts: "account and project")
}
