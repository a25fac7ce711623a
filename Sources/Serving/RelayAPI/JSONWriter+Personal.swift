// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayStore
package import WireFormat

/// People's data, as each reader may see it.
extension JSONWriter {
    package mutating func member(_ field: PersonalField, _ value: String?, for sight: Sight) {
        member(field.rawValue, value.map { field.written($0, for: sight) })
    }

    package mutating func member(_ field: PersonalField, _ values: [String]?, for sight: Sight) {
        member(field.rawValue, values?.map { field.written($0, for: sight) })
    }

    package mutating func member(_ field: DeviceField, of device: DeviceRegistration, for sight: Sight) {
        member(field.name, device.text(of: field, for: sight))
    }
}

extension DeviceRegistration {
    /// The value of a field, as each reader may see it.
    func text(of field: DeviceField, for sight: Sight) -> String? {
        guard let personal = field.personal else { return self[field] }
        return self[field].map { personal.written($0, for: sight) }
    }
}

extension PersonalField {
    fileprivate func written(_ value: String, for sight: Sight) -> String {
        switch self {
        case .token: sight.token(value)
        case .telephone, .telephones, .similar: sight.telephone(value)
        }
    }
}

extension Caller {
    /// How people's data is shown to it.
    package var sight: Sight { may(.users) ? .whole : .masked }
}

extension Call {
    package var sight: Sight { caller.sight }
}

/// One text for readers who may see people's data, and one for all other readers; each is made once.
struct SightedText: Hashable, Sendable {
    private let whole: [UInt8]
    private let masked: [UInt8]

    init(_ write: (inout JSONWriter, Sight) -> Void) {
        func text(_ sight: Sight) -> [UInt8] {
            var writer = JSONWriter()
            write(&writer, sight)
            return writer.bytes
        }
        let whole = text(.whole)
        let masked = text(.masked)
        self.whole = whole
        // Nearly always the same, and then in memory once.
        self.masked = masked == whole ? whole : masked
    }

    subscript(sight: Sight) -> [UInt8] { sight == .whole ? whole : masked }
}
