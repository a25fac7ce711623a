// SPDX-License-Identifier: Apache-2.0
import Signing
import Threading

/// One client: its socket, its TLS, its session. Belongs to the loop's thread.
package final class SimulatorConnection {
    /// The loop's next action.
    package enum Need: Equatable {
        case reading
        /// Also wait until the socket can be written.
        case writing
        /// Wait only for the client to close the connection.
        case silence
        /// All is sent: discard the client's further bytes, then close. Closing at once would make the kernel send a reset,
        /// which can overtake the GOAWAY.
        case drain
        case close
        /// Close with RST, even if all of the client's bytes have been read.
        case reset
    }

    let number: UInt64
    let socket: Descriptor
    /// nil until the handshake has settled the protocol.
    private(set) var session: (any SimulatorSession)?
    private let makeSession: (_ speaksHTTP2: Bool) -> (any SimulatorSession)?
    /// The epoll events for which the loop has registered the socket.
    var watched: PollSet.Interest = []
    private let tls: TLSConnection
    private let judge: RequestJudge
    private var isSilent = false
    private var output: [UInt8] = []
    private var outputSent = 0

    /// The number of TLS records that are read before their answers are written, in one system call for some 150 pushes.
    /// Without this limit, a fast client would never get an answer.
    private static let recordsAtOnce = 4

    /// Nil if there is no memory.
    ///
    /// - Parameter session: makes the session once the protocol is known; nil: there is no memory.
    init?(
        number: UInt64, socket: consuming Descriptor, tls context: ServerTLS, judge: RequestJudge,
        session: @escaping (_ speaksHTTP2: Bool) -> (any SimulatorSession)?
    ) {
        guard let tls = context.connection(on: socket.number) else { return nil }
        self.number = number
        self.socket = socket
        self.tls = tls
        self.judge = judge
        makeSession = session
        output.reserveCapacity(2 * 16_384)
        judge.connectionOpened()
    }

    deinit { judge.connectionClosed() }

    /// Reads all there is, answers it, writes. `buffer` is scratch memory of the loop.
    func socketReadable(_ buffer: UnsafeMutableRawBufferPointer) -> Need {
        var records = 0
        while true {
            switch unsafe tls.read(into: buffer) {
            case .bytes(let count):
                records += 1
                guard let session = introduced() else { return .close }
                let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                if let end = unsafe session.receive(UnsafeBufferPointer(start: start, count: count)) {
                    judge.publish()
                    isSilent = end == .silence
                    if end == .drain {
                        if flush() == .close { return .close }
                        tls.close()
                    }
                    return end
                }
                guard records % Self.recordsAtOnce == 0 else { continue }
                let need = flush()
                if need != .reading { return need }
            case .wantsRead: return flush()
            case .wantsWrite: return .writing
            case .over: return .close
            }
        }
    }

    func socketWritable() -> Need {
        flush()
    }

    /// The session; nil before the handshake is done, or where there is no memory.
    private func introduced() -> (any SimulatorSession)? {
        if session == nil, tls.isHandshakeDone {
            session = makeSession(tls.speaksHTTP2)
            if let client = tls.client { session?.clientShowed(client) }
        }
        return session
    }

    /// Writes until nothing is left or the socket is full.
    func flush() -> Need {
        if isSilent { return .silence }
        guard tls.isHandshakeDone else { return .reading }
        guard let session = introduced() else { return .close }
        while true {
            if outputSent == output.count {
                outputSent = 0
                session.pack(into: &output)
                if output.isEmpty {
                    guard session.isOver else { return .reading }
                    tls.close()
                    return .drain
                }
            }
            // All that a client may read next must be on record first.
            judge.publish()
            switch unsafe output.withUnsafeBytes({
                unsafe tls.write(UnsafeRawBufferPointer(rebasing: $0[outputSent...]))
            })
            {
            case .bytes(let count): outputSent += count
            case .wantsWrite: return .writing
            case .wantsRead: return .reading
            case .over: return .close
            }
        }
    }
}
