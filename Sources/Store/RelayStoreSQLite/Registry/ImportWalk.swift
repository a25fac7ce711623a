// SPDX-License-Identifier: Apache-2.0

/// The order in which the rows of a batch meet the devices of the registry.
///
/// The index over tokens is in a random order, so that each look-up opens a page of its own. Yet a nightly file has the devices of the
/// night before in their order, and so their ids are near each other. The walk looks one row up, an anchor, and reads the devices before
/// and behind it: most of them are rows of the batch. It ends a run that passes too many others, and tries the next anchor. The rows that
/// no run has met are looked up at the end, in the order of the index.
///
/// Rows of one token come in their order: a run meets the first alone, and the others are looked up after it.
struct ImportWalk {
    /// The devices that a run may pass before it ends, and those that it may pass more for each row that it meets, but no more than at
    /// first: about what a look-up costs.
    private static let patience = 64
    private static let gain = 8
    /// The rows that a run has to meet to count as one.
    private static let fewest = 32
    /// The anchors of a batch that lead to no run, before the walk tries none any more.
    private static let tries = 8

    /// The rows in the order in which they are looked up, and whether a run has met each.
    private let order: [DeviceTable.Keyed]
    private var isMet: [Bool]
    /// The place in `order` of the first row that was not handed out.
    private var rest = 0

    /// The first place in `order` of each share of the hashes. Empty: no anchor was found yet.
    private var shares: [Int32] = []
    private var shift = 0
    /// The place of each row in `order`, to find anchors in the order in which the rows came. Empty like `shares`.
    private var places: [Int32] = []

    /// The row that is looked up to begin a run; nil: the walk tries no more.
    private(set) var anchor: Int?
    /// The run, if there is one: the device from which it goes on, and whether it goes back.
    private(set) var run: (from: Int64, isBack: Bool)?
    private var triesLeft = 0
    private var patience = 0
    /// The anchor's device, behind which the run goes on once it has been back.
    private var origin: Int64 = 0
    private var met = 0

    /// A walk that looks each row up, in the order that it is given.
    init(rowByRow order: [DeviceTable.Keyed]) {
        self.order = order
        isMet = []
    }

    /// A walk through rows that are in the order of their hashes.
    ///
    /// - Parameter least: the rows from which on it tries runs.
    init(byHash order: [DeviceTable.Keyed], least: Int) {
        self.order = order
        isMet = Array(repeating: false, count: order.count)
        if order.count >= least { (anchor, triesLeft) = (0, Self.tries) }
    }

    /// Whether each row was handed out or met.
    var isOver: Bool { anchor == nil && rest == order.count }

    // MARK: Look-ups

    /// The next row to look up: none that a run has met.
    mutating func next() -> DeviceTable.Keyed? {
        while rest < order.count {
            defer { rest += 1 }
            if isMet.isEmpty || !isMet[rest] { return order[rest] }
        }
        return nil
    }

    // MARK: Runs

    /// Begins a run behind the anchor's device, or tries the next anchor where the registry does not have it.
    mutating func found(_ device: Int64?) {
        guard let device, device < .max else { return tryNext() }
        if shares.isEmpty { divide() }
        // The anchor is its run's first device.
        (run, origin, patience, met) = ((device + 1, true), device, Self.patience, 0)
    }

    /// The place of the first row with a hash; nil: there is none, or it was met.
    func place(of hash: Int64) -> Int? {
        let share = Int(Self.ascending(hash) >> shift)
        var place = Int(shares[share])
        let end = Int(shares[share + 1])
        while place < end, order[place].hash < hash { place += 1 }
        return place < end && order[place].hash == hash && !isMet[place] ? place : nil
    }

    func row(at place: Int) -> Int { Int(order[place].row) }

    /// The run has met the device of a row.
    mutating func met(_ device: Int64, at place: Int) {
        isMet[place] = true
        run?.from = device
        patience = min(patience + Self.gain, Self.patience)
        met += 1
    }

    /// The run has passed a device that is none of the rows'.
    mutating func passed(_ device: Int64) {
        run?.from = device
        patience -= 1
        if patience == 0 { endRun() }
    }

    /// Turns a run that went back, and ends one that went on.
    mutating func endRun() {
        if run?.isBack == true {
            (run, patience) = ((origin, false), Self.patience)
        } else {
            tryNext()
        }
    }

    /// Chooses the next anchor: the next row that was not met, or one further on where the run met too few.
    private mutating func tryNext() {
        guard var row = anchor else { return }
        if met < Self.fewest {
            triesLeft -= 1
            row += max(1, order.count / Self.tries)
        }
        (run, met) = (nil, 0)
        while row < places.count, isMet[Int(places[row])] { row += 1 }
        anchor = row < order.count && triesLeft > 0 ? row : nil
    }

    /// Sorts the hashes into shares of about one row.
    private mutating func divide() {
        let bits = max(1, Int.bitWidth - order.count.leadingZeroBitCount)
        shift = Int64.bitWidth - bits
        shares = Array(repeating: 0, count: 1 << bits + 1)
        places = Array(repeating: 0, count: order.count)
        for (place, keyed) in order.enumerated() {
            places[Int(keyed.row)] = Int32(truncatingIfNeeded: place)
            shares[Int(Self.ascending(keyed.hash) >> shift) + 1] += 1
        }
        for share in shares.indices.dropFirst() { shares[share] += shares[share - 1] }
    }

    /// A hash as a number without a sign, in the same order.
    private static func ascending(_ hash: Int64) -> UInt64 { UInt64(bitPattern: hash) ^ 1 << 63 }
}
