// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import Requirements
import Testing

@testable import RelayDaemon

@Suite struct TroubleNoticesTests {
    private func fault(_ part: String, _ reason: String = "it is full") -> ReadinessFault {
        ReadinessFault(part: part, reason: reason)
    }

    private func said(_ watch: inout TroubleNotices, _ faults: ReadinessFault...) -> [String] {
        watch.look(faults).map { "\($0.type.rawValue) \($0.part) \($0.reason)" }
    }

    @Test func `What lasts is told once, and when it is over; what passes is not`() {
        var watch = TroubleNotices()
        #expect(said(&watch, fault("store")) == [])
        #expect(said(&watch) == [])
        #expect(said(&watch, fault("store")) == [])
        #expect(said(&watch, fault("store"), fault("other")) == ["relay.degraded store it is full"])
        #expect(said(&watch, fault("store", "it is locked"), fault("store")) == [])
        #expect(said(&watch) == ["relay.recovered store "])
        #expect(said(&watch) == [])
    }

    @Test func `A store that went back is told of by another`() {
        var watch = TroubleNotices()
        for _ in 1...3 { #expect(said(&watch, fault("past"), fault("past")) == []) }
        #expect(said(&watch) == [])
    }

    @Test func `A certificate that ends has an event of its own`() {
        var watch = TroubleNotices()
        _ = said(&watch, fault("certificate:a", "ends"))
        #expect(said(&watch, fault("certificate:a", "ends")) == ["certificate.endsSoon certificate:a ends"])
    }
}
