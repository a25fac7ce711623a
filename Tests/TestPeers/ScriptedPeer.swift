// SPDX-License-Identifier: Apache-2.0
import CLinux
import COpenSSL
import Glibc
import Threading

/// One request as the peer saw it.
package struct SeenRequest: Sendable {
    /// Connections count from 0 in the order in which they came, requests of a connection from 1.
    package let connection: Int
    package let number: Int
    package let streamID: Int32
    /// When it was complete, or its header fields if the peer is hasty.
    package var at = ContinuousClock.now
    package var headers: [String: String] = [:]
    package var body: [UInt8] = []
}

/// One step of the peer's reaction to a request.
package indirect enum Step: Sendable {
    case answer(Int, [String: String] = [:], String = "")
    /// The stream stays open until `release`.
    case hold
    case settings(maximumStreams: Int)
    case goAway(lastStreamID: Int32, code: UInt32 = 0, debug: String = "")
    case reset(code: UInt32)
    /// Closes TCP without TLS's or HTTP's farewell.
    case cut
    /// Writes and reads nothing more, and ends only TCP's output. Unlike after `cut`, all that was written arrives: there is no
    /// reset, which discards what the client has not read yet (RFC 9293, 3.10.7).
    case endOfOutput
    /// Bytes as they are, sent `times` times or until the connection ends.
    case raw([UInt8], times: Int = 1)
    /// Neither reads nor writes from now on.
    case silence
    /// A step after a delay.
    case after(Duration, Step)
}

/// How the peer receives a connection, before any HTTP.
package enum Reception: Sendable {
    case serve
    /// Closes it before TLS.
    case hangUp
    /// Accepts it and sends nothing, not even TLS.
    case ignore
    /// Speaks something that is not TLS.
    case babble
}

/// How the peer is set up; the default is a good HTTP/2 server.
package struct PeerManner: Sendable {
    /// "127.0.0.1" or "::1".
    package var address = "127.0.0.1"
    /// 0: the system's choice.
    package var port: UInt16 = 0
    package var maximumStreams: Int? = 1000
    package var speaksHTTP2 = true
    /// The script is asked once a request's header fields are there, without waiting for its end.
    package var isHasty = false
    /// Versions as OpenSSL numbers them, 0x0302 for TLS 1.1; nil: the library's default.
    package var tlsVersion: Int?
    /// SETTINGS_INITIAL_WINDOW_SIZE by connection; nil: 65535.
    package var window: @Sendable (Int) -> Int? = { _ in nil }
    /// SETTINGS_HEADER_TABLE_SIZE; nil: 4096.
    package var headerTableSize: Int?
    /// By connection.
    package var reception: @Sendable (Int) -> Reception = { _ in .serve }

    package init() {}
}

/// A TLS HTTP/2 server on loopback that follows the test's script: one thread per connection.
package final class ScriptedPeer: Sendable {
    package struct State: Sendable {
        package var connections = 0
        /// When each connection came.
        package var connectedAt: [ContinuousClock.Instant] = []
        package var open = 0
        package var requests: [SeenRequest] = []
        /// When answers of the script were given, on which connection.
        package var answers: [(at: ContinuousClock.Instant, connection: Int)] = []
        /// The largest number of streams open at once on any connection.
        package var widest = 0
        package var goodbyes: [UInt32] = []
        package var releases = 0
        package var releaseStatus = 200
        package var isStopping = false
        /// An eventfd for each connection that lives: it is written to when `releases` or `isStopping` has changed.
        fileprivate(set) var bells: Set<Int32> = []
        package var pings = 0
        package var resets: [UInt32] = []
    }

    package typealias Script = @Sendable (SeenRequest) -> [Step]

    package let port: UInt16
    package let state = Watched(State())
    /// Keeps the port from the next test's peer after this one was stopped: a client that still dials it must not be counted there.
    private let place: Loopback.ReservedPort?
    private let listener: Int32
    private let thread: NativeThread

    package init(_ identity: TestIdentity, _ manner: PeerManner, script: @escaping Script) throws {
        let context = ServerContext(try Self.context(identity, manner))
        place = manner.port == 0 ? try Loopback.ReservedPort(manner.address) : nil
        (listener, port) = try Loopback.listen(manner.address, port: place?.port ?? manner.port)
        thread = try NativeThread(name: "peer") { [listener, state] in
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0, !state.now.isStopping else {
                    if socket >= 0 { close(socket) }
                    return
                }
                let number = state.change { state in
                    state.connections += 1
                    state.connectedAt.append(.now)
                    state.open += 1
                    return state.connections - 1
                }
                let connection = PeerConnection(
                    number: number, socket: socket, context: context, state: state, manner: manner, script: script)
                state.change { _ = $0.bells.insert(connection.bell) }
                (try? NativeThread(name: "peer \(number)") {
                    connection.run()
                    state.change { state in
                        // Before the number is reused: `ring` looks it up under the same lock.
                        state.bells.remove(connection.bell)
                        close(connection.bell)
                        state.open -= 1
                    }
                })?.detach()
            }
        }
    }

    private static func context(_ identity: TestIdentity, _ manner: PeerManner) throws -> OpaquePointer {
        guard let context = SSL_CTX_new(TLS_server_method()),
            SSL_CTX_use_certificate_chain_file(context, identity.chainPath) == 1,
            SSL_CTX_use_PrivateKey_file(context, identity.keyPath, SSL_FILETYPE_PEM) == 1
        else { throw PeerError("TLS context") }
        if let version = manner.tlsVersion {
            // Debian's default security level refuses to speak TLS 1.1 at all.
            SSL_CTX_set_security_level(context, 0)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, version, nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, version, nil)
        }
        if manner.speaksHTTP2 {
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, out, outCount, offered, offeredCount, _ in
                    // RFC 7301: length-prefixed names.
                    guard let offered, offeredCount >= 3, offered[0] == 2, offered[1] == 0x68, offered[2] == 0x32 else {
                        return SSL_TLSEXT_ERR_NOACK
                    }
                    out?.pointee = offered + 1
                    outCount?.pointee = 2
                    return SSL_TLSEXT_ERR_OK
                }, nil)
        }
        return context
    }

    /// Answers every stream that is held now; one that is held later waits for the next call.
    package func release(status: Int = 200) {
        state.change { state in
            state.releases += 1
            state.releaseStatus = status
            Self.ring(state)
        }
    }

    private static func ring(_ state: State) {
        for bell in state.bells { eventfd_write(bell, 1) }
    }

    /// Ends all connections and waits until they are gone.
    package func stop() {
        state.change { state in
            state.isStopping = true
            Self.ring(state)
        }
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
        _ = state.wait { $0.open == 0 }
    }
}

/// `@unchecked Sendable`: "SSL_CTX objects may be shared by threads once they are set up" (openssl-threads(7)), and so it is.
final class ServerContext: @unchecked Sendable {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { SSL_CTX_free(pointer) }
}

package struct PeerError: Error {
    package let what: String
    package init(_ what: String) { self.what = what }
}
