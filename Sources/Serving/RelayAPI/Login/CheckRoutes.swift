// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import UpgradeRules
import WireFormat

/// The open paths that apps ask at login and at launch: answered from memory.
extension API {
    /// Refreshes the version of a named token, and notes that it was notified where it must upgrade, later and on another thread.
    /// Nothing else of a device changes: anybody may call this.
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
        // A token of the wrong form is ignored: an old app is not refused its answer for it.
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

    /// Whether the answer depends on the user: a requirement for named users, and a telephone that the caller may prove.
    func isAboutUser(_ query: [RequestTarget.QueryItem]) -> Bool {
        func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
        guard value("telephone") != nil, value("token") != nil, let app = value("app"),
            let platform = value("platform").flatMap(Platform.init(rawValue:))
        else { return false }
        return versionCache.isRestricted(AppKey(app: app, platform: platform))
    }

    /// Whether the caller may know if the telephone is on the list of a requirement for named users: one that may write devices, or
    /// the device that is registered with it and names its own push token. Any other caller is answered as if no telephone had been
    /// given, and in the same time: the list is not looked at before.
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

    /// Whether a version is believed that a caller reports for a device.
    ///
    /// Anybody may ask here, so a report must not be able to do much harm. It never reaches a telephone, an environment or a device that is
    /// not registered, and the answer depends on the request alone: a lie about another device does not change the answer to that device at
    /// its own login (SEEDS S1), and its next login corrects the lie. A version that was never published would silence pushes for ever: it
    /// is not believed. The setting `checkTrust: "authorized"` is for operators who do not trust push tokens to stay secret.
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
    /// The version of a phone's system, on Android its API level. A text that is no version counts as unknown: an app is not
    /// refused its answer for a vendor's name of its system.
    mutating func system(_ name: String) -> Version? { text(name).flatMap { try? Version($0) } }

    fileprivate mutating func needed(_ name: String, example: String) -> String? {
        if let value = text(name) { return value }
        refuse(name, "is missing; give it as \(name)=\(example)")
        return nil
    }
}
