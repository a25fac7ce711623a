// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The open paths that apps ask at login and at launch: answered from memory.
extension API {
    /// Answers the login check. If it names a push token, the device's version, and that the device was notified of an
    /// upgrade, are stored later by another thread. Nothing else of a device changes: anybody may call this.
    func check(_ head: RequestHead, _ query: inout Query) throws -> Response {
        let app = query.needed("app", example: "com.example.app")
        let platformName = query.needed("platform", example: "ios")
        let versionText = query.needed("version", example: "1.9.0")
        let telephone = query.text("telephone")
        let token = query.text("token")
        let system = query.system("os")
        let language = query.text("lang")
        let platform = platformName.flatMap(Platform.init(rawValue:))
        if let platformName, platform == nil {
            query.refuse(
                "platform", "\"ios\" or \"android\" is needed; got \"\(JSONValue.shortened(platformName))\"")
        }
        var version: Version?
        if let versionText {
            do throws(VersionError) {
                version = try Version(versionText)
            } catch {
                query.refuse("version", error.description)
            }
        }
        try query.finish()
        guard let app, let platform, let version else { throw ProblemDetails(500, "a parameter was lost") }
        let key = AppKey(app: app, platform: platform)
        let user = UpgradeRule.User(
            telephone, isProven: try isProven(telephone, token: token, of: key, head), system: system)
        guard let answer = versionCache.check(key, version: version, user: user) else {
            try require(key)
            // Configured a moment ago: nothing is known yet.
            throw ProblemDetails(503, "this app was just configured; ask again", headers: [("Retry-After", "1")])
        }
        // A token of the wrong form is ignored: an old app gets its answer all the same.
        if let token, case .success(let good) = DeviceFields.normalized(token, platform: platform),
            isCredible(version, of: key, head)
        {
            sightings.note(
                Sighting(
                    app: key, token: good, version: version, system: system, toldAtLogin: answer.toldAtLogin?.id))
        }
        let (content, vary) = answer.content.chosen(for: RequestedLanguages(parameter: language, head))
        return content.response(to: head, isShared: telephone == nil && token == nil, vary: vary)
    }

    /// Whether the answer may depend on the user: a requirement names users, and the query has a telephone and a token as proof.
    func isAboutUser(_ query: [RequestTarget.QueryItem]) -> Bool {
        func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
        guard value("telephone") != nil, value("token") != nil, let app = value("app"),
            let platform = value("platform").flatMap(Platform.init(rawValue:))
        else { return false }
        return versionCache.isRestricted(AppKey(app: app, platform: platform))
    }

    /// Whether the caller may learn if the telephone is on the list of a requirement for named users: a caller that may
    /// write devices, or the device that is registered with the telephone and names its own push token. Any other caller is
    /// answered as if no telephone had been given, and in the same time, as the list is not read before this check.
    private func isProven(
        _ telephone: String?, token: String?, of app: AppKey, _ head: RequestHead
    ) throws -> Bool {
        guard let telephone, versionCache.isRestricted(app) else { return false }
        if head.door == .control || isVouched(head, for: app) { return true }
        guard let token, case .success(let good) = DeviceFields.normalized(token, platform: app.platform) else {
            return false
        }
        return TelephoneRule.matches(try store.device(app, token: good)?.registration.telephone, telephone)
    }

    /// Whether the relay trusts the version that a caller reports for a device.
    ///
    /// Anybody may ask here, so a report must not be able to do much harm. It never reaches a telephone, an environment or
    /// a device that is not registered, and the answer depends on the request alone: a lie about another device does not
    /// change the answer to that device at its own login (SEEDS S1), and its next login corrects the lie. A version that
    /// was never published would stop the device's pushes for ever, so it is not trusted. Operators who do not trust push
    /// tokens to stay secret set `checkTrust` to "authorized".
    private func isCredible(_ version: Version, of app: AppKey, _ head: RequestHead) -> Bool {
        if head.door == .control || isVouched(head, for: app) { return true }
        guard settings.checkTrust == .device else { return false }
        return versionCache.isCredible(version, of: app)
    }

    /// Whether the caller has the right to write devices.
    private func isVouched(_ head: RequestHead, for app: AppKey) -> Bool {
        guard let authorization = head.headers["authorization"] else { return false }
        return
            (try? Rights.caller(
                for: .scope(.devices), app: app.app, door: head.door, authorization: authorization,
                look: token)) != nil
    }

    func launchGate(_ app: String, _ head: RequestHead, _ query: inout Query) throws -> Response {
        let wish = RequestedLanguages(parameter: query.text("lang"), head)
        try query.finish()
        guard let (document, vary) = versionCache.document(app, for: wish) else {
            throw ProblemDetails(404, "\"\(JSONValue.shortened(app))\" is not configured on this server")
        }
        return document.response(to: head, isShared: true, vary: vary)
    }
}

extension RequestedLanguages {
    init(parameter: String?, _ head: RequestHead) {
        self.init(parameter: parameter, header: head.headers["accept-language"])
    }
}

extension Query {
    /// The version of a phone's system, on Android its API level. A text that is no version counts as unknown: an app gets
    /// its answer even with a vendor's own name for the system.
    mutating func system(_ name: String) -> Version? { text(name).flatMap { try? Version($0) } }

    fileprivate mutating func needed(_ name: String, example: String) -> String? {
        if let value = text(name) { return value }
        refuse(name, "is missing; give it as \(name)=\(example)")
        return nil
    }
}
