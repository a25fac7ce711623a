// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// Phones that get another token and name the one before (APPS.md).
extension World {
    func replaceToken(of place: Int, _ name: String, _ number: Int) throws -> String? {
        guard let relay, phones[place].isInstalled else { return nil }
        let (app, old) = (phones[place].app, token(phones[place]))
        var phone = phones[place]
        phone.installation += 1
        let new = token(phone)
        let outcome = try relay.store.register(
            registration(phone, version: phone.version), replacing: old, at: clock.now.wall)
        phones[place] = phone
        noteToken(of: place)
        let oldKey = registryKey(app, old)
        if outcome.replaced == .moved ? !model.registry.mayBeThere(oldKey) : !model.registry.mayBeGone(oldKey) {
            model.broke("registry.twice", "\(name) has another token, and its device is said to be \(outcome.replaced)")
        }
        model.registry.moves(
            from: oldKey, to: registryKey(app, new), Self.word(try registration(phone, version: phone.version)),
            at: clock.now.wall.milliseconds)
        // FCM takes the older token for a while; APNs does not.
        if number % 2 == 1 { phonesByToken["\(app)/\(old)"] = (place, phone.installation) }
        replaced["\(app)/\(old)"] = place
        // The new token was never in use: an existing device moves to it, whatever the relay reports.
        guard outcome.replaced != .unknown else {
            model.device(app, new) {
                ($0.isRegistered, $0.user, $0.version) = (true, phone.user, phone.version)
                $0.isTooOld = phone.isTooOld
            }
            return "\(name) has another token, and the one before had no device"
        }
        pushes.moved(app, from: old, to: new)
        for block in model.blocks.indices where model.blocks[block].app == app {
            model.blocks[block].moved(from: old, to: new)
        }
        model.moved(app, from: old, to: new) {
            ($0.isRegistered, $0.user, $0.version) = (true, phone.user, phone.version)
            $0.isTooOld = phone.isTooOld
        }
        if pushes.calledDead.contains("\(app)/\(old)") { model.changed(app, new) }
        return "\(name) has another token, and its device moves"
    }

    /// No device is under a token that was replaced: such a token never comes back.
    func judgeReplaced(_ relay: Relay) {
        for (name, place) in replaced.sorted(by: { $0.key < $1.key }) {
            let phone = phones[place]
            let old = String(name.drop { $0 != "/" }.dropFirst())
            guard let device = try? relay.store.device(settings.key(phone.app), token: old) else { continue }
            model.broke(
                "registry.twice",
                "phone \(phone.number) of app \(phone.app) is device \(device.id) under a token that it has replaced")
        }
    }
}
