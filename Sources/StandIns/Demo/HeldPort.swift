// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer

/// A TCP port on loopback that no other program is given while this lives, so that a daemon which starts seconds later, or
/// again after a kill, can listen on it. Any thread.
final class HeldPort: Sendable {
    let number: UInt16
    private let descriptor: Int32

    init() throws(ServerStartError) {
        descriptor = try ListenSocket.bound(ListenAddress(host: "127.0.0.1", port: 0))
        number = ListenSocket.port(of: descriptor) ?? 0
    }

    deinit { close(descriptor) }
}
