// SPDX-License-Identifier: Apache-2.0

/// The daemon: store, API, fan-out, wired together.
enum Daemon {
    /// Runs until SIGTERM or SIGINT.
    static func run(configuration: RelayConfiguration) async throws {
        throw CommandFailure(.failed, "the daemon is not wired yet")
    }
}
