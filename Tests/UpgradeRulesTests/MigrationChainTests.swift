// SPDX-License-Identifier: Apache-2.0
import Testing
import UpgradeRules

/// The semantics of SEEDS S6, one row each.
@Suite struct MigrationChainTests {
    /// One operation of a row: "3" to version 3, "*" at every upgrade; "!" after it throws and stops, "?" throws and goes on.
    struct Row: Sendable, CustomTestStringConvertible {
        var what: String
        var stored: String?
        var chain: String
        var target: Int
        var runs: String
        var after: String?
        var outcome: MigrationReport.Outcome

        init(
            _ what: String, stored: String? = nil, chain: String, target: Int, runs: String, after: String?,
            _ outcome: MigrationReport.Outcome = .upgraded
        ) {
            (self.what, self.stored, self.chain, self.target) = (what, stored, chain, target)
            (self.runs, self.after, self.outcome) = (runs, after, outcome)
        }

        var testDescription: String { what }
    }

    static let table: [Row] = [
        Row("nothing stored counts as 0: all run", chain: "1 2 3", target: 3, runs: "1 2 3", after: "3 3"),
        Row("only those above what is stored", stored: "2 1", chain: "1 2 3", target: 3, runs: "3", after: "3 1"),
        Row("several releases at once", stored: "1 1", chain: "1 2 3 4", target: 4, runs: "2 3 4", after: "4 1"),
        Row(
            "none is due, the version rises all the same", stored: "1 1", chain: "1", target: 4, runs: "", after: "4 1"),
        Row("an empty chain", chain: "", target: 2, runs: "", after: "2 2"),
        Row("up to date", stored: "3 1", chain: "1 3", target: 3, runs: "", after: "3 1", .upToDate),
        Row("no downgrade", stored: "5 5", chain: "1 3 9 *", target: 4, runs: "", after: "5 5", .newerIsStored),
        Row("target 0 with nothing stored", chain: "1", target: 0, runs: "", after: nil, .upToDate),
        Row("an operation to 0 never runs", chain: "0 1", target: 1, runs: "1", after: "1 1"),

        Row("at every upgrade, at the first install", chain: "1 *", target: 1, runs: "1 *", after: "1 1"),
        Row("at every upgrade, at a later one", stored: "1 1", chain: "1 * 2", target: 2, runs: "* 2", after: "2 1"),
        Row(
            "at every upgrade is not at every start", stored: "2 1", chain: "*", target: 2, runs: "", after: "2 1",
            .upToDate),
        Row("beyond the target: now", stored: "1 1", chain: "9", target: 2, runs: "9", after: "2 1"),
        Row("beyond the target: again", stored: "2 1", chain: "9", target: 3, runs: "9", after: "3 1"),
        Row("beyond the target: until reached", stored: "9 1", chain: "9", target: 10, runs: "", after: "10 1"),

        Row("the chain's order holds, not the numbers'", chain: "3 1 2", target: 3, runs: "3 1 2", after: "3 3"),
        Row("two to the same version both run", chain: "2 2", target: 2, runs: "2 2", after: "2 2"),

        Row("go on after a failure", chain: "1 2? 3", target: 3, runs: "1 2? 3", after: "3 3"),
        Row("go on after the last failed", chain: "1 2?", target: 2, runs: "1 2?", after: "2 2"),
        Row(
            "stop at the first: nothing is stored", chain: "1! 2", target: 2, runs: "1!", after: nil, .stopped(at: "1")),
        Row(
            "stop: what was done stays done", chain: "1 2! 3", target: 3, runs: "1 2!", after: "1 3 unfinished",
            .stopped(at: "2")),
        Row(
            "after that it begins with what failed", stored: "1 3 unfinished", chain: "1 2 3", target: 3, runs: "2 3",
            after: "3 3"),
        Row(
            "stop at an every-upgrade operation behind the last version", stored: "1 1", chain: "1 2 *!", target: 2,
            runs: "2 *!", after: "2 1 unfinished", .stopped(at: "*")),
        Row(
            "after that it runs, and the migration does not", stored: "2 1 unfinished", chain: "1 2 *", target: 2,
            runs: "*", after: "2 1"),
        Row(
            "stop between two of one version: both run again", chain: "1 2 2!", target: 2, runs: "1 2 2!",
            after: "1 2 unfinished", .stopped(at: "2")),
        Row(
            "out of order, a stop does not pass what is left", chain: "3 2!", target: 3, runs: "3 2!",
            after: "1 3 unfinished", .stopped(at: "2")),
        Row(
            "an every-upgrade operation before the stop does not count as a version", stored: "1 1", chain: "* 3!",
            target: 3, runs: "* 3!", after: "1 1 unfinished", .stopped(at: "3")),
        Row(
            "an unfinished run is no way down", stored: "4 1 unfinished", chain: "*", target: 3, runs: "",
            after: "4 1 unfinished", .newerIsStored),
        Row(
            "two failures, one after the other", chain: "1? 2? 3!", target: 3, runs: "1? 2? 3!",
            after: "2 3 unfinished", .stopped(at: "3")),
    ]

    struct Broken: Error, Equatable {}

    @Test(arguments: table)
    func row(row: Row) throws {
        let before = try row.stored.map { try #require(MigrationRecord(rawValue: $0)) }
        let storage = InMemoryMigrationStorage(before.map { ["c": $0] } ?? [:])
        let chain = MigrationChain(component: "c", storage: storage)
        let log = Log()
        let operations = row.chain.split(separator: " ").map { operation(String($0), log) }

        let report = try chain.run(operations, target: row.target)

        #expect(log.runs.joined(separator: " ") == row.runs)
        #expect(storage.record(of: "c")?.rawValue == row.after)
        #expect(report.outcome == row.outcome)
        #expect(report.isFirstInstall == (row.stored == nil))
        #expect(report.from == before?.version ?? 0)
        #expect(report.completed == log.runs.filter { !$0.hasSuffix("!") && !$0.hasSuffix("?") })
        #expect(
            report.failures.map(\.operation)
                == log.runs.filter { $0.hasSuffix("!") || $0.hasSuffix("?") }.map { String($0.dropLast()) })
        #expect(report.failures.allSatisfy { $0.error is Broken })
        #expect(log.asked == report.failures.count, "each failure is asked about once")
    }

    /// Every version that an app may come from, through every chain of the table: the second run with the same target
    /// runs nothing, and the version never falls.
    @Test func aFinishedRunIsFinished() throws {
        for row in Self.table where !row.chain.contains("!") && row.target > 0 {
            for start in 0...4 {
                let storage = InMemoryMigrationStorage(
                    start == 0 ? [:] : ["c": MigrationRecord(version: start, firstInstalledVersion: start)])
                let chain = MigrationChain(component: "c", storage: storage)
                let log = Log()
                let operations = row.chain.split(separator: " ").map { operation(String($0), log) }
                _ = try chain.run(operations, target: row.target)
                let afterFirst = log.runs.count
                #expect(try chain.currentVersion == max(start, row.target), "\(row.what), from \(start)")
                _ = try chain.run(operations, target: row.target)
                #expect(log.runs.count == afterFirst, "\(row.what), from \(start)")
            }
        }
    }

    @Test func theQuestionsOfTheSeed() throws {
        let chain = MigrationChain(component: "orders", storage: InMemoryMigrationStorage())
        #expect(try chain.isFirstInstall)
        #expect(try chain.firstInstalledVersion == nil)
        #expect(try chain.currentVersion == 0)
        #expect(try chain.run([], target: 7).isFirstInstall)
        #expect(try !chain.isFirstInstall)
        #expect(try !chain.run([], target: 9).isFirstInstall)
        #expect(try chain.firstInstalledVersion == 7)
        #expect(try chain.currentVersion == 9)
    }

    @Test func theFirstInstalledVersionIsTheTargetAlsoOfAStoppedRun() throws {
        let chain = MigrationChain(component: "c", storage: InMemoryMigrationStorage())
        let log = Log()
        _ = try chain.run([operation("1", log), operation("2!", log)], target: 2)
        #expect(try chain.firstInstalledVersion == 2)
        #expect(try chain.currentVersion == 1)
        #expect(try chain.run([operation("1", log), operation("2", log)], target: 3).isFirstInstall == false)
        #expect(try chain.firstInstalledVersion == 2)
    }

    @Test func componentsDoNotMix() throws {
        let storage = InMemoryMigrationStorage()
        _ = try MigrationChain(component: "a", storage: storage).run([], target: 3)
        #expect(try MigrationChain(component: "b", storage: storage).isFirstInstall)
    }

    @Test func theStandardAnswerIsStop() throws {
        let chain = MigrationChain(component: "c", storage: InMemoryMigrationStorage())
        let report = try chain.run([MigrationOperation("x", toVersion: 1) { throw Broken() }], target: 1)
        #expect(report.outcome == .stopped(at: "x"))
    }

    @Test(arguments: ["", "1", "1 ", "a b", "1 2 3", "-1 2", "1 2 unfinished x", "1  2"])
    func aDamagedRecordIsNone(text: String) {
        #expect(MigrationRecord(rawValue: text) == nil)
    }

    // MARK: Storages

    @Test func aStorageWithTransactionsKeepsWorkAndRecordTogether() throws {
        let database = Database()
        let chain = MigrationChain(component: "c", storage: database)
        let operations = [
            MigrationOperation("1", toVersion: 1) { database.data.append("1") },
            MigrationOperation("2", toVersion: 2) {
                database.data.append("half of 2")
                throw Broken()
            },
        ]
        _ = try chain.run(operations, target: 2)
        #expect(database.data == ["1"])
        #expect(database.record?.version == 1)
    }

    @Test func whatTheStorageThrowsIsNoErrorOfTheOperation() {
        let database = Database()
        database.isBroken = true
        let log = Log()
        #expect(throws: Broken.self) {
            try MigrationChain(component: "c", storage: database).run([self.operation("1", log)], target: 1)
        }
        #expect(log.asked == 0)
        #expect(database.record == nil)
    }

    @Test func whatAnotherProcessDidMeanwhileIsNotDoneAgain() throws {
        let database = Database()
        let log = Log()
        let chain = MigrationChain(component: "c", storage: database)
        // The other one does both steps between this run's first look and its first transaction.
        database.beforeTransaction = {
            database.beforeTransaction = nil
            _ = try chain.run([self.operation("1", log), self.operation("2", log)], target: 2)
        }
        let report = try chain.run([operation("1", log), operation("2", log)], target: 2)
        #expect(log.runs == ["1", "2"])
        #expect(report.completed.isEmpty && report.outcome == .upgraded)
        #expect(database.record == MigrationRecord(version: 2, firstInstalledVersion: 2))
    }

    // MARK: Helpers

    private final class Log {
        var runs: [String] = []
        var asked = 0
    }

    private func operation(_ word: String, _ log: Log) -> MigrationOperation {
        let name = word.trimmingSuffix("!").trimmingSuffix("?")
        return MigrationOperation(
            name, toVersion: name == "*" ? MigrationOperation.everyUpgrade : Int(name) ?? 0,
            operate: {
                log.runs.append(word)
                if word != name { throw Broken() }
            },
            handleError: { _ in
                log.asked += 1
                return word.hasSuffix("?") ? .goOn : .stop
            })
    }

    /// Rolls back as a database does.
    private final class Database: MigrationStorage {
        var record: MigrationRecord?
        var data: [String] = []
        var isBroken = false
        var beforeTransaction: (() throws -> Void)?

        func record(of component: String) -> MigrationRecord? { record }

        func save(_ record: MigrationRecord, of component: String) throws {
            if isBroken { throw Broken() }
            self.record = record
        }

        func atomically(_ component: String, _ body: () throws -> Void) throws {
            try beforeTransaction?()
            let before = (record, data)
            do {
                try body()
            } catch {
                (record, data) = before
                throw error
            }
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
