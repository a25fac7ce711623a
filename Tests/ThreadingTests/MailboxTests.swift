// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import Testing
import Threading

@Suite("Mailboxes", .ownThread)
struct MailboxTests {
    @Test("what many threads post arrives once, each thread's in its order")
    func order() throws {
        let mailbox = try Mailbox<(thread: Int, number: Int)>()
        let threads = try (0..<4).map { thread in
            try NativeThread(name: "poster") {
                for number in 0..<500 { mailbox.post((thread, number)) }
            }
        }
        var numbers = [[Int]](repeating: [], count: 4)
        while numbers.contains(where: { $0.count < 500 }) {
            let events = mailbox.take(timeout: .seconds(60))
            // No wait ends without an event.
            guard !events.isEmpty else { break }
            for event in events { numbers[event.thread].append(event.number) }
        }
        #expect(numbers.allSatisfy { $0 == Array(0..<500) })
        for thread in threads { thread.join() }
    }

    @Test("who waits for less than a millisecond does not wake before it is over")
    func neverEarly() throws {
        let mailbox = try Mailbox<Int>()
        for wait in [Duration.microseconds(300), .microseconds(1500)] {
            let began = MonotonicClock.now()
            #expect(mailbox.take(timeout: wait).isEmpty)
            #expect(MonotonicClock.now() - began >= wait)
        }
    }

    @Test("a time that is over already does not wait")
    func past() throws {
        let mailbox = try Mailbox<Int>()
        mailbox.post(7)
        #expect(mailbox.take(timeout: .seconds(-1)) == [7])
        #expect(mailbox.take(timeout: .seconds(-1)).isEmpty)
    }

    @Test("what is left is handed out when it closes, and nothing is taken afterwards")
    func closing() throws {
        let mailbox = try Mailbox<Int>()
        #expect(mailbox.post(1))
        #expect(mailbox.close() == [1])
        #expect(!mailbox.post(2))
        #expect(mailbox.take().isEmpty)
    }

    @Test("who waits wakes for an event, and for another descriptor, long before the time is over")
    func waking() throws {
        let mailbox = try Mailbox<Int>()
        let other = try Mailbox<Int>()
        let began = MonotonicClock.now()
        other.post(1)
        #expect(mailbox.take(timeout: .seconds(60), orReadable: other.descriptor).isEmpty)
        let poster = try NativeThread(name: "poster") { mailbox.post(7) }
        #expect(mailbox.take(timeout: .seconds(60)) == [7])
        poster.join()
        #expect(MonotonicClock.now() - began < .seconds(30))
    }
}
