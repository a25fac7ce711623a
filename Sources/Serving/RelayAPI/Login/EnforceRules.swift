// SPDX-License-Identifier: Apache-2.0
import RelayStore
package import Requirements
import UpgradeRules

/// The owner's rules for `/v1/enforce`: where a proxy's question names app, platform and version, and the verdict on questions that do not.
package struct EnforceRules: Sendable, Hashable {
    /// The names of the headers.
    package struct Headers: Sendable, Hashable {
        package var app = "X-App-Id"
        package var platform = "X-App-Platform"
        package var version = "X-App-Version"
        /// The version of the phone's system.
        package var system = "X-App-OS"

        package init() {}

        package var all: [String] { [app, platform, version, system] }

        var lowercased: Headers {
            var names = self
            (names.app, names.platform, names.version) = (app.lowercased(), platform.lowercased(), version.lowercased())
            names.system = system.lowercased()
            return names
        }
    }

    /// An app that is known by its `User-Agent`.
    package struct Agent: Sendable, Hashable {
        package var pattern: UserAgentPattern
        package var app: AppKey

        package init(pattern: UserAgentPattern, app: AppKey) {
            self.pattern = pattern
            self.app = app
        }
    }

    /// The verdict on an app that is not configured, and on a version that is missing or malformed.
    package enum Unknown: String, Sendable, CaseIterable {
        case allow, deny
    }

    package var headers = Headers()
    /// The first agent whose pattern matches counts.
    package var agents: [Agent] = []
    package var unknown = Unknown.allow

    package init() {}

    /// Completes the query from the headers, and both from the `User-Agent`. An empty value counts as missing: a proxy that copies
    /// a header that is not there writes nothing.
    ///
    /// - Parameter header: returns a header's value by its name in lower case, as in `headers`.
    func complete(_ asked: EnforceSubject, header: (String) -> String?) -> EnforceSubject {
        func given(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        var subject = EnforceSubject(
            app: given(asked.app) ?? given(header(headers.app)),
            platform: given(asked.platform) ?? given(header(headers.platform)),
            version: given(asked.version) ?? given(header(headers.version)),
            system: given(asked.system) ?? given(header(headers.system)))
        guard !subject.isComplete, !agents.isEmpty, let text = header("user-agent") else { return subject }
        for agent in agents {
            // A given app or platform must not be contradicted.
            guard (subject.app ?? agent.app.app) == agent.app.app,
                (subject.platform ?? agent.app.platform.rawValue) == agent.app.platform.rawValue,
                let version = agent.pattern.version(in: text)
            else { continue }
            subject.app = agent.app.app
            subject.platform = agent.app.platform.rawValue
            subject.version = subject.version ?? version
            break
        }
        return subject
    }
}

/// The subject of a proxy's question, as far as it is given.
struct EnforceSubject: Hashable {
    var app: String?
    var platform: String?
    var version: String?
    var system: String?

    var isComplete: Bool { app != nil && platform != nil && version != nil }

    /// nil where the platform does not exist, or the app or the platform is not given.
    var key: AppKey? {
        guard let app, let platform = platform.flatMap(Platform.init(rawValue:)) else { return nil }
        return AppKey(app: app, platform: platform)
    }
}
