// SPDX-License-Identifier: Apache-2.0

extension ServiceMachine {
    /// How a batch ended.
    package struct End: Sendable, Equatable {
        package var source: BatchScheduler.Source
        package var tag: Int
        package var pushes: Int
        /// The shard as it is now; nil where nothing was recorded, and the batch is read again.
        package var shard: ShardRange?
        /// When the first of its retries is due.
        package var earliestRetry: Timestamp?
        /// For a batch of retries: when the ledger's next retry is due.
        package var nextRetry: Timestamp?
        /// Pushes that no connection was available for, and how long until the next one is dialled.
        package var unreached = 0
        package var rest = Duration.zero
        /// Pushes that were sent again on another connection.
        package var resends = 0

        package init(source: BatchScheduler.Source, tag: Int, pushes: Int) {
            self.source = source
            self.tag = tag
            self.pushes = pushes
        }
    }
}
