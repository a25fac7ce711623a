// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

extension SourceLoop {
    /// Asks the app's store at once, as far as its pace allows, as something may have happened there.
    mutating func hasten(_ app: AppKey) {
        for index in watched.indices where watched[index].source.app == app { hasten(index) }
    }

    /// - Parameter isAlsoLookup: whether the App Store's lookup is asked, too: it answers few questions a minute.
    mutating func hasten(_ index: Int, isAlsoLookup: Bool = false) {
        let now = runner.clock()
        if watched[index].asking != nil {
            watched[index].isHastened = true
            return
        }
        switch watched[index].kind {
        case .appStore(let source, var machine) where isAlsoLookup:
            machine.hasten(at: now)
            watched[index].kind = .appStore(source, machine)
        case .appStoreConnect(let source, var machine):
            machine.hasten(at: now)
            watched[index].kind = .appStoreConnect(source, machine)
        case .googlePlay(let source, var machine):
            machine.hasten(at: now)
            watched[index].kind = .googlePlay(source, machine)
        default: break
        }
    }

    // MARK: The lookup as a cross-check

    private static func crossCheckPart(_ app: AppKey) -> String {
        "source:\(app.app)/\(app.platform.rawValue):crossCheck"
    }

    /// Begins cross-checks for the apps that have both sources, and forgets those of other apps.
    mutating func adoptCrossChecks() {
        let gates = runner.status.read { $0.gates }
        let apps = Set(gates.filter { $0.value.kinds.isSuperset(of: [.appStore, .appStoreConnect]) }.keys)
        let gone = crossChecks.keys.filter { !apps.contains($0) }
        for app in gone { crossChecks[app] = nil }
        for app in apps where crossChecks[app] == nil { crossChecks[app] = StoreCrossCheck() }
        runner.status.write { state in
            for app in gone { _ = state.faults.clear(Self.crossCheckPart(app)) }
            for app in apps {
                let part = Self.crossCheckPart(app)
                if state.figures[part] == nil { state.figures[part] = SourceFigures(app: app, name: "crossCheck") }
            }
        }
    }

    /// Compares the two sources, after one of them answered.
    mutating func crossCheck(_ app: AppKey) {
        guard var check = crossChecks[app] else { return }
        let lookup = runner.status.lookup(of: app)
        let reason = check.update(lookup: lookup, exact: runner.status.releases(of: app))
        crossChecks[app] = check
        let part = Self.crossCheckPart(app)
        let now = runner.clock()
        let isNews = runner.status.write { state in
            guard let reason else {
                state.figures[part]?.lastSuccess = now
                return state.faults.clear(part)
            }
            guard state.faults.set(part, reason) else { return false }
            state.figures[part]?.failures += 1
            return true
        }
        guard isNews else { return }
        if let reason {
            runner.log(.warning, "two sources of one store disagree", [("source", part), ("reason", reason)])
        } else {
            runner.log(.notice, "two sources of one store agree again", [("source", part)])
        }
    }
}
