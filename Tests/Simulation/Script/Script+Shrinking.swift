// SPDX-License-Identifier: Apache-2.0

extension Script: Shrinkable {
    package var steps: [Operation] {
        get { operations }
        set { operations = newValue }
    }

    package static var settings: [(name: String, values: [Int])] { Setup.names }

    package subscript(setting name: String) -> Int {
        get { setup[name] }
        set { setup[name] = newValue }
    }

    package static func simpler(_ operation: Operation) -> [Operation] {
        var changes: [Operation] = []
        func change(_ body: (inout Operation) -> Void) {
            var changed = operation
            body(&changed)
            if changed != operation { changes.append(changed) }
        }
        change { $0.middle = 0 }
        change { $0.isFollowedByTurn = true }
        if operation.kind != .pass {
            change { ($0.first, $0.second) = (0, 0) }
            change { $0.first = 0 }
            change { $0.second = 0 }
            change { $0.first /= 2 }
            change { $0.second /= 2 }
        } else {
            change { $0.first = 0 }
        }
        return changes
    }
}

extension FleetScript: Shrinkable {
    package subscript(setting name: String) -> Int {
        get { self[name] }
        set { numbers[name] = newValue }
    }

    /// The number of the relay matters, and the value is a time or a choice: nothing of it is simpler.
    package static func simpler(_ step: Step) -> [Step] { [] }
}
