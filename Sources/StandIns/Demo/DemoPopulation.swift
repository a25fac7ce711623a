// SPDX-License-Identifier: Apache-2.0
import PushSimulator
import WireFormat

/// The platforms that the demo shows, each with its push service.
enum DemoPlatform: String, CaseIterable, Sendable {
    case ios, android

    var service: any DemoService.Type {
        switch self {
        case .ios: APNsDemo.self
        case .android: FCMDemo.self
        }
    }

    var downloadURL: String {
        switch self {
        case .ios: "https://apps.apple.com/app/id1173193999"
        case .android: "https://play.google.com/store/apps/details?id=\(DemoPopulation.app)"
        }
    }
}

/// The demo's devices of one platform. Each follows from its number alone, so that none has to be kept. Pure.
struct DemoPopulation: Sendable {
    static let app = "com.example.taxi"
    static let otherApp = "com.example.other"
    static let required = "2.0.0"
    static let latest = "2.1.0"

    let platform: DemoPlatform
    /// The number of devices of the app whose version rises.
    let count: Int
    /// The number of devices of another app, to which nothing may be sent.
    let otherCount: Int
    let faults: FaultScript

    init(_ platform: DemoPlatform, count: Int) {
        self.platform = platform
        self.count = count
        otherCount = min(100, max(1, count / 50))
        var faults = FaultScript()
        faults.deadShare = 0.01
        faults.badShare = 0.001
        faults.busyShare = 0.005
        faults.busyTries = 1
        faults.busyRetryAfter = platform.service.busyRetryAfter
        self.faults = faults
    }

    struct Device: Sendable, Equatable {
        var token: String
        var telephone: String?
        var version: String?

        /// The device as a line of an import.
        var json: [UInt8] {
            var writer = JSONWriter()
            writer.object { writer in
                writer.member(PersonalField.token.rawValue, token)
                writer.member(PersonalField.telephone.rawValue, telephone)
                writer.member(.version, version)
            }
            return writer.bytes
        }
    }

    /// The expected outcome of a device.
    enum Fate: Sendable, Equatable {
        case accepted
        /// Accepted after 429.
        case acceptedLater
        case unregistered
        case rejected
        case noTelephone
        case alreadyCurrent
    }

    /// About 5 devices in 100 have no user, 4 run the required version (however it is written) or a newer one, 2 run an unknown
    /// version; the rest is older.
    func device(_ number: Int) -> Device {
        var random = SplitMix64(seed: UInt64(number))
        let token = platform.service.token(&random)
        let place = random.next() % 100
        let telephone = place < 5 ? nil : "138\(String(String(100_000_000 + number % 100_000_000).dropFirst()))"
        let version: String? =
            switch place {
            case 5..<7: "2.0"
            case 7: "2.0.0"
            case 8: "2.10"
            case 9, 10: nil
            case 11..<30: "1.10.3"
            default: "1.9.0"
            }
        return Device(token: token, telephone: telephone, version: version)
    }

    /// A device of the other app: old enough to be pushed, if the campaign were for its app.
    func otherDevice(_ number: Int) -> Device {
        var device = device(number)
        var random = SplitMix64(seed: ~UInt64(number))
        device.token = platform.service.token(&random)
        device.telephone = "13900000000"
        device.version = "1.0"
        return device
    }

    func fate(of device: Device) -> Fate {
        if device.telephone == nil { return .noTelephone }
        if let version = device.version, version.hasPrefix("2.") { return .alreadyCurrent }
        switch FaultScript.fate(ofToken: device.token, script: faults) {
        case .healthy: return .accepted
        case .busy: return .acceptedLater
        case .dead: return .unregistered
        case .bad, .otherTopic, .refused: return .rejected
        }
    }
}

/// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (2014).
struct SplitMix64 {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// The next bytes. `count` is a multiple of 8.
    mutating func draw(_ count: Int) -> [UInt8] {
        (0..<count / 8).flatMap { _ in
            let word = next()
            return stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
