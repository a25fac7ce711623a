// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The properties of phones other than their version, and corrections by hand.
extension World {
    /// `PATCH` of the fields that a person or a login service knows: the others stay.
    func patch(_ place: Int, _ number: Int) throws -> String? {
        guard let relay else { return nil }
        let phone = phones[place]
        let (key, token) = (settings.key(phone.app), token(phone))
        let (body, word) = Self.patches(phone, number)
        let wasThere = model.registry.states(registryKey(phone.app, token))
        let change = try DeviceFields.readChange(Array(body.utf8), token: token, of: key.platform)
        let record = try relay.store.change(change, of: key, at: clock.now.wall)
        if record == nil
            ? !wasThere.contains(where: { $0?.isThere != true }) : !wasThere.contains(where: { $0?.isThere == true })
        {
            model.broke(
                "registry.field",
                "phone \(phone.number) of app \(phone.app) is \(record == nil ? "not " : "")known to PATCH")
        }
        guard record != nil else { return nil }
        happens(.patch(word), to: phone.app, token)
        isAliveAgain(phone)
        learnDevice(phone.app, token)
        return "of phone \(phone.number) of app \(phone.app) somebody corrects \(body)"
    }

    /// A body, and the fields that it sets.
    private static func patches(_ phone: Phone, _ number: Int) -> (String, DeviceWord) {
        var word = DeviceWord()
        func quoted(_ text: String?) -> String { text.map { "\"\($0)\"" } ?? "null" }
        switch number % 8 {
        case 0:
            word.version = .says(phone.version)
            return ("{\"version\": \"\(text(version: phone.version))\"}", word)
        case 1:
            word.system = .says(phone.system.map(tenths))
            return ("{\"osVersion\": \(quoted(phone.system))}", word)
        case 2:
            word.country = .says("CN")
            return (#"{"country": "cn"}"#, word)
        case 3:
            word.telephone = .says(phone.user.map(Phone.telephone))
            return ("{\"telephone\": \(quoted(phone.user.map(Phone.telephone)))}", word)
        case 4: return ("{}", word)
        case 5:
            word.country = .says(nil)
            return (#"{"country": null}"#, word)
        case 6:
            (word.system, word.version) = (.says(nil), .says(phone.version))
            return ("{\"osVersion\": null, \"version\": \"\(text(version: phone.version))\"}", word)
        default:
            word.isSandbox = .says(phone.saysSandbox)
            return ("{\"environment\": \"\(phone.saysSandbox ? "sandbox" : "production")\"}", word)
        }
    }

    /// The patch counts as a registration by its app: the token lives, as far as is known.
    private func isAliveAgain(_ phone: Phone) {
        // An earlier campaign may leave it out from now on, as it may a phone that registers.
        if pushes.calledDead.contains("\(phone.app)/\(token(phone))") { model.changed(phone.app, token(phone)) }
        pushes.calledDead.remove("\(phone.app)/\(token(phone))")
        model.calledDead.remove("\(phone.app)/\(token(phone))")
    }

    /// A phone gets another system, or its user another country, and reports it.
    func moveOn(_ place: Int, _ number: Int) throws -> String? {
        let before = phones[place]
        guard before.isInstalled else { return nil }
        if number % 3 == 0 {
            phones[place].country = before.country == "CN" ? "JP" : "CN"
        } else {
            phones[place].system = before.system == Phone.oldSystem || before.system == nil ? "15.2" : "16.1"
        }
        let phone = phones[place]
        do {
            switch number / 3 % 2 {
            case 0 where number % 3 != 0: _ = try login(place)
            default: try put(place)
            }
        } catch {
            (phones[place].system, phones[place].country) = (before.system, before.country)
            throw error
        }
        return
            "phone \(phone.number) of app \(phone.app) has the system \(phone.system ?? "unknown") and is in \(phone.country ?? "no country")"
    }

    /// A user gets one more phone, of either app, now and then a developer's.
    func buyPhone(_ first: Int, _ second: Int) throws -> String? {
        let app = first % settings.apps.count
        guard phones.count < settings.apps.count * (settings.setup["devices"] + 3), !phones.isEmpty else { return nil }
        let user = phones[second % phones.count].user
        let isSandbox = settings.setup["sandbox", app] == 1 && !settings.isAndroid(app) && second % 3 == 0
        let number = (phones.lazy.filter { $0.app == app }.map(\.number).max() ?? 0) + 1
        var phone = Phone(
            number: number, app: app, isAndroid: settings.isAndroid(app), user: user, version: 1 + second % 2,
            isSandbox: isSandbox, isAstray: false)
        if settings.setup["system", app] == 1 || second % 2 == 0 { phone.system = "15.2" }
        if second % 4 == 0 { phone.country = "JP" }
        phones.append(phone)
        noteToken(of: phones.count - 1)
        do {
            try put(phones.count - 1)
        } catch {
            phones.removeLast()
            throw error
        }
        return "user \(user.map(String.init) ?? "nobody") has phone \(number) of app \(app), too"
    }
}
