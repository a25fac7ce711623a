// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules
import VersionSources

@testable import PushProviders
@testable import PushSimulator
@testable import WireFormat

extension FuzzTarget {
    /// Texts of versions: both readers agree, and the order is one.
    static let version = FuzzTarget("version") { bytes in
        var input = FuzzInput(bytes)
        let parts = [input.part(), input.part(), input.part()]
        var versions: [Version] = []
        for part in parts {
            let text = String(decoding: part, as: UTF8.self)
            let isUTF8 = text.utf8.elementsEqual(part)
            switch Result(catching: { () throws(VersionError) in try Version(text) }) {
            case .success(let version):
                versions.append(version)
                try hold(version.text.utf8.elementsEqual(text.utf8), "the text is kept as it was")
                let again = try? Version(version.canonical)
                try hold(again == version, "the canonical spelling is the same version")
                try hold(again?.hashValue == version.hashValue, "equal versions hash alike")
                try hold(isUTF8 && Version.isOlder(part, 0..<part.count, than: version) == false, "older than itself")
            case .failure(let error):
                try hold(error.description.utf8.count <= 1000, "the error is short: \(error.description.utf8.count)")
                try hold(Version.isOlder(part, 0..<part.count, than: .zero) == nil, "only the bytes are a version")
            }
        }
        for left in versions {
            for right in versions {
                let utf8 = Array(left.text.utf8)
                try hold(
                    Version.isOlder(utf8, 0..<utf8.count, than: right) == (left < right), "\(left) < \(right) differs")
                try hold(
                    [left < right, left == right, left > right].count { $0 } == 1, "\(left), \(right): no one order")
                for third in versions where left <= right && right <= third {
                    try hold(left <= third, "\(left) <= \(right) <= \(third) is no order")
                }
            }
        }
    }

    /// The telephone rule agrees with the client's UTF-16 comparison.
    static let telephone = FuzzTarget("telephone") { bytes in
        var input = FuzzInput(bytes)
        let (left, right) = (input.text(), input.text())
        let rule = TelephoneRule.matches(left, right)
        try hold(rule == left.utf16.elementsEqual(right.utf16), "not the client's rule")
        try hold(rule == TelephoneRule.matches(right, left), "not symmetric")
        try hold(TelephoneRule.matches(left, left) && !TelephoneRule.matches(left, nil), "not reflexive")
    }

    /// With any texts, the payload is JSON that holds them, of the size that was computed.
    static let payload = FuzzTarget("payload") { bytes in
        var input = FuzzInput(bytes)
        let (type, alert, url, sound) = (input.text(), input.text(), input.text(), input.optionalText())
        let telephoneBytes = input.part()
        let telephone = String(decoding: telephoneBytes, as: UTF8.self)
        let payload = UpgradePayload(
            type: type, alert: alert, downloadURL: url, sound: sound, required: sound == nil ? nil : .zero)
        let body = payload.render(userTelephone: telephone)
        try hold(body.count == payload.size(userTelephone: telephone), "the size was foretold wrongly")
        var fast: [UInt8] = []
        payload.append(userTelephone: [0x22] + telephoneBytes + [0x22], 1..<1 + telephoneBytes.count, to: &fast)
        try hold(fast == body, "the hot path's payload is another")
        let room = UpgradePayload.escapedSize(telephone.utf8)
        try hold(room <= 6 * telephone.utf8.count, "a telephone took more than six times its bytes")
        if (try? payload.checked(longestTelephone: room)) != nil {
            try hold(body.count <= UpgradePayload.maximumSize, "checked, and too large")
        }
        try hold((try? JSONReader.read(body)) != nil, "the push service would not take it for JSON")
        let aps = [("alert", alert)] + (sound.map { [("sound", $0)] } ?? [])
        let page =
            [("type", type), ("userTel", telephone), ("downloadUrl", url)]
            + (sound == nil ? [] : [("required", Version.zero.text)])
        let expected = WireFormat.JSONValue.object([
            JSONMember(name: "aps", value: .object(aps.map { JSONMember(name: $0.0, value: .string($0.1)) })),
            JSONMember(name: "page", value: .object(page.map { JSONMember(name: $0.0, value: .string($0.1)) })),
        ])
        try hold(try JSONReader.read(body) == expected, "the payload says something else")

        // The same page as Android gets it: a JSON text in a JSON text.
        let android = FCMBody(payload, FCMProvider.Settings(project: "p"), campaign: "000000000000", life: .seconds(60))
        let message = try JSONReader.read(android.render(token: "t", telephone: telephone, pushID: "1"))["message"]
        try hold(message?["token"] == .string("t") && message?["android"]?["ttl"] == .string("60s"), "another message")
        let text = message?["data"]?["page"]?.string ?? ""
        try hold(
            try JSONReader.read(Array(text.utf8))
                == .object(page.map { JSONMember(name: $0.0, value: .string($0.1)) }),
            "Android's page says something else")
        let size = "page".utf8.count + text.utf8.count + "pushId".utf8.count + PushID.length
        try hold(size == android.sharedSize + room, "the size of Android's data was foretold wrongly")
    }
}
