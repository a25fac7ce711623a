// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UpgradeRules

/// The app delegate of etc/APPS.md, word for word, on stand-ins for UIKit's types and the app's own.
@MainActor @Suite(.serialized) struct AppDelegateExampleTests {
    // APPS.md: begin
    final class AppDelegate: UIResponder, UIApplicationDelegate {
        let version =
            (try? Version(Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String ?? "")) ?? .zero
        lazy var prompt =
            UserDefaults.standard.string(forKey: "upgrade").flatMap(UpgradePrompt.init(rawValue:))
            ?? UpgradePrompt(installed: version)

        /// Elsewhere in the app: .loginAnswered(answer), .coreActionBegan, .userDeclined, .loggedOut
        func tell(_ event: UpgradePrompt.Event) {
            let action = prompt.handle(event)
            UserDefaults.standard.set(prompt.rawValue, forKey: "upgrade")
            if action != .none { show(action) }
        }

        func application(
            _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            tell(.upgraded(to: version))
            return true
        }

        func applicationDidBecomeActive(_ application: UIApplication) { tell(.returnedToForeground) }

        func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
            let push = UpgradePush(userInfo: userInfo).verdict(
                type: "needUpgrade", userTelephone: session.telephone, installed: version)
            if case .force(let url) = push { tell(.pushReceived(downloadURL: url)) }
        }
    }
    // APPS.md: end

    @Test func itIsInTheDocumentWordForWord() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(contentsOf: root.appending(path: "etc/APPS.md"), encoding: .utf8)
        let lines = try String(contentsOf: here, encoding: .utf8).components(separatedBy: "\n")
        let begin = try #require(lines.firstIndex(of: "    // APPS.md: begin"))
        let end = try #require(lines.firstIndex(of: "    // APPS.md: end"))
        let code = lines[(begin + 1)..<end].map { $0.isEmpty ? $0 : String($0.dropFirst(4)) }
        #expect(document.contains("```swift\n" + code.joined(separator: "\n") + "\n```"))
    }

    @Test func aPushMeetsTheUserAtTheNextCoreActionAndAtEachReturn() throws {
        let application = UIApplication()
        var delegate = Self.start(application, version: "1.9.0")
        delegate.application(application, didReceiveRemoteNotification: Self.push(to: "13900139000"))
        delegate.tell(.coreActionBegan)
        #expect(delegate.shown.isEmpty, "for somebody else")

        delegate.application(application, didReceiveRemoteNotification: Self.push(to: "13800138000"))
        delegate.applicationDidBecomeActive(application)
        #expect(delegate.shown.isEmpty, "nobody's work is interrupted")
        delegate.tell(.coreActionBegan)
        #expect(delegate.shown == [.showForce(downloadURL: "https://example.com")])

        delegate = Self.start(application, version: "1.9.0", keeping: true)
        #expect(delegate.shown == [.showForce(downloadURL: "https://example.com")], "also after a restart")
        delegate = Self.start(application, version: "2.0.0", keeping: true)
        #expect(delegate.shown.isEmpty, "until upgraded")
        delegate.application(application, didReceiveRemoteNotification: Self.push(to: "13800138000"))
        delegate.tell(.coreActionBegan)
        #expect(delegate.shown.isEmpty, "the relay does not know yet, and pushes again")
    }

    private static func start(
        _ application: UIApplication, version: String, keeping: Bool = false
    ) -> AppDelegate {
        Bundle.main.infoDictionary = ["CFBundleShortVersionString": version]
        if !keeping { UserDefaults.standard.texts = [:] }
        let delegate = AppDelegate()
        _ = delegate.application(application, didFinishLaunchingWithOptions: nil)
        delegate.applicationDidBecomeActive(application)
        return delegate
    }

    private static func push(to telephone: String) -> [AnyHashable: Any] {
        [
            "aps": ["alert": "a"],
            "page": [
                "type": "needUpgrade", "userTel": telephone, "downloadUrl": "https://example.com",
                "required": "2.0.0",
            ],
        ]
    }

    // MARK: Stand-ins

    @MainActor class UIResponder {
        var shown: [UpgradePrompt.Action] = []
        let session = Session()
        func show(_ action: UpgradePrompt.Action) { shown.append(action) }
    }

    protocol UIApplicationDelegate {}

    final class UIApplication {
        struct LaunchOptionsKey: Hashable {}
    }

    struct Session {
        let telephone: String? = "13800138000"
    }

    @MainActor final class Bundle {
        static let main = Bundle()
        var infoDictionary: [String: Any]?
    }

    @MainActor final class UserDefaults {
        static let standard = UserDefaults()
        var texts: [String: String] = [:]
        func string(forKey key: String) -> String? { texts[key] }
        func set(_ text: String, forKey key: String) { texts[key] = text }
    }
}
