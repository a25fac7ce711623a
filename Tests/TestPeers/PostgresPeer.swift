// SPDX-License-Identifier: Apache-2.0
import Glibc
import Threading

/// Speaks as much of PostgreSQL's protocol as it takes to let a client in, and then to fail it as the test says
/// (postgresql.org/docs, "Frontend/Backend Protocol"). It has no tables: a statement gives no rows.
package final class PostgresPeer: Sendable {
    package enum Answer: Sendable {
        case done
        /// ERROR, by its SQLSTATE; the session goes on.
        case refuse(String, String = "as the test wants it")
        /// FATAL, by its SQLSTATE, and then the connection is closed.
        case end(String, String = "as the test wants it")
        /// Takes the statement and says nothing more.
        case stall
        /// Closes the connection without a word.
        case cut
    }

    package struct State: Sendable {
        package var connections = 0
        package var cancels = 0
        /// Requirements over time, by any connection: texts of statements, and `name` for each run of a prepared one.
        package var statements: [String] = []
        fileprivate var sockets: Set<Int32> = []
        fileprivate var isStopping = false
    }

    package let port: UInt16
    package let state = Watched(State())
    private let place: Loopback.ReservedPort
    private let listener: Int32
    private let thread: NativeThread

    /// - Parameters:
    ///   - script: what becomes of a statement, given the connection's number, from 0, and the statement's text.
    ///   - arrival: what becomes of a connection before anything else.
    package init(
        script: @escaping @Sendable (Int, String) -> Answer = { _, _ in .done },
        arrival: @escaping @Sendable (Int) -> Answer = { _ in .done }
    ) throws {
        place = try Loopback.ReservedPort()
        (listener, port) = try Loopback.listen(port: place.port)
        thread = try NativeThread(name: "postgres peer") { [listener, state] in
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0 else { return }
                state.change { _ = $0.sockets.insert(socket) }
                (try? NativeThread(name: "postgres session") {
                    Session(socket: socket, state: state, arrival: arrival, script: script).serve()
                    state.change { state in
                        state.sockets.remove(socket)
                        close(socket)
                    }
                })?.detach()
            }
        }
    }

    /// As libpq takes it.
    package var conninfo: String { "host=127.0.0.1 port=\(port) user=relay dbname=relay sslmode=disable" }

    /// Ends all connections and waits until they are gone.
    package func stop() {
        state.change { state in
            state.isStopping = true
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
        _ = state.wait { $0.sockets.isEmpty }
    }
}

/// One connection, on its own thread.
private struct Session {
    let socket: Int32
    let state: Watched<PostgresPeer.State>
    let arrival: @Sendable (Int) -> PostgresPeer.Answer
    let script: @Sendable (Int, String) -> PostgresPeer.Answer

    private static let sslRequest: Int32 = 80_877_103
    private static let gssRequest: Int32 = 80_877_104
    private static let cancelRequest: Int32 = 80_877_102

    func serve() {
        while let length = number(), let code = number(), length >= 8 {
            guard let rest = read(Int(length) - 8) else { return }
            switch code {
            case Self.sslRequest, Self.gssRequest:
                write(Array("N".utf8))
            case Self.cancelRequest:
                state.change { $0.cancels += 1 }
                return
            default:
                _ = rest
                let number = state.change { state in
                    state.connections += 1
                    return state.connections - 1
                }
                let isLetIn = answer(arrival(number), false) {
                    let settings = [
                        "server_version": "15.0", "client_encoding": "UTF8", "in_hot_standby": "off",
                        "default_transaction_read_only": "off", "standard_conforming_strings": "on",
                    ]
                    let said = settings.flatMap { message("S", text($0.key) + text($0.value)) }
                    return message("R", word(0)) + said + message("K", word(1) + word(2))
                }
                if isLetIn { listen(number) }
                return
            }
        }
    }

    private func listen(_ number: Int) {
        var isInTransaction = false
        var known: [String: String] = [:]
        var asked = ""
        var reply: [UInt8] = []
        while let kind = read(1)?.first, let length = self.number(), let body = read(Int(length) - 4) {
            let texts = body.split(separator: 0, omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            switch kind {
            case UInt8(ascii: "X"): return
            case UInt8(ascii: "Q"):
                state.change { $0.statements.append(texts[0]) }
                if texts[0] == "BEGIN" { isInTransaction = true }
                if ["COMMIT", "ROLLBACK"].contains(texts[0]) { isInTransaction = false }
                guard answer(script(number, texts[0]), isInTransaction, { message("C", text("DONE")) }) else { return }
            case UInt8(ascii: "P"):
                (known[texts[0]], asked) = (texts[1], texts[1])
                reply += message("1", [])
            case UInt8(ascii: "B"):
                asked = known[texts[1]] ?? texts[1]
                reply += message("2", [])
            case UInt8(ascii: "D"): reply += message("n", [])
            case UInt8(ascii: "E"): reply += message("C", text("SELECT 0"))
            case UInt8(ascii: "S"):
                state.change { $0.statements.append(asked) }
                defer { reply = [] }
                guard answer(script(number, asked), isInTransaction, { reply }) else { return }
            default: break
            }
        }
    }

    /// - Returns: whether the session goes on.
    private func answer(_ answer: PostgresPeer.Answer, _ isInTransaction: Bool, _ good: () -> [UInt8]) -> Bool {
        func ready(_ state: String) -> [UInt8] { message("Z", Array((isInTransaction ? state : "I").utf8)) }
        switch answer {
        case .done: write(good() + ready("T"))
        case .refuse(let state, let words): write(error("ERROR", state, words) + ready("E"))
        case .end(let state, let words):
            write(error("FATAL", state, words))
            return false
        case .stall:
            // Until the peer is stopped, or the client gives up.
            while read(1) != nil {}
            return false
        case .cut: return false
        }
        return true
    }

    private func error(_ severity: String, _ state: String, _ words: String) -> [UInt8] {
        let fields = [("S", severity), ("V", severity), ("C", state), ("M", words)]
        return message("E", fields.flatMap { Array($0.0.utf8) + text($0.1) } + [0])
    }

    private func message(_ kind: String, _ body: [UInt8]) -> [UInt8] {
        Array(kind.utf8) + word(Int32(body.count + 4)) + body
    }

    private func word(_ number: Int32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }

    private func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    private func number() -> Int32? {
        read(4).map { bytes in bytes.reduce(0) { $0 << 8 | Int32($1) } }
    }

    /// nil at the end.
    private func read(_ count: Int) -> [UInt8]? {
        guard (0...1_000_000).contains(count) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < count {
            var piece = [UInt8](repeating: 0, count: count - bytes.count)
            let got = Glibc.read(socket, &piece, piece.count)
            guard got > 0 else { return nil }
            bytes += piece[..<got]
        }
        return bytes
    }

    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
