// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The requests that the relay makes itself: to the receivers that `notify` in its configuration names.
extension JSONWriter {
    /// "The key is a unique string used to refer to each webhook" (OpenAPI 3.1, "webhooks").
    mutating func webhooks() {
        let operation = Self.campaignChanged
        name("campaignChanged")
        object { writer in
            writer.name("post")
            writer.object { writer in
                writer.member("operationId", operation.id)
                writer.member("tags", strings: ["notifications"])
                writer.member("summary", operation.summary)
                if let description = operation.description { writer.member("description", description) }
                writer.name("security")
                writer.array(["standardWebhook"]) { writer, scheme in writer.object { $0.member(scheme, strings: []) } }
                writer.parameters(operation)
                writer.requestBody(operation)
                writer.name("responses")
                writer.object { writer in
                    for (status, meaning) in Self.receiversAnswers {
                        writer.name(status)
                        writer.object { $0.member("description", meaning) }
                    }
                }
            }
        }
    }

    private static let receiversAnswers = [
        ("2XX", "Taken. The answer's body is not looked at."),
        ("410", "Nothing is sent to this receiver until it was taken out of the configuration and put in again."),
        ("429", "Nothing is sent to it for as long as Retry-After says, or a minute; so too with 502 and 504."),
        (
            "default",
            "Tried again, as is no answer within 20 seconds: after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. "
                + "Redirects are not followed."
        ),
    ]

    private static let campaignChanged = Operation(
        "POST", "", "campaignChanged", "A campaign's state changed", .signature,
        description: "Sent to each receiver that notify in the relay's configuration names and that wants such events. "
            + "At least once: an event may come twice, with the same webhook-id.",
        parameters: [
            .header("webhook-id", "The event's id, the same in every attempt and for every receiver.", required: true),
            .header("webhook-timestamp", "The attempt's time in seconds since 1970.", required: true),
            .header(
                "webhook-signature",
                "\"v1,\" and the HMAC-SHA256 of id, timestamp and body, joined by dots, in base64.", required: true),
        ],
        body: .json(
            .named("CampaignEvent"),
            example: #"{"type":"campaign.running","timestamp":"2026-01-31T09:05:07.300Z","data":"#
                + ResourceDescription.campaignExample + "}"), answers: [])
}
