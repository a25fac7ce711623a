// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Synchronization

/// Until when the service wants no other token of a key, and no pushes with it.
///
/// It is the key's as the service knows it, by its id: of all that sign in its name, with whichever file. May be used from any
/// thread.
package final class CredentialPause: Sendable {
    private let end = Mutex<Timestamp?>(nil)

    package init() {}

    /// It may be past; nil where the service never wanted one.
    var until: Timestamp? { end.withLock { $0 } }

    func extend(to time: Timestamp) {
        end.withLock { end in end = max(end ?? time, time) }
    }
}
