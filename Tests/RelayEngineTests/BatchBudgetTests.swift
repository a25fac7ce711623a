// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayEngine

@Suite struct BatchBudgetTests {
    private typealias Share = BatchBudget.Share

    private let budget: BatchBudget = {
        var limits = BatchLimits()
        limits.batchSize = 500
        return BatchBudget(limits)
    }()

    private func batches(_ streams: [Int]) -> [Int] { budget.shares(streams: streams).map(\.batches) }

    @Test func servicesGetWhatFillsTheirStreams() {
        #expect(batches([]) == [])
        #expect(batches([0]) == [16])
        #expect(batches([1000]) == [18])
        #expect(batches([1, 8000]) == [17, 32])
        #expect(budget.mostBatches == 96)
        #expect(batches([1_000_000]) == [80], "bounded in all")
        #expect(batches([16_000, 16_000, 16_000]) == [10 + 22, 10 + 22, 10 + 22], "equal parts")
        #expect(batches([50_000, 2000, 50_000]) == [10 + 30, 10 + 4, 10 + 30], "the modest get theirs")
    }

    @Test func aServiceThatAnswersAtOnceGetsTwiceTheBaseAndTheSameStreams() {
        #expect(budget.shares(streams: [1000]).map(\.quickBatches) == [34])
        #expect(budget.shares(streams: [0, 1000, 0]).map(\.quickBatches) == [21, 23, 21])
    }

    /// The devices in flight do not grow with the number of services.
    @Test(arguments: [3, 10, 16, 40, 80, 160])
    func manyServicesShareWhatTwoHave(services: Int) {
        let shares = budget.shares(streams: [Int](repeating: 0, count: services))
        let devices = shares.reduce(0) { $0 + $1.batches * $1.batchSize }
        #expect(devices <= 2 * 16 * 500, "\(devices)")
        #expect(devices >= 16 * 500 / 2)
        let quick = shares.reduce(0) { $0 + $1.quickBatches * $1.batchSize }
        #expect(quick <= 2 * devices + services * 500, "one batch more where the half of one is left")
        #expect(shares.allSatisfy { $0.batches >= 1 && $0.batchSize >= BatchBudget.smallestBatch })
    }

    @Test func aBatchIsNeverSmallerThanItsTransactionIsWorth() {
        let shares = budget.shares(streams: [Int](repeating: 0, count: 1_000))
        #expect(shares.allSatisfy { $0 == Share(batches: 1, quickBatches: 1, batchSize: BatchBudget.smallestBatch) })
    }
}
