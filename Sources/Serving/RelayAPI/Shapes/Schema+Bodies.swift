// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import VersionSources
import WireFormat

/// The bodies that clients send, and the texts in them. The code that reads a body refuses members that are not listed
/// here; the tests' `DocumentCheck` compares the bodies that it takes with these schemas.
extension Schema {
    static let bodies: [(name: String, schema: Schema)] = [
        ("VersionText", versionText), ("MessageText", messageText), ("MessageByLanguage", messageByLanguage),
        ("NewAlert", newAlert), ("NewBuildNumbers", newBuildNumbers), ("Bump", bump),
        ("VersionWebhook", versionWebhook), ("PlatformsBump", platformsBump), ("PlatformsWebhook", platformsWebhook),
        ("TestPush", testPush), ("DeviceRegistration", deviceRegistration), ("DeviceChange", deviceChange),
        ("DeviceImportLine", deviceImportLine), ("Retry", retry), ("Hurry", hurry), ("CampaignAct", campaignAct),
        ("CampaignRelease", campaignRelease), ("CampaignCancel", campaignCancel),
        ("VersionRelease", versionRelease), ("ApprovalRefusal", approvalRefusal), ("NewToken", newToken),
        ("StorePruning", storePruning),
        ("LaunchGateDocument", launchGateDocument), ("LaunchGateSection", launchGateSection),
    ]

    // MARK: Texts

    private static let versionText = text.described(
        "Numbers separated by dots; missing ones are 0, so \"2\" equals \"2.0.0\"."
    )
    .long(1...64).matching(#"^0*[0-9]{1,18}(\.0*[0-9]{1,18})*$"#)

    private static let messageText = text.long(1...BumpBody.maximumMessage).matching(
        #"^[^\u0000-\u0009\u000B-\u001F\u007F-\u009F\u115F\u1160\u180E\u200B\u2028-\u202E\u2060-\u206F\u3164\uFDD0-\uFDEF\uFEFF\uFFA0\uFFF0-\uFFFB\uFFFE\uFFFF]*$"#
    )

    /// A text for people. It may have line breaks, but no other control characters.
    private static let plain = "^[^\\u0000-\\u0009\\u000B-\\u001F\\u007F-\\u009F]*$"

    private static let messageByLanguage = map(of: .ref("MessageText")).described(
        "By language tag (RFC 5646), in upper or lower case, from 1 to 100; \"*\" is for all others. Without it \"en\" is, and one of the two is needed."
    ).with("minProperties", 1).with("maxProperties", 101)
        .with("propertyNames", ["pattern": .string(#"^(\*|[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)$"#)])

    /// The download URL of a bump. Its host must be ASCII.
    private static let downloadURL = text.long(1...DownloadURL.maximumLength).matching(
        #"^(?![Hh][Tt][Tt][Pp]:)(?![Hh][Tt][Tt][Pp][Ss]:(?!//[A-Za-z0-9-]))[A-Za-z][A-Za-z0-9+.-]*:(?!$)(?:(?!//)|//(?=[/?#])|//[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,3}(?::[1-9][0-9]{0,3})?(?![^/?#]))(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$"#
    )

    // MARK: Versions

    private static let newBuildNumbers = object(
        "Android's version codes; those left out stay.",
        [optional("latest", versionCode.orNull), optional("required", versionCode.orNull)])

    private static let terms = RequirementField.allCases.map(\.name.description).joined(separator: " or ")

    /// The members of a bump, whether it comes by the API or by webhook.
    private static let wishes: [Property] =
        [
            optional("latest", version.orNull), optional("required", version.orNull),
            optional(
                "downloadUrl", downloadURL.orNull,
                "An https URL, or one of a scheme that the app's configuration allows (downloadSchemes), as RFC 3986 writes it. A path in another script is accepted, too, and sent percent-encoded; a host is not. It holds for this bump alone; if left out, it is the configuration's."
            ),
            optional(
                "message", anyOf([.ref("MessageText"), .ref("MessageByLanguage"), .null]),
                "Shown instead of the app's own text: a text, or texts by language. It holds for this bump alone; if left out, it is the configuration's. Pushes carry the text for all others: the language of their phones is not known. \(MomentWords.place) in it is replaced by that moment, as the language writes a date, by the clocks of the app's zone."
            ),
            optional(
                "telephones", list(of: telephone).orNull.with("minItems", 1).with("maxItems", 1000),
                "The canary: a rise is in force for these users alone, and its campaign goes to no other user, until it is released; if left out: everybody at once."
            ),
            optional("builds", Schema.ref("NewBuildNumbers").orNull),
        ] + RequirementField.allCases.map(\.property) + [
            optional(
                "blocked", list(of: .version).orNull.with("minItems", 1).with("maxItems", 20),
                "Exactly these versions must be left, whatever is required: for a bad build. Each waits for a store that offers a version above it that is not blocked; if no store is asked, such a version must be known (409), or confirmed. A version that the same bump requires, or that is required with nothing known above it, is never blocked (409). Only a person may block an unblocked version again. Texts of a bump that names neither `required` nor `latest` are the blocks'."
            ),
            optional(
                "confirm", anyOf([flag, list(of: Doubt.shape.reference).with("maxItems", 22), .null]),
                "The doubts that are confirmed: each with its version, as the plan's `doubts` or the refusal's `confirm` names it; a doubt that is not named is not covered. true: of a bump that names `required` or `latest` the rise to a version that no store offers, that nothing announced, that fewer than ten devices, or than one in a hundred, were seen with, and that leaps over all of these (2.20.0 after 2.2.0); of a bump that only blocks, that nothing above is known. Without it such a bump is refused with 409. A bump that requires what it blocks, or blocks what is required with nothing above it, cannot be confirmed."
            ),
            optional(
                "now", flag.orNull,
                "The campaign is sent at once, whatever its app's hours (pace.hours): for an emergency. Until it is paused or sent again; its reminders wait for the hours. If the version is required already, it holds for the campaign under way."
            ),
        ]

    /// A body that asks for nothing: every member is null or missing. The terms of a requirement must be missing, as a null
    /// changes them.
    private static let nothingAsked: Schema = {
        let nulls = ["latest", "required", "downloadUrl", "message", "telephones", "blocked"].map { ($0, Schema.null) }
        let absent = RequirementField.allCases.map { ($0.name.description, Schema(["not": [:]])) }
        let builds = Schema(["type": .array([.string("object"), .string("null")])])
            .having([optional("latest", .null), optional("required", .null)])
        return Schema([:]).having((nulls + absent + [("builds", builds)]).map { optional($0, $1) })
    }()

    private static let bump = object(
        "A request to raise versions; at least one member that is not null, or \(terms), which null changes, too. Its URL and message are its own; if left out, they are the configuration's. A bump that raises nothing rewords the present requirement: with required, wholly; without, in the members it brings.",
        wishes + [alone] + Property.shown(by: .raise)
    ).with("not", nothingAsked.json)

    private static func ofPlatforms(areNeeded: Bool) -> [Property] {
        let list = list(of: .words(Platform.self)).with("minItems", 1).with("maxItems", 8)
        let text = "The platforms that it is for"
        return [
            areNeeded
                ? Property("platforms", list.described("\(text)."))
                : optional("platforms", list.orNull, "\(text); default: all that are configured for the app.")
        ]
            + Platform.allCases.map {
                optional(
                    $0.rawValue, Schema.ref("Bump").orNull,
                    "Members of a bump for \($0.rawValue) alone, in the place of those beside it, such as its lowest system."
                )
            }
    }

    private static let platformsBump = object(
        "One release for several platforms: the members of a bump are for all of them. Each platform's part is decided by itself; with a fault in any part none is.",
        ofPlatforms(areNeeded: false) + wishes + [alone] + Property.shown(by: .raise))

    private static let platformsWebhook = object(
        "One release for several platforms of an app: `platforms` in the place of `platform`.",
        [
            Property(
                "app", text.long(1...255).matching("^[^\\u0000]*$").described("The app's name in the configuration."))
        ] + ofPlatforms(areNeeded: true) + wishes)

    private static let versionWebhook = object(
        "A bump that names its app; at least one more member that is not null, or \(terms), which null changes, too.",
        [
            Property(
                "app", text.long(1...255).matching("^[^\\u0000]*$").described("The app's name in the configuration.")),
            Property("platform", .words(Platform.self)),
        ] + wishes
    ).with("not", nothingAsked.json)

    private static let versionRelease = object(nil, [atOnce, alone] + Property.shown(by: .release))

    private static let testPush = object(
        "The target of a test push: a user, or one device, registered or not.",
        [
            optional("telephone", telephone.orNull, "To each device on which this user is logged in, five at most."),
            optional("token", token.orNull, "To this device."),
            optional(
                "environment", Schema.environment.orNull,
                "With token: the push service to ask; if left out, as it is registered, or production."),
        ])

    private static let newAlert = object(
        "A new alert.",
        [
            Property("message", text.long(1...BumpBody.maximumMessage).matching(plain)),
            optional("blocking", flag.orNull),
            optional("endsAt", anyInstant.orNull, "In the future, in any time zone. Needed if it blocks."),
        ] + Property.shown(by: .setAlert)
    ).with(
        "not",
        Schema([:]).having([
            Property("blocking", Schema(["enum": .array([.bool(true)])])), optional("endsAt", .null),
        ]).json)

    /// Why one person acts where the app wants two.
    private static let alone = optional(
        "alone", reason.orNull,
        "At the control socket alone: does in an emergency what would wait for a second person (`approval` of the app), for this reason. The log, the audit trail and receivers name it."
    )

    private static let reason = text.long(1...API.longestReason).matching(plain)

    private static let approvalRefusal = object(
        "The refusal of a request.", [Property("reason", reason.described("Why, for the person who asked."))])

    // MARK: Devices

    private static let provider = optional(
        "provider", Schema.words(ProviderName.self).orNull,
        "The push service of the token, which its form says: a token with a colon is Firebase's, as is any of an Android app. Another one is refused."
    )

    private static let deviceRegistration = object(
        "A device as its app gives it; fields left out are null.",
        DeviceField.values.map(\.property) + [
            provider,
            optional(
                "replaces", token.orNull,
                "The token that this phone had before, such as Firebase's registration token where the app registers fid: and its installation id now. Its device takes this one's place, in the same transaction."
            ),
        ])

    private static let deviceChange = object(
        "Changes of a device; fields left out stay as they are, null clears them.",
        DeviceField.values.map(\.property) + [provider])

    private static let deviceImportLine = object(
        "A line of an import. app and platform may repeat the path's. A field left out stays as it is; null clears it.",
        DeviceField.allCases.map(\.property) + [provider])

    // MARK: Campaigns

    private static let atOnce = optional(
        "now", flag.orNull,
        "The campaign is sent at once, whatever its app's hours (pace.hours), until it is paused or sent again.")

    private static let retry = object(
        "The pushes to send again.",
        [
            optional(
                "states", list(of: .words(["rejected", "cancelled", "expired"])).orNull.with("minItems", 1),
                "Only devices in these states; if left out or null: in any of them."),
            atOnce,
        ] + Property.shown(by: .retry))

    private static let hurry = object(nil, [atOnce] + Property.shown(by: .resume))

    private static let campaignAct = object(
        "The facts shown of the campaign. All of them may be left out.", Property.shown(by: .pause))

    private static let campaignRelease = object(nil, [atOnce, alone] + Property.shown(by: .releaseCampaign))

    private static let campaignCancel = object(nil, [alone] + Property.shown(by: .cancel))

    // MARK: Administration

    private static let newToken = object(
        "A new token.",
        [
            Property(
                "name",
                text.long(1...64).matching("^[A-Za-z0-9._-]+$").described(
                    "Letters, digits, dots, hyphens, underscores.")),
            Property("scopes", Scope.schema.with("minItems", 1).with("maxItems", Int64(ListBound.scopes.limit))),
            optional(
                "apps", list(of: .text).orNull.with("minItems", 1).with("maxItems", Int64(ListBound.apps.limit)),
                "The apps that it is bound to, on every platform: it sees and changes no other app. null: all."),
        ])

    private static let storePruning = object(
        "The choice of rows to prune.",
        [Property("before", anyInstant.described("At least an hour ago, in any time zone."))])

    // MARK: The launch document, which `UpgradeRules` writes

    private static let launchGateDocument = object(
        "Each client reads its own section.",
        Platform.allCases.map { Property($0.rawValue, .ref("LaunchGateSection")) })

    private static let launchGateSection: Schema = {
        func part(_ name: String, _ schema: Schema) -> Schema {
            object(
                nil,
                name == "blocking"
                    ? [Property("message", text), Property(name, schema)]
                    : [Property(name, schema), Property("message", text)])
        }
        return object(
            "The section for one client; versions of Android are version codes.",
            [
                optional("requiredUpdate", part("minimumVersion", text)),
                optional("optionalUpdate", part("optionalVersion", text)), optional("alert", part("blocking", flag)),
            ])
    }()

    private static func optional(_ name: String, _ schema: Schema, _ text: String? = nil) -> Property {
        Property(name, schema.described(text), isRequired: false)
    }
}
