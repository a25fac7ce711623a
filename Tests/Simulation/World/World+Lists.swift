// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import FaultInjection
import Registry
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// One way in which the lines of a list may have changed a device, and what the summary counts for it.
private struct ListCourse {
    /// nil: no device has the token.
    var device: RegistryDevice?
    var counts = UpsertCounts()

    func after(_ word: DeviceWord, at now: Int64) -> ListCourse {
        var (next, older) = (self, Set<RegistryField>())
        next.device = RegistryDevice.after(.record(word), device, at: now, older: &older)
        if device == nil {
            next.counts.inserted += 1
        } else if device == next.device {
            next.counts.unchanged += 1
        } else {
            next.counts.updated += 1
        }
        if older.contains(.version) { next.counts.versionsKept += 1 }
        return next
    }
}

/// Lists of devices as other programs write them: columns in any order, tokens twice, empty cells, unreadable lines, and states of weeks
/// ago.
extension World {
    /// A line, and the fields that it sets.
    fileprivate struct Line {
        enum Fault: CaseIterable { case none, noToken, badVersion, badTime, tooLong, otherApp }

        var app: Int
        var token: String
        var word: DeviceWord
        var fault = Fault.none
    }

    /// A back end's list is imported, in CSV or NDJSON. Nothing in it is newer than it claims.
    func importList(_ first: Int, _ second: Int) throws -> String? {
        guard let relay, !phones.isEmpty else { return nil }
        var dice = SeededGenerator(seed: UInt64(first * 1000 + second))
        _ = dice.next()
        func below(_ limit: Int) -> Int { Int(dice.next() % UInt64(limit)) }
        let isCSV = below(2) == 0
        let columns = below(1 << 16)
        var lines: [Line] = []
        for _ in 0..<(2 + below(5)) {
            // Now and then one fixed phone, so that its token may come twice.
            let phone = below(4) == 0 && !lines.isEmpty ? phones[first % phones.count] : phones[below(phones.count)]
            lines.append(line(of: phone, columns: isCSV ? columns : below(1 << 16), below))
            guard below(8) == 0 else { continue }
            let fault = Line.Fault.allCases[below(Line.Fault.allCases.count)]
            // A CSV list has a column in all lines or in none, so a bad version needs that column.
            lines[lines.count - 1].fault = fault == .badVersion && isCSV && columns >> 1 & 1 == 0 ? .noToken : fault
        }
        // If one line has the environment, each line has a cell for it.
        if isCSV, lines.contains(where: { !$0.word.isSandbox.isNothing }) {
            for place in lines.indices where lines[place].word.isSandbox.isNothing {
                lines[place].word.isSandbox = .says(nil)
            }
        }
        let text = isCSV ? csv(lines, columns, below) : lines.map { json($0, below(2) == 0) }.joined(separator: "\n")
        var batches: [AppKey: RegistrationBatch] = [:]
        var refused = 0
        func take(_ item: DeviceReader.Item) {
            guard case .device(_, let line) = item,
                let app = settings.apps.map(settings.key).first(where: {
                    $0.app == line.app && $0.platform.rawValue == line.platform
                })
            else { return refused += 1 }
            var batch = batches[app] ?? RegistrationBatch(app: app)
            do throws(BodyError) {
                if !DeviceFields.readPlain(line.json, in: 0..<line.json.count, into: &batch) {
                    batch.append(try DeviceFields.readLine(line.json, in: 0..<line.json.count, app: app))
                }
                batches[app] = batch
            } catch {
                refused += 1
            }
        }
        var reader = DeviceReader(app: nil, platform: nil)
        try reader.feed(Array(text.utf8), take)
        try reader.finish(take)
        let good = lines.filter { $0.fault == .none }
        if refused != lines.count - good.count {
            model.broke(
                "registry.lines",
                "\(refused) lines of a list are refused, and \(lines.count - good.count) are wrong:\n\(text)")
        }
        for app in settings.apps {
            guard let batch = batches[settings.key(app)] else { continue }
            let own = good.filter { $0.app == app }
            let isTried = below(3) == 0
            let tried = isTried ? try relay.store.register(batch, at: clock.now.wall, isDryRun: true) { _ in } : nil
            let counts = try relay.store.register(batch, at: clock.now.wall, isDryRun: false) { _ in }
            judgeList(counts, tried, of: own)
            for line in own { learnDevice(app, line.token) }
        }
        return "a list of \(lines.count) lines, \(refused) of them refused, is taken over:\n\(text)"
    }

    /// Passes the lines to the model, and compares the result with the relay's summary.
    private func judgeList(_ counts: UpsertCounts, _ tried: UpsertCounts?, of lines: [Line]) {
        var courses: [String: [ListCourse]] = [:]
        for line in lines {
            let key = registryKey(line.app, line.token)
            // The whole list is taken at once: no token dies between two of its lines.
            let known = courses[key] ?? coursesBefore(key)
            courses[key] = known.map { $0.after(line.word, at: clock.now.wall.milliseconds) }
            happens(.record(line.word), to: line.app, line.token)
            let after = model.registry.states(key)
            if line.word.deadSince != nil, after.contains(where: { $0?.dead != nil }) {
                pushes.calledDead.insert(key)
                // Its back end reports it as dead, whatever a mad service does.
                pushes.acceptedTokens.insert(key)
                model.everDead.insert(key)
            }
            // A user whose number is in a list is known again, even if a later line of the list names another.
            if case .says(let telephone?) = line.word.telephone, let user = Phone.user(telephone) {
                model.erased[user] = nil
            }
        }
        // The result for one device has no bearing on that for another.
        let expected = courses.values.reduce([UpsertCounts()] as Set) { sums, courses in
            Set(
                sums.flatMap { sum in
                    courses.map { course in
                        var sum = sum
                        sum += course.counts
                        return sum
                    }
                })
        }
        if !expected.contains(counts) {
            let texts = expected.map { "\($0)" }.sorted()
            model.broke(
                "registry.lines",
                "of a list \(texts.joined(separator: " or ")) had to come, and the relay says \(counts)")
        }
        if let tried, tried != counts {
            model.broke("registry.lines", "of a list \(counts) came, and a dry run says \(tried)")
        }
    }

    /// The possible states of a token's device before a list is imported.
    private func coursesBefore(_ key: String) -> [ListCourse] {
        if pushes.calledDead.contains(key) { model.registry.mayHaveDied(key) }
        return model.registry.states(key).flatMap { device in
            guard var early = device, early.diedUnseen else { return [ListCourse(device: device)] }
            // It may have died so early that a line with a later registration revives it.
            (early.dead, early.diedUnseen) = (early.registered, false)
            return [ListCourse(device: device), ListCourse(device: early)]
        }
    }

    /// - Parameter columns: a bit for each column that the line has.
    private func line(of phone: Phone, columns: Int, _ below: (Int) -> Int) -> Line {
        func has(_ column: Int) -> Bool { columns >> column & 1 == 1 }
        var line = Line(app: phone.app, token: token(phone), word: DeviceWord())
        if has(0) {
            let other = phones[below(phones.count)].user
            line.word.telephone = .says((below(4) == 0 ? other : phone.user).map(Phone.telephone))
        }
        if has(1) {
            line.word.version = .says([1, phone.version, phone.version, max(phone.version - 1, 1), nil][below(5)])
        }
        if has(2) {
            line.word.system = .says([phone.system.map(Self.tenths), 148, 152, 161, nil][below(5)])
        }
        if has(3) { line.word.country = .says([phone.country, "CN", "JP", nil][below(4)]) }
        // A device that is unknown, or was forgotten, would be production's.
        if has(4) || phone.saysSandbox {
            line.word.isSandbox = .says(phone.saysSandbox ? true : below(2) == 0 ? false : nil)
        }
        let now = clock.rightTime.milliseconds
        let start = now - milliseconds
        let times = [start, start, now - 3_600_000, now - 60_000, now, now + 86_400_000]
        if has(5) { line.word.seenAt = below(4) == 0 ? nil : times[below(times.count)] }
        if has(6), has(7) { line.word.registeredAt = below(3) == 0 ? nil : times[below(times.count)] }
        if has(8), has(9), has(10), !phone.isInstalled || below(6) == 0 {
            line.word.deadSince = phone.isInstalled ? times[below(4)] : phone.goneAt
        }
        return line
    }

    // MARK: Texts

    /// By column, in the product's order; nil: an empty cell. Columns that the line does not have are missing.
    private func cells(_ line: Line) -> [(column: DeviceField, text: String?)] {
        let (key, word) = (settings.key(line.app), line.word)
        var cells: [(DeviceField, String?)] = [
            (.app, line.fault == .otherApp ? "com.example.other" : key.app), (.platform, key.platform.rawValue),
            (.token, line.fault == .noToken ? nil : line.token),
        ]
        func add<Value>(_ column: DeviceField, _ word: FieldWord<Value>, _ text: (Value) -> String) {
            if case .says(let value) = word { cells.append((column, value.map(text))) }
        }
        add(.telephone, word.telephone) { $0 }
        if line.fault == .badVersion {
            cells.append((.version, "1.x"))
        } else {
            add(.version, word.version, Self.text(version:))
        }
        add(.osVersion, word.system) { "\($0 / 10).\($0 % 10)" }
        add(.country, word.country) { $0 }
        add(.environment, word.isSandbox) { $0 ? "sandbox" : "production" }
        func time(_ column: DeviceField, _ time: Int64?) {
            if let time { cells.append((column, Timestamp(milliseconds: time).internetTime)) }
        }
        time(.registeredAt, word.registeredAt)
        time(.deadSince, word.deadSince)
        if line.fault == .badTime { cells.append((.seenAt, "yesterday")) } else { time(.seenAt, word.seenAt) }
        return cells
    }

    /// - Parameter isOdd: whether it is in reverse order, with escapes, and with capitals where they make no difference.
    private func json(_ line: Line, _ isOdd: Bool) -> String {
        var members = cells(line).map { column, text in
            let isUpper = isOdd && (column == .country || column == .environment || column == .platform)
            let value = text.map { text in
                let isHex = isOdd && column == .token && !settings.isAndroid(line.app)
                let text = isUpper || isHex ? text.uppercased() : text
                return "\"\(isOdd && column == .telephone ? text.replacing("1", with: "\\u0031") : text)\""
            }
            return "\"\(column.name)\": \(value ?? "null")"
        }
        if line.fault == .tooLong { members.append(#""level": 3"#) }
        return "{\((isOdd ? members.reversed() : members).joined(separator: ", "))}"
    }

    private func csv(_ lines: [Line], _ columns: Int, _ below: (Int) -> Int) -> String {
        let mark = [",", ";", "\t"][below(3)]
        let rows = lines.map { line in Dictionary(cells(line).map { ($0.column, $0.text ?? "") }) { first, _ in first }
        }
        var names = DeviceField.allCases.filter { column in rows.contains { $0[column] != nil } }
        if below(2) == 0 { names.reverse() }
        let isOdd = below(2) == 0
        var text = isOdd ? "\u{FEFF}" : ""
        // A column of the other program, which means nothing here.
        text += (names.map(\.name) + (isOdd ? ["level"] : [])).joined(separator: mark) + "\r\n"
        for (line, row) in zip(lines, rows) {
            var cells = names.map { name in isOdd ? "\"\(row[name] ?? "")\"" : row[name] ?? "" }
            if isOdd { cells.append("3") }
            if line.fault == .tooLong { cells.append("4") }
            text += cells.joined(separator: mark) + (isOdd ? "\n" : "\r\n")
        }
        return text
    }
}
