// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import WireFormat

/// A field of a device. Its table is the only one: import, export, API, commands and the statements of both stores use it.
///
/// The cases are in the order of the members in JSON and of the columns in CSV. A new field needs a case, a row, its value in
/// `DeviceRegistration`, and a step of the schema.
@usableFromInline package enum DeviceField: UInt8, CaseIterable, Hashable, Sendable {
    case app, platform, token, telephone, version, environment, osVersion, country, registeredAt, deadSince, seenAt

    private static let table: [Row] = [
        Row(
            .app, "app",
            synonyms: [
                "bundleid", "bundle", "appid", "application", "applicationid", "package", "packagename", "appname",
            ]),
        Row(.platform, "platform", synonyms: ["os", "system", "devicetype", "deviceos", "platformtype"]),
        Row(
            .token, "token",
            synonyms: Set(ProviderName.allCases.map { "\($0.rawValue)token" }).union([
                "devicetoken", "pushtoken", "registrationid", "regid", "registrationtoken", "deviceid",
            ]), personal: .token),
        Row(
            .telephone, "telephone",
            synonyms: [
                "phone", "phonenumber", "phoneno", "tel", "telephonenumber", "mobile", "mobilenumber", "mobilephone",
                "msisdn", "cellphone", "手机", "手机号", "手机号码", "电话",
            ], personal: .telephone, column: "telephone", text: .telephone, isForgotten: true),
        Row(
            .version, "version", synonyms: ["appversion", "versionname", "ver", "clientversion", "bundleversion"],
            column: "version", text: .version, isReported: true),
        Row(
            .environment, "environment", synonyms: ["env", "apnsenvironment", "pushenvironment", "apsenvironment"],
            column: "environment"),
        Row(
            .osVersion, "osVersion",
            synonyms: ["systemversion", "iosversion", "osver", "androidsdk", "sdkint", "apilevel", "sdkversion"],
            column: "os_version", text: .system, isReported: true, isForgotten: true, noun: "system"),
        Row(
            .country, "country", synonyms: ["countrycode", "isocountry", "countryiso", "国家"],
            column: "country", text: .country, isReported: true, isForgotten: true, noun: "country"),
        Row(
            .registeredAt, "registeredAt",
            synonyms: ["registered", "registrationtime", "registrationdate", "registeredon", "lastregistered"]),
        Row(.deadSince, "deadSince", synonyms: ["retiredat", "dead", "unregisteredat", "deadat"]),
        Row(
            .seenAt, "seenAt",
            synonyms: ["lastseen", "lastseenat", "lastlogin", "lastloginat", "lastactive", "lastactiveat", "activeat"]),
    ]
}

extension DeviceField {
    private struct Row: Sendable {
        let field: DeviceField
        let name: String
        let synonyms: Set<String>
        let personal: PersonalField?
        let column: StaticString?
        let text: DeviceText?
        let isReported: Bool
        let isForgotten: Bool
        let noun: StaticString?

        init(
            _ field: DeviceField, _ name: String, synonyms: Set<String>, personal: PersonalField? = nil,
            column: StaticString? = nil, text: DeviceText? = nil, isReported: Bool = false, isForgotten: Bool = false,
            noun: StaticString? = nil
        ) {
            (self.field, self.name, self.synonyms) = (field, name, synonyms)
            (self.personal, self.column, self.text) = (personal, column, text)
            (self.isReported, self.isForgotten, self.noun) = (isReported, isForgotten, noun)
        }
    }

    private var row: Row {
        let row = Self.table[Int(rawValue)]
        assert(row.field == self, "the rows are in the order of the cases")
        return row
    }

    /// Its name as a member in JSON and as a column in a file.
    package var name: String { row.name }

    /// Other names that a column of it often has, without case and separators.
    package var synonyms: Set<String> { row.synonyms }

    /// The way in which it is shown to readers who may not see people's data; nil: it is not personal.
    package var personal: PersonalField? { row.personal }

    /// Its column of the table `device`; nil: a device's client cannot leave it out, set it to null or change it.
    package var column: StaticString? { row.column }

    /// The rules of its text; nil: its value is not a text in the store.
    package var text: DeviceText? { row.text }

    /// The noun for it in texts for people that show it beside the version; nil: they do not show it. The status page
    /// translates it.
    package var noun: StaticString? { row.noun }

    package init?(name: String) {
        guard let field = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = field
    }

    /// Fields that have a column each in a store, beside a device's token and its times.
    package static let values = allCases.filter { $0.column != nil }

    /// The values that are texts, by `slot`.
    @usableFromInline package static let texts = values.filter { $0.text != nil }

    /// The rules of each text, by `slot`; without the rest of the row, which an import would copy for each value.
    package static let rules = texts.compactMap(\.row.text)

    /// Texts that a device loses with its removal. Its version stays, because a removed device no longer counts.
    package static let forgotten = texts.filter(\.row.isForgotten)

    fileprivate static let reported = values.filter(\.row.isReported)

    /// Its place among `texts`.
    @usableFromInline package var slot: Int {
        let slot = DeviceFieldSet.texts.count(below: self)
        assert(DeviceFieldSet.texts.contains(self), "\(self) is no text")
        return slot
    }
}

extension DeviceFieldSet {
    /// Fields that an observation may name and a store keeps, beside the token and the times.
    package static let values = DeviceFieldSet(DeviceField.values)
    /// Fields that the device itself reports, so that its report may be newer than records.
    package static let reported = DeviceFieldSet(DeviceField.reported)
    fileprivate static let texts = DeviceFieldSet(DeviceField.texts)

    /// The texts whose slot meets the condition.
    @inlinable
    package static func texts(where condition: (_ slot: Int) -> Bool) -> DeviceFieldSet {
        let texts = DeviceField.texts
        var found = DeviceFieldSet()
        for slot in texts.indices where condition(slot) { found.insert(texts[slot]) }
        return found
    }
}

/// A value for each field, by its raw value.
@usableFromInline typealias DeviceFieldArray<Value> = InlineArray<11, Value>

/// A value for each field whose value is a text. It does not allocate, because an import makes one for each row. Inlinable,
/// because its users would otherwise call code that is not specialised for their type.
@usableFromInline package struct DeviceTexts<Value> {
    @usableFromInline var values: InlineArray<4, Value>

    /// - Parameter value: called once for each of these fields.
    @inlinable @inline(__always)
    package init(_ value: (DeviceField) -> Value) {
        let fields = DeviceField.texts
        self.init(slots: { value(fields[$0]) })
    }

    /// - Parameter value: called once for each of the `slots`.
    ///
    /// Fills the values in a loop: `InlineArray`'s initializer with a closure would be called through its metadata.
    @inlinable @inline(__always)
    package init(slots value: (Int) -> Value) {
        values = InlineArray(repeating: value(0))
        for slot in 1..<values.count { values[slot] = value(slot) }
    }

    /// - Precondition: the field's value is a text. A loop over many devices uses the `slots`, which need no table look-up.
    package subscript(field: DeviceField) -> Value {
        @inlinable @inline(__always)
        get { values[field.slot] }
        @inlinable @inline(__always)
        set { values[field.slot] = newValue }
    }

    /// The places of `DeviceField.texts`.
    @inlinable @inline(__always)
    package var slots: Range<Int> { 0..<values.count }

    @inlinable @inline(__always)
    package func value(at slot: Int) -> Value { values[slot] }

    /// Takes the values of these fields from `other`.
    @inlinable
    package mutating func take(_ fields: DeviceFieldSet, of other: DeviceTexts) {
        let texts = DeviceField.texts
        for slot in slots where fields.contains(texts[slot]) { values[slot] = other.values[slot] }
    }
}

extension DeviceTexts: Sendable where Value: Sendable {}

extension DeviceTexts: Equatable where Value: Equatable {
    @inlinable
    package static func == (left: DeviceTexts, right: DeviceTexts) -> Bool {
        left.slots.allSatisfy { left.values[$0] == right.values[$0] }
    }
}

extension DeviceTexts: Hashable where Value: Hashable {
    @inlinable
    package func hash(into hasher: inout Hasher) {
        for place in slots { hasher.combine(values[place]) }
    }
}
