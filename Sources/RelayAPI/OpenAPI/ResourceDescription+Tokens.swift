// SPDX-License-Identifier: Apache-2.0
import RelayStore

extension ResourceDescription {
    static let tokens = ResourceDescription(
        tag: "tokens", purpose: "API tokens, managed over the control socket only.",
        operations: [
            Operation(
                "GET", "/v1/tokens", "listTokens", "Every token, revoked ones too", .operatorOnly,
                answers: [Answer(200, "Without their secrets.", .json(.page(of: "AccessToken")))]),
            Operation(
                "POST", "/v1/tokens", "createToken", "Makes a token", .operatorOnly,
                body: .json(.named("NewToken"), example: #"{"name":"ci","scopes":["versions","status"]}"#),
                answers: [
                    Answer(
                        201, "The secret is shown here and never again.",
                        .json(
                            .named("CreatedToken"),
                            example: #"{"name":"ci","scopes":["status","versions"],"token":"urt_…"}"#))
                ],
                conflicts: [409]),
            Operation(
                "DELETE", "/v1/tokens/{name}", "revokeToken", "Revokes a token", .operatorOnly,
                answers: [Answer(204, "Done.")]),
        ],
        schemas: [
            (
                "NewToken",
                .object(
                    "A token to be made.",
                    [
                        .init("name", .string("Letters, digits, dots, hyphens, underscores.", length: 1...64)),
                        .init("scopes", scopes),
                    ])
            ),
            (
                "CreatedToken",
                .object(
                    "A token with its secret.",
                    [.init("name", .string()), .init("scopes", scopes), .init("token", .string("The secret."))])
            ),
            (
                "AccessToken",
                .object(
                    "A token without its secret.",
                    [
                        .init("name", .string()), .init("scopes", scopes), .init("createdAt", .instant()),
                        .init("revokedAt", .instant().orNull),
                    ])
            ),
        ])

    private static let scopes = Schema.array(of: .choice(Scope.allCases.map(\.rawValue)))

    private typealias Answer = Operation.Answer
}
