// SPDX-License-Identifier: Apache-2.0

/// How large batches are and how many may be on their way.
package struct BatchLimits: Sendable, Equatable {
    /// Devices read at once. Default 2000.
    package var batchSize = 2000
    /// Pushes on their way until the service has shown that it takes them. Default 64.
    package var probeSize = 64
    /// Batches of one service on their way at once, retries included, before `BatchBudget` changes the number. Default 16.
    package var batchesAtOnce = 16

    package init() {}
}
