// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayStore
package import WireFormat

/// People's data, as each reader may see it.
extension JSONWriter {
    package mutating func member(_ field: PersonalField, _ value: String?, for sight: Redaction) {
        member(field.rawValue, value.map { field.written($0, for: sight) })
    }

    package mutating func member(_ field: PersonalField, _ values: [String]?, for sight: Redaction) {
        member(field.rawValue, values?.map { field.written($0, for: sight) })
    }

    package mutating func member(_ field: DeviceField, of device: DeviceRegistration, for sight: Redaction) {
        member(field.name, device.text(of: field, for: sight))
    }
}

extension DeviceRegistration {
    /// The value of a field, as each reader may see it.
    func text(of field: DeviceField, for sight: Redaction) -> String? {
        guard let personal = field.personal else { return self[field] }
        return self[field].map { personal.written($0, for: sight) }
    }
}

extension PersonalField {
    fileprivate func written(_ value: String, for sight: Redaction) -> String {
        switch self {
        case .token: sight.token(value)
        case .telephone, .telephones, .similar: sight.telephone(value)
        }
    }
}

extension Caller {
    /// The form in which the caller sees people's data.
    package var sight: Redaction { may(.users) ? .whole : .masked }
}

extension Call {
    package var sight: Redaction { caller.sight }
}

/// One text for readers who may see people's data, and one for all other readers; each is made once.
struct SightedText: Hashable, Sendable {
    private let whole: [UInt8]
    private let masked: [UInt8]

    init(_ write: (inout JSONWriter, Redaction) -> Void) {
        func text(_ sight: Redaction) -> [UInt8] {
            var writer = JSONWriter()
            write(&writer, sight)
            return writer.bytes
        }
        let whole = text(.whole)
        let masked = text(.masked)
        self.whole = whole
        // The two are nearly always the same, and then share their memory.
        self.masked = masked == whole ? whole : masked
    }

    subscript(sight: Redaction) -> [UInt8] { sight == .whole ? whole : masked }
}
