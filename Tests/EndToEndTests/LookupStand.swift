// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestPeers
import Threading

/// A stand-in for the App Store's lookup on loopback.
final class LookupStand: Sendable {
    private let version: Mutex<(version: String, released: String?)?>
    private let questions = Mutex(0)
    private let asked = NSCondition()
    private let listener: Int32
    private let thread: NativeThread
    let port: UInt16

    /// Sets the version that it lists; nil: the app is not in the store.
    ///
    /// - Parameter released: the release date; nil: the answer has none.
    func list(_ version: String?, released: String? = "2016-11-20T21:03:47Z") {
        self.version.withLock { $0 = version.map { ($0, released) } }
    }

    init() throws {
        version = Mutex(nil)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound, listen(listener, 16) == 0 else { throw Unexpected("the lookup's stand-in cannot listen") }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        let body = Mutex<@Sendable () -> String>({ "" })
        thread = try NativeThread(name: "lookup") {
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0 else { return }
                var buffer = [UInt8](repeating: 0, count: 8192)
                // The question is one small GET: it comes in one piece on loopback.
                if recv(socket, &buffer, buffer.count, 0) > 0 {
                    let text = body.withLock { $0 }()
                    let answer =
                        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
                    _ = send(socket, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                }
                close(socket)
            }
        }
        body.withLock { $0 = { [weak self] in self?.answer() ?? "" } }
    }

    private func answer() -> String {
        asked.lock()
        questions.withLock { $0 += 1 }
        asked.broadcast()
        asked.unlock()
        guard let shown = version.withLock({ $0 }) else { return #"{"resultCount":0,"results":[]}"# }
        return """
            {"resultCount":1,"results":[{"version":"\(shown.version)","bundleId":"\(Workbench.app)",
            \(shown.released.map { #""currentVersionReleaseDate":"\#($0)","# } ?? "")"trackId":1173193999,"fileSizeBytes":"24063488"}]}
            """
    }

    /// Waits for `count` further questions.
    func wait(forQuestions count: Int) throws {
        asked.lock()
        defer { asked.unlock() }
        let goal = questions.withLock { $0 } + count
        let end = Date(timeIntervalSinceNow: 60)
        while questions.withLock({ $0 < goal }) {
            guard asked.wait(until: end) else { throw Unexpected("the relay does not ask the lookup") }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }
}
