// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import Notifications
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import VersionSources

/// The running daemon, for the API: the operations on requirements (`RequirementControl`), and the state of the daemon's own
/// parts.
///
/// Used from the HTTP server's threads.
struct DaemonControl: RelayControl {
    let store: any RelayStore
    let control: RequirementControl
    var requirements: any RequirementOperations { control }
    let active: ActiveConfiguration.Shared
    let fanOut: FanOut
    let sources: SourceRunner
    let notifier: Notifier
    let tokenSources: TokenSources
    let reloads: ReloadRequests
    let certificates: CertificateWatch
    let keeper: NodeKeeper?
    /// This relay as described at the start; `node` has the current digest.
    let ownNode: OwnNode
    /// As at the start, with the address in use, which may be that of systemd's socket.
    let listen: ListenConfiguration
    let log: Log
    let clock: @Sendable () -> Timestamp

    func profile(of app: AppKey) -> AppProfile? {
        active.current.apps[app].map { AppProfile($0) }
    }

    func apps() -> [AppKey] {
        active.current.apps.keys.sorted()
    }

    func releaseRules(of app: AppKey) -> ReleaseRules {
        active.current.apps[app]?.webhooks ?? ReleaseRules()
    }

    func versionLookup(of app: AppKey) -> (any VersionLookup)? {
        sources.hasLookup(app) ? sources : nil
    }

    var node: OwnNode {
        var own = ownNode
        own.description.configuration = active.current.digest
        return own
    }

    // MARK: Readiness

    func faults() -> [ReadinessFault] {
        let faults = fanOut.faults().merging(sources.faults()) { first, _ in first }
        let known = faults.map { ReadinessFault(part: $0.key, reason: $0.value) } + (reloads.fault.map { [$0] } ?? [])
        let node = (keeper?.fault).map { [ReadinessFault(part: "node", reason: $0)] } ?? []
        let claims = (keeper?.claimFault).map { [ReadinessFault(part: "claims", reason: $0)] } ?? []
        let past = store.membership.memory.fall.map {
            [ReadinessFault(part: ReadinessFault.past, reason: "\($0.error)")]
        }
        return (known + certificates.faults(at: clock()) + node + claims + (past ?? [])).sorted { $0.part < $1.part }
    }

    func warnings() -> [ReadinessFault] {
        let fleet = (keeper?.warning).map { [ReadinessFault(part: "relays", reason: $0)] } ?? []
        var listen = listen
        listen.isPlainMeant = active.current.isPlainMeant
        let plain = listen.plainFault.map { [ReadinessFault(part: "listen", reason: "\($0)")] }
        return certificates.warnings(at: clock()) + (plain ?? []) + fleet + control.versionCache.warnings()
    }
}
