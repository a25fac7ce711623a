// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Threading

/// A proxy on loopback between a client and a server that fails on request: it holds back all bytes, or ends all connections.
package final class StallingProxy: Sendable {
    package struct State: Sendable {
        /// The number of connections since it began.
        package var connections = 0
        /// Whether bytes are held back. Connections are still accepted, and connected to the server.
        package var isStalled = false
        fileprivate var isStopping = false
        /// Both ends of each connection.
        fileprivate var ends: [Int: [Int32]] = [:]
    }

    package let state = Watched(State())
    package let port: UInt16
    private let place: Loopback.ReservedPort
    private let listener: Int32
    private let thread: NativeThread

    /// - Parameter server: the port on loopback that it leads to.
    package init(to server: UInt16) throws {
        place = try Loopback.ReservedPort()
        (listener, port) = try Loopback.listen(port: place.port)
        thread = try NativeThread(name: "stalling proxy") { [listener, state] in
            while true {
                let client = Loopback.accept(listener)
                guard client >= 0 else { return }
                (try? NativeThread(name: "tunnel") { Self.serve(client, server, state) })?.detach()
            }
        }
    }

    /// From now on no byte passes, in either direction, until `release`.
    package func stall() { state.change { $0.isStalled = true } }

    /// Lets bytes pass again, those that were held back first.
    package func release() { state.change { $0.isStalled = false } }

    /// Ends all connections, with the bytes in flight. New ones are accepted.
    package func cut() { state.change { Self.end($0) } }

    private static func end(_ state: State) {
        for socket in state.ends.values.joined() { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    package func stop() {
        state.change { state in
            (state.isStopping, state.isStalled) = (true, false)
            Self.end(state)
        }
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
        _ = state.wait { $0.ends.isEmpty }
    }

    private static func serve(_ client: Int32, _ port: UInt16, _ state: Watched<State>) {
        // If no server listens behind it, the client finds its connection ended.
        guard let server = try? Loopback.connect("127.0.0.1", port: port) else {
            close(client)
            return
        }
        let number = state.change { state in
            state.connections += 1
            state.ends[state.connections] = [client, server]
            if state.isStopping { end(state) }
            return state.connections
        }
        carry(client, server, state)
        state.change { state in
            state.ends[number] = nil
            close(client)
            close(server)
        }
    }

    /// Until either side has closed its end.
    private static func carry(_ client: Int32, _ server: Int32, _ state: Watched<State>) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&ends, 2, -1)
            for (from, to) in [(0, server), (1, client)] where ends[from].revents != 0 {
                let count = read(ends[from].fd, &buffer, buffer.count)
                guard count > 0 else { return }
                // A cut during the wait shows at the write.
                _ = state.wait(seconds: 3600) { !$0.isStalled }
                guard send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
            }
        }
    }
}
