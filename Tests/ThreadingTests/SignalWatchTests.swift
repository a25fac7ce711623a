// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Testing
import Threading

/// No other test here uses SIGUSR2.
@Suite(.serialized) struct SignalWatchTests {
    /// libdispatch's signal sources lost a signal that came right after the watch began. The watch must report it as soon as its
    /// default action is off.
    @Test func aSignalThatComesAtOnceIsReported() throws {
        let mailbox = try Mailbox<CInt>()
        for _ in 0..<500 {
            let watch = try SignalWatch([SIGUSR2]) { mailbox.post($0) }
            kill(getpid(), SIGUSR2)
            #expect(mailbox.take(timeout: .seconds(60)) == [SIGUSR2])
            watch.cancel()
        }
    }

    @Test func eachWatchHasItsSignalsAndTheLastGivesThemBack() throws {
        let mailbox = try Mailbox<String>()
        let first = try SignalWatch([SIGUSR2]) { mailbox.post("first \($0 == SIGUSR2)") }
        let other = try SignalWatch([SIGWINCH]) { mailbox.post("other \($0 == SIGWINCH)") }
        kill(getpid(), SIGWINCH)
        #expect(mailbox.take(timeout: .seconds(60)) == ["other true"])
        kill(getpid(), SIGUSR2)
        #expect(mailbox.take(timeout: .seconds(60)) == ["first true"])
        for watch in [first, other] { watch.cancel() }
        var action = sigaction()
        sigaction(SIGUSR2, nil, &action)
        #expect(unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0, "the default action")
    }
}
