// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The threads that serve one door's connections.
final class ServingThreads: Sendable {
    private let threads: [ServingThread]
    private let taken = Atomic<Int>(0)

    /// - Parameter limit: connections of each thread.
    init(_ count: Int, limit: UInt32, context: HTTPDaemon.Context) throws(ServerStartError) {
        var threads: [ServingThread] = []
        do throws(ServerStartError) {
            for _ in 0..<count {
                let thread = try ServingThread(context)
                try thread.start(limit: limit)
                threads.append(thread)
            }
        } catch {
            for thread in threads { thread.stop() }
            throw error
        }
        self.threads = threads
    }

    /// Gives a connection to one of the threads, in turns. See `ServingThread.take`.
    @unsafe
    func take(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) {
        let turn = taken.wrappingAdd(1, ordering: .relaxed).oldValue
        unsafe threads[turn % threads.count].take(descriptor, address, length)
    }

    /// Joins the threads. There must be no connection any more.
    func stop() {
        for thread in threads { thread.stop() }
    }
}
