// SPDX-License-Identifier: Apache-2.0
import HTTP2
import Threading

/// Brings what a lane hands back to the dispatcher's mailbox.
final class LaneReceiver: BatchReceiver {
    private let mailbox: Mailbox<FanOut.Event>
    private let lane: Int

    init(mailbox: Mailbox<FanOut.Event>, lane: Int) {
        self.mailbox = mailbox
        self.lane = lane
    }

    func finished(_ batch: RequestBatch) {
        mailbox.post(.returned(batch))
    }

    func pool(_ pool: PoolID, is condition: PoolCondition) {
        mailbox.post(.pool(pool, lane: lane, condition))
    }

    func pool(_ pool: PoolID, carries streams: Int) {
        mailbox.post(.width(pool, lane: lane, streams: streams))
    }
}
