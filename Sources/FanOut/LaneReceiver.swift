// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import Threading

/// Brings what a lane hands back to the dispatcher's mailbox.
package final class LaneReceiver: BatchReceiver {
    private let mailbox: Mailbox<FanOut.Event>
    private let lane: Int

    package init(mailbox: Mailbox<FanOut.Event>, lane: Int) {
        self.mailbox = mailbox
        self.lane = lane
    }

    package func finished(_ batch: RequestBatch) {
        mailbox.post(.returned(batch))
    }

    package func pool(_ pool: PoolID, is condition: PoolCondition) {
        mailbox.post(.pool(pool, lane: lane, condition))
    }

    package func pool(_ pool: PoolID, carries streams: Int) {
        mailbox.post(.width(pool, lane: lane, streams: streams))
    }
}
