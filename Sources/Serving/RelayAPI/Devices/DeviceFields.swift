// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
package import RelayStore
package import Requirements
package import UpgradeRules
import VersionSources
package import WireFormat

/// Reads a device as clients give it.
package enum DeviceFields {
    /// Reads the body of `PUT …/devices/{token}`: a member that is left out counts as null, as a PUT replaces the device.
    ///
    /// - Returns: the device, and the token that its phone had before, if the body names one.
    static func read(
        _ bytes: [UInt8], app: AppKey, token: String
    ) throws(BodyError) -> (device: DeviceRegistration, replaces: String?) {
        var fields = try BodyFields(bytes)
        let change = read(&fields, token: token, of: app.platform)
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

    /// Reads the body of `PATCH …/devices/{token}`: a member that is left out stays as it is, a null member is cleared.
    package static func readChange(
        _ bytes: [UInt8], token: String, of platform: Platform
    ) throws(BodyError) -> DeviceChange {
        var fields = try BodyFields(bytes)
        let change = read(&fields, token: token, of: platform)
        try fields.finish()
        return change
    }

    /// Reads one line of an import, which names its token and may name app and platform. A missing member stays as it is.
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
        var change = read(&fields, token: token, of: app.platform, isRecord: true)
        change.registeredAt = fields.time("registeredAt")
        change.deadSince = fields.time("deadSince")
        change.seenAt = fields.time("seenAt")
        try fields.finish()
        return change
    }

    /// Reads a line without faults in its plain form, from bytes to bytes: the fast path of an import.
    ///
    /// - Returns: false where it did not take the line, so that `readLine` must read it. For a line that it takes,
    ///   `readLine` would give the same result.
    package static func readPlain(_ bytes: [UInt8], in range: Range<Int>, into batch: inout RegistrationBatch) -> Bool {
        guard let line = DeviceLineScan(bytes, in: range), let token = line[.token],
            line[.app].map({ bytes[$0].elementsEqual(batch.app.app.utf8) }) ?? true,
            line[.platform].map({ bytes[$0].elementsEqual(batch.app.platform.rawValue.utf8) }) ?? true
        else { return false }
        guard ProviderName.of(token: bytes[token], on: batch.app.platform).tokens.holds(bytes[token]) else {
            return false
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
            from: bytes, token: token, environment: environment, kept: DeviceFieldSet.values.subtracting(line.named),
            registeredAt: times.registered, deadSince: times.dead, seenAt: times.seen
        ) { line[$0] }
        return true
    }

    private struct NotPlain: Error {}

    private static func read(
        _ fields: inout BodyFields, token: String, of platform: Platform, isRecord: Bool = false
    ) -> DeviceChange {
        var change = DeviceChange(token: token)
        for field in DeviceField.texts {
            change[text: field] = fields.change(field.name) { field.text?.read(&$0, $1, isRecord) }
        }
        change.environment = fields.change(DeviceField.environment.name) {
            $0.choice($1, of: Channel.Environment.allCases, ignoresCase: isRecord, \.name)
        }
        checkProvider(&fields, of: token, on: platform, isRecord: isRecord)
        return change
    }

    // MARK: Tokens

    /// Refuses a push service that differs from the one that the token's form shows.
    private static func checkProvider(
        _ fields: inout BodyFields, of token: String, on platform: Platform, isRecord: Bool
    ) {
        let name = Field.provider.rawValue
        let said = fields.choice(name, of: ProviderName.allCases, ignoresCase: isRecord, \.rawValue)
        let own = ProviderName.of(token: token, on: platform)
        guard let said, said != own, !token.isEmpty else { return }
        fields.refuse(name, "must be \"\(own.rawValue)\", for the token is one of \(own.text)")
    }

    struct TokenFault: Error {
        var reason: String
    }

    /// The token as it is stored.
    static func normalized(_ token: String, platform: Platform) -> Result<String, TokenFault> {
        if let reason = ProviderName.of(token: token, on: platform).tokens.fault(in: token) {
            return .failure(TokenFault(reason: reason))
        }
        return .success(platform.stored(token))
    }

    private static func example(_ platform: Platform) -> String {
        platform == .ios ? "80012ab4…" : "fGw0qy4TQfmX…"
    }
}
