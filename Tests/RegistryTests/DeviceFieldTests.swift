// SPDX-License-Identifier: Apache-2.0
import Registry
import Testing

@Suite struct DeviceFieldTests {
    @Test func eachFieldHasItsOwnNamesAndColumn() {
        let names = DeviceField.allCases.map(\.name)
        #expect(names == DeviceField.allCases.map { "\($0)" }, "a row for each, in the order of the cases")
        #expect(names.map { DeviceField(name: $0) } == DeviceField.allCases)
        let columns = DeviceField.values.compactMap { $0.column?.description }
        #expect(Set(columns).count == DeviceField.values.count)
        // If one name stood for two fields, its values would go into the wrong column.
        let all = DeviceField.allCases.flatMap { $0.synonyms + [$0.name.lowercased()] }
        #expect(Set(all).count == all.count)
    }

    @Test func textsHaveAPlaceEach() {
        #expect(DeviceField.texts.map(\.slot) == Array(DeviceField.texts.indices))
        var texts = DeviceTexts({ "\($0)" })
        #expect(texts.slots == DeviceField.texts.indices)
        for field in DeviceField.texts {
            #expect(texts[field] == "\(field)" && texts.value(at: field.slot) == "\(field)")
            texts[field] = ""
        }
        #expect(texts == DeviceTexts({ _ in "" }))
    }

    @Test func aSetHasWhatWasInserted() {
        var fields = DeviceFieldSet()
        for field in DeviceField.allCases {
            let isNew = fields.insert(field).inserted
            let again = fields.insert(field).inserted
            #expect(isNew && !again && fields.contains(field))
        }
        #expect(fields.subtracting(.values) == [.app, .platform, .token, .registeredAt, .deadSince, .seenAt])
        #expect(fields.remove(.seenAt) == .seenAt && fields.remove(.seenAt) == nil && !fields.contains(.seenAt))
        #expect(fields.isSuperset(of: .values) && fields.intersection([.seenAt]).isEmpty)
    }
}
