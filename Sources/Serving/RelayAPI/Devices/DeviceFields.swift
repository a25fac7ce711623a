// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
package import RelayStore
import UpgradeRules
import VersionSources
package import WireFormat

/// Reads a device as clients give it.
package enum DeviceFields {
    /// The body of `PUT …/devices/{token}`: a member that is left out is null, for a PUT replaces.
    ///
    /// - Returns: the device, and the token that its phone had before, where one is named.
    static func read(
        _ bytes: [UInt8], app: AppKey, token: String
    ) throws(BodyError) -> (device: DeviceRegistration, replaces: String?) {
        var fields = try BodyFields(bytes)
        let change = read(&fields, token: token)
        var replaces: String?
        if let text = fields.string(Field.replaces.rawValue, example: example(app.platform)) {
            switch normalized(text, platform: app.platform) {
            case .success(token):
                fields.refuse(Field.replaces.rawValue, "is the token itself; the one before it is needed, or none")
            case .success(let old): replaces = old
            case .failure(let fault): fields.refuse(Field.replaces.rawValue, fault.reason)
            }
        }
        try fields.finish()
        return (DeviceRegistration(app, change), replaces)
    }

    /// The body of `PATCH …/devices/{token}`: a member that is left out stays as it is, one that is null is forgotten.
    package static func readChange(_ bytes: [UInt8], token: String) throws(BodyError) -> DeviceChange {
        var fields = try BodyFields(bytes)
        let change = read(&fields, token: token)
        try fields.finish()
        return change
    }

    /// One line of an import, which names its token and may name its app and platform. A member that is left out stays as it is.
    package static func readLine(_ bytes: [UInt8], in range: Range<Int>, app: AppKey) throws(BodyError) -> DeviceChange
    {
        var fields = try BodyFields(bytes, in: range)
        if let name = fields.string("app", example: app.app), !name.utf8.elementsEqual(app.app.utf8) {
            fields.refuse("app", "must be \"\(app.app)\", as in the path; got \(JSONValue.string(name).sight)")
        }
        let platform = app.platform.rawValue
        if let name = fields.string("platform", example: platform), name.lowercased() != platform {
            fields.refuse("platform", "must be \"\(platform)\", as in the path; got \(JSONValue.string(name).sight)")
        }
        var token = ""
        if let text = fields.requiredString("token", example: example(app.platform)) {
            switch normalized(text, platform: app.platform) {
            case .success(let good): token = good
            case .failure(let fault): fields.refuse("token", fault.reason)
            }
        }
        var change = read(&fields, token: token, isRecord: true)
        change.registeredAt = fields.time("registeredAt")
        change.deadSince = fields.time("deadSince")
        change.seenAt = fields.time("seenAt")
        try fields.finish()
        return change
    }

    /// The same for a line without faults in its plain form: from bytes to bytes.
    ///
    /// - Returns: false where it did not take the line; then `readLine` must judge it. `readLine` would take a taken line in the same way.
    package static func readPlain(_ bytes: [UInt8], in range: Range<Int>, into batch: inout RegistrationBatch) -> Bool {
        guard let line = DeviceLineScan(bytes, in: range), let token = line[.token],
            line[.app].map({ bytes[$0].elementsEqual(batch.app.app.utf8) }) ?? true,
            line[.platform].map({ bytes[$0].elementsEqual(batch.app.platform.rawValue.utf8) }) ?? true
        else { return false }
        switch batch.app.platform {
        case .ios: guard lengthOnIOS.contains(token.count), bytes[token].allSatisfy(isHexDigit) else { return false }
        // The scan lets printable ASCII through: all that is left is the space.
        case .android: guard lengthOnAndroid.contains(token.count), !bytes[token].contains(0x20) else { return false }
        }
        for (field, text) in zip(DeviceField.texts, DeviceField.rules) {
            if let value = line[field], !text.isPlain(bytes, value) { return false }
        }
        var environment = Channel.Environment.production
        if let name = line[.environment] {
            if bytes[name].elementsEqual(Channel.Environment.sandbox.name.utf8) {
                environment = .sandbox
            } else if !bytes[name].elementsEqual(Channel.Environment.production.name.utf8) {
                return false
            }
        }
        func time(_ range: Range<Int>?) throws(NotPlain) -> Timestamp? {
            guard let range else { return nil }
            guard let time = Timestamp(internetTime: bytes[range]) else { throw NotPlain() }
            return time
        }
        let times: (registered: Timestamp?, dead: Timestamp?, seen: Timestamp?)
        do throws(NotPlain) {
            times = (try time(line[.registeredAt]), try time(line[.deadSince]), try time(line[.seenAt]))
        } catch {
            return false
        }
        batch.append(
            from: bytes, token: token, channel: Channel(environment),
            kept: DeviceFieldSet.values.subtracting(line.named),
            registeredAt: times.registered, deadSince: times.dead, seenAt: times.seen
        ) { line[$0] }
        return true
    }

    private struct NotPlain: Error {}

    private static func read(_ fields: inout BodyFields, token: String, isRecord: Bool = false) -> DeviceChange {
        var change = DeviceChange(token: token)
        for field in DeviceField.texts {
            change[text: field] = fields.change(field.name) { field.text?.read(&$0, $1, isRecord) }
        }
        change.environment = fields.change(DeviceField.environment.name) {
            $0.choice($1, of: Channel.Environment.allCases, ignoresCase: isRecord, \.name)
        }
        return change
    }

    // MARK: Tokens

    // Apple: device tokens are of variable length, do not hard-code their size.
    private static let lengthOnIOS = 2...400
    private static let lengthOnAndroid = 1...4096

    struct TokenFault: Error {
        var reason: String
    }

    /// The token as it is stored.
    static func normalized(_ token: String, platform: Platform) -> Result<String, TokenFault> {
        let length = token.utf8.count
        switch platform {
        case .ios:
            guard lengthOnIOS.contains(length) else {
                return .failure(TokenFault(reason: "2 to 400 hex digits are needed; it had \(length) characters"))
            }
            if let place = token.utf8.enumerated().first(where: { !isHexDigit($0.element) })?.offset {
                return .failure(TokenFault(reason: "only hex digits are allowed; position \(place + 1) holds another"))
            }
            return .success(token.lowercased())
        case .android:
            guard lengthOnAndroid.contains(length) else {
                return .failure(TokenFault(reason: "1 to 4096 characters are needed; it had \(length)"))
            }
            if let place = token.utf8.enumerated().first(where: { !(0x21...0x7E).contains($0.element) })?.offset {
                return .failure(
                    TokenFault(reason: "only visible ASCII is allowed; position \(place + 1) holds something else"))
            }
            return .success(token)
        }
    }

    static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...70, 97...102: true
        default: false
        }
    }

    private static func example(_ platform: Platform) -> String {
        platform == .ios ? "80012ab4…" : "fGw0qy4TQfmX…"
    }
}
