// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// Decodes a `Decodable` type from a JSON value. Errors have the words of Foundation's `JSONDecoder`, without Foundation.
struct JSONValueDecoder: Decoder {
    let value: JSONValue
    /// The defaults, by name, for members that the value, an object, lacks. They do not apply to objects within it.
    var usual: [String: Any] = [:]
    var codingPath: [any CodingKey] = []
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// - Throws: `DecodingError`.
    static func read<T: Decodable>(_ type: T.Type, _ value: JSONValue, usual: [String: Any]) throws -> T {
        try T(from: JSONValueDecoder(value: value, usual: usual))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else {
            throw misfit([String: Any].self, none: "keyed decoding container")
        }
        return KeyedDecodingContainer(Keyed<Key>(decoder: self, members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw misfit([Any].self, none: "unkeyed decoding container") }
        return Unkeyed(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// The decoder for a value within this one.
    private func inside(_ value: JSONValue, _ key: any CodingKey) -> JSONValueDecoder {
        JSONValueDecoder(value: value, codingPath: codingPath + [key])
    }

    // MARK: Errors

    /// - Parameter none: the kind of value that the error for null names; nil: null gets the error of any other wrong type.
    private func misfit(_ type: Any.Type, none: String? = nil) -> DecodingError {
        guard value != .null || none == nil else {
            let words = "Cannot get \(none ?? "") -- found null value instead"
            return .valueNotFound(type, DecodingError.Context(codingPath: codingPath, debugDescription: words))
        }
        let words = "Expected to decode \(type) but found \(kind) instead."
        return .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: words))
    }

    private var kind: String {
        switch value {
        case .null: "null"
        case .bool: "bool"
        case .number: "number"
        case .string: "a string"
        case .array: "an array"
        case .object: "a dictionary"
        }
    }

    /// The error for a number that its type cannot hold.
    private var unfit: DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "The given data was not valid JSON."))
    }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let value) = value else { throw misfit(type) }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let value) = value else { throw misfit(type, none: "value of type \(type)") }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard case .number(let text) = value else { throw misfit(type, none: "value of type \(type)") }
        guard let number = Double(text), number.isFinite else { throw unfit }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    /// Integers, also as 1e3 and 1.0.
    func decode<T: Decodable & FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard case .number(let text) = value else { throw misfit(type, none: "value of type \(type)") }
        guard let number = T(text) ?? Double(text).flatMap({ T(exactly: $0) }) else { throw unfit }
        return number
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }
}

extension JSONValueDecoder {
    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: JSONValueDecoder
        let members: [JSONMember]

        var codingPath: [any CodingKey] { decoder.codingPath }
        var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

        private func member(_ key: any CodingKey) -> JSONValue? {
            members.first { $0.name == key.stringValue }?.value
        }

        private func inside(_ key: any CodingKey) throws -> JSONValueDecoder {
            guard let value = member(key) else {
                let words = "No value associated with key \(key) (\"\(key.stringValue)\")."
                throw DecodingError.keyNotFound(
                    key, DecodingError.Context(codingPath: codingPath, debugDescription: words))
            }
            return decoder.inside(value, key)
        }

        func contains(_ key: Key) -> Bool { member(key) != nil }

        func decodeNil(forKey key: Key) throws -> Bool { try inside(key).decodeNil() }

        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            if member(key) == nil, let usual = decoder.usual[key.stringValue] as? T { return usual }
            return try T(from: inside(key))
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            try inside(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try inside(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder { try inside(Place(stringValue: "super")) }

        func superDecoder(forKey key: Key) throws -> any Decoder { try inside(key) }
    }

    private struct Unkeyed: UnkeyedDecodingContainer {
        let decoder: JSONValueDecoder
        let elements: [JSONValue]
        private(set) var currentIndex = 0

        init(decoder: JSONValueDecoder, elements: [JSONValue]) {
            (self.decoder, self.elements) = (decoder, elements)
        }

        var codingPath: [any CodingKey] { decoder.codingPath }
        var count: Int? { elements.count }
        var isAtEnd: Bool { currentIndex == elements.count }

        private func next(_ type: Any.Type) throws -> JSONValueDecoder {
            let place = Place(intValue: currentIndex)
            guard !isAtEnd else {
                throw DecodingError.valueNotFound(
                    type,
                    DecodingError.Context(
                        codingPath: codingPath + [place], debugDescription: "Unkeyed container is at end."))
            }
            return decoder.inside(elements[currentIndex], place)
        }

        mutating func decodeNil() throws -> Bool {
            guard try next(Never.self).decodeNil() else { return false }
            currentIndex += 1
            return true
        }

        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
            let value = try T(from: next(type))
            currentIndex += 1
            return value
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> {
            let container = try next([String: Any].self).container(keyedBy: type)
            currentIndex += 1
            return container
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            let container = try next([Any].self).unkeyedContainer()
            currentIndex += 1
            return container
        }

        mutating func superDecoder() throws -> any Decoder {
            let decoder = try next((any Decoder).self)
            currentIndex += 1
            return decoder
        }
    }

    /// A place in an array, or "super".
    private struct Place: CodingKey {
        let stringValue: String
        let intValue: Int?

        init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
        init(intValue: Int) { (stringValue, self.intValue) = ("Index \(intValue)", intValue) }
    }
}
