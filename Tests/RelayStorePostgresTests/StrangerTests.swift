// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StorePeers
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStorePostgres

/// Logins of the same server that are not the relay's. The tests walk everything that the server's catalogs list, so that the
/// additions of later steps are tried as well.
@Suite(
    "What strangers may do in PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct StrangerTests {
    private static let now = Timestamp(seconds: 1_700_000_000)

    enum Origin: CaseIterable {
        /// Made by this release.
        case new
        /// Made at the step before the rules for strangers, and opened.
        case standing
        /// The same, with all rights given to PUBLIC, also on later objects.
        case open
    }

    /// A store, its owner's session, and one of a role that has USAGE and SELECT alone.
    private struct Ground {
        let database: TestDatabase
        let owner, reader: PostgresConnection

        init(_ origin: Origin) throws {
            database = try origin == .new ? .ofNewStore() : TestDatabase()
            owner = try database.connect()
            if origin != .new { try Self.grow(owner, upTo: 30) }
            if origin == .open {
                try owner.execute(
                    """
                    GRANT ALL ON SCHEMA upgrade_relay TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA upgrade_relay TO PUBLIC;
                    GRANT ALL ON ALL SEQUENCES IN SCHEMA upgrade_relay TO PUBLIC;
                    GRANT UPDATE (message) ON version TO PUBLIC;
                    ALTER DEFAULT PRIVILEGES IN SCHEMA upgrade_relay GRANT ALL ON TABLES TO PUBLIC;
                    ALTER DEFAULT PRIVILEGES IN SCHEMA upgrade_relay GRANT ALL ON SEQUENCES TO PUBLIC
                    """, until: .soon)
            }
            if origin != .new {
                try owner.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA upgrade_relay TO PUBLIC", until: .soon)
                try Self.grow(owner, upTo: .max)
            }
            let role = try database.role("reader")
            try owner.execute(
                """
                GRANT USAGE ON SCHEMA upgrade_relay TO \(role); GRANT SELECT ON ALL TABLES IN SCHEMA upgrade_relay TO \(role);
                GRANT SELECT ON ALL SEQUENCES IN SCHEMA upgrade_relay TO \(role)
                """, until: .soon)
            reader = try database.connect(as: role)
        }

        private static func grow(_ owner: PostgresConnection, upTo step: Int) throws {
            let chain = PostgresMigration.chain.filter { $0.toVersion <= step }
            try PostgresSchema(name: "upgrade_relay", release: "1", chain: chain).grow(owner, at: now, until: .soon)
        }

        func list(_ query: String) throws -> [String] {
            let rows = try owner.execute(query, until: .soon)
            return (0..<rows.count).map { rows.text($0, 0) }
        }

        /// - Returns: the state with which the reader's statement was refused; nil: it was done.
        func refusal(_ sql: String) throws -> SQLState? {
            defer { reader.rollBack() }
            do throws(PostgresFailure) {
                try reader.execute("BEGIN", until: .soon)
                try reader.execute(sql, until: .soon)
                return nil
            } catch {
                return error.state
            }
        }
    }

    private static let functions = """
        SELECT p.oid::regprocedure FROM pg_proc AS p WHERE p.pronamespace = 'upgrade_relay'::regnamespace
        """

    @Test(arguments: Origin.allCases)
    func noFunctionIsExecuted(origin: Origin) throws {
        let ground = try Ground(origin)
        let all = try ground.list(Self.functions)
        #expect(all.count > 25)
        for function in all {
            let mayExecute = try ground.reader.value("SELECT has_function_privilege('\(function)', 'EXECUTE')")
            #expect(mayExecute == "f", "\(function)")
        }
        // Those without parameters are called as well, and each trigger's function is tried from outside.
        for function in try ground.list("\(Self.functions) AND p.pronargs = 0 AND p.prorettype <> 'trigger'::regtype") {
            #expect(try ground.refusal("SELECT \(function)") == "42501", "\(function)")
        }
        let triggers = try ground.list("\(Self.functions) AND p.prorettype = 'trigger'::regtype")
        #expect(triggers.count >= 9)
        for function in triggers {
            let attack = """
                CREATE TEMPORARY TABLE mine (app text, platform text, required text, latest text, message text);
                CREATE TRIGGER attack AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION \(function);
                INSERT INTO mine VALUES ('com.example.app', 'ios', '99', '99', 'pwned')
                """
            #expect(try ground.refusal(attack) == "42501", "\(function)")
        }
        #expect(try ground.owner.value("SELECT count(*) FROM requirement") == "0")
    }

    @Test(arguments: Origin.allCases)
    func nothingIsWritten(origin: Origin) throws {
        let ground = try Ground(origin)
        let relations = try ground.list(
            """
            SELECT c.oid::regclass || ' ' || c.relkind::text || ' ' || coalesce(
                (SELECT quote_ident(a.attname) FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 LIMIT 1), '-')
            FROM pg_class AS c WHERE c.relnamespace = 'upgrade_relay'::regnamespace AND c.relkind NOT IN ('i', 'I', 'c', 't')
            """
        ).map { $0.split(separator: " ").map(String.init) }
        #expect(relations.count > 60)
        for relation in relations {
            let (name, kind, column) = ("upgrade_relay.\(relation[0])", relation[1], relation[2])
            switch kind {
            case "S":
                for attack in ["nextval('\(name)')", "setval('\(name)', 1)"] {
                    #expect(try ground.refusal("SELECT \(attack)") == "42501", "\(attack)")
                }
            case "r", "v":
                var attacks = [
                    "INSERT INTO \(name) DEFAULT VALUES", "DELETE FROM \(name)", "LOCK TABLE \(name) IN ROW SHARE MODE",
                    "LOCK TABLE \(name) IN EXCLUSIVE MODE", "ALTER TABLE \(name) ADD COLUMN mine int",
                    "CREATE RULE mine AS ON INSERT TO \(name) DO NOTHING",
                ]
                if column != "-" {
                    attacks += [
                        "UPDATE \(name) SET \(column) = NULL", "SELECT FROM \(name) FOR KEY SHARE",
                        // A column of its type would keep the table from being altered.
                        "CREATE TEMPORARY TABLE mine (it \(name))",
                    ]
                }
                if kind == "r" {
                    attacks += [
                        "TRUNCATE \(name)",
                        "CREATE TRIGGER mine AFTER INSERT ON \(name) EXECUTE FUNCTION suppress_redundant_updates_trigger()",
                    ]
                    if column != "-" {
                        attacks.append("CREATE TABLE pg_temp.mine (it int REFERENCES \(name) (\(column)))")
                    }
                }
                for attack in attacks {
                    let state = try ground.refusal(attack)
                    // A statement that a view accepts from no role is refused with its own state.
                    let refusals: Set<SQLState> = kind == "v" ? ["42501", "55000", "0A000"] : ["42501", "42P16"]
                    #expect(state.map(refusals.contains) == true, "\(attack): \(state?.code ?? "done")")
                }
            default: Issue.record("\(name) is of a kind that nobody has thought of: \(kind)")
            }
        }
        for attack in [
            "CREATE TABLE upgrade_relay.mine ()",
            "CREATE FUNCTION upgrade_relay.version_key(upgrade_relay.version_text) RETURNS text LANGUAGE sql AS 'SELECT ''9'''",
            "CREATE TEMPORARY TABLE mine (it upgrade_relay.version_text)",
        ] {
            #expect(try ground.refusal(attack) == "42501", "\(attack)")
        }
        // PUBLIC has none of the other rights either, by the list that takes them away.
        #expect(try ground.list("SELECT r.thing FROM (\(PublicRights.list)) AS r") == [])
    }

    /// For the case that one of them is executed all the same.
    @Test func aTriggersFunctionWithItsOwnersRightsServesItsOwnTables() throws {
        let ground = try Ground(.new)
        let definers = try ground.list("\(Self.functions) AND p.prosecdef")
        #expect(definers.count >= 5)
        #expect(
            try ground.list("\(Self.functions) AND p.prosecdef AND p.prorettype <> 'trigger'::regtype") == [],
            "one that is no trigger's has to be thought about")
        #expect(
            try ground.list(
                """
                \(Self.functions) AND p.prosecdef AND NOT coalesce(
                    'search_path=upgrade_relay, pg_temp' = ANY (p.proconfig) OR
                    'search_path="upgrade_relay", pg_temp' = ANY (p.proconfig), false)
                """) == [], "each has a search_path, with pg_temp as its last, by name")
        #expect(
            try ground.list(
                """
                \(Self.functions) AND p.prosecdef
                    AND p.proowner <> (SELECT c.relowner FROM pg_class AS c WHERE c.oid = 'upgrade_relay.version'::regclass)
                """) == [])
        for function in definers {
            for moment in ["BEFORE", "AFTER"] {
                let failure = #expect(throws: PostgresFailure.self) {
                    try ground.owner.transaction(until: .soon) { owner in
                        try owner.execute(
                            """
                            CREATE TEMPORARY TABLE version AS SELECT * FROM upgrade_relay.version;
                            CREATE TRIGGER attack \(moment) INSERT ON pg_temp.version
                                FOR EACH ROW EXECUTE FUNCTION \(function);
                            INSERT INTO pg_temp.version (app, platform, required) VALUES ('a', 'ios', '99')
                            """, until: .soon)
                    }
                }
                #expect(failure?.state == "42501", "\(function): \(failure?.message ?? "")")
                #expect(failure?.message.contains("serves the relay's tables") == true, "\(function)")
            }
        }
    }

    @Test(arguments: Origin.allCases)
    func anotherProgramMayWriteVersionsWithWhatTheGuideGrants(origin: Origin) throws {
        let ground = try Ground(origin)
        let role = try ground.database.role("erp")
        try ground.owner.execute(
            """
            GRANT USAGE ON SCHEMA upgrade_relay TO \(role); GRANT SELECT, INSERT, UPDATE ON version TO \(role)
            """, until: .soon)
        let program = try ground.database.connect(as: role)
        try program.execute(
            """
            INSERT INTO version (app, platform, required, changed_by, telephones) VALUES ('a', 'ios', '2', 'erp', '["138"]');
            UPDATE version SET latest = '2.2', message = 'new' WHERE app = 'a';
            INSERT INTO version (app, platform, required) VALUES ('b', 'android', '1')
                ON CONFLICT (app, platform) DO UPDATE SET required = excluded.required;
            SELECT count(*) FROM version
            """, until: .soon)
        #expect(try ground.owner.value("SELECT count(*) FROM requirement WHERE state = 'asked'") == "3")
        #expect(try ground.owner.value("SELECT telephone FROM requirement_canary") == "138")
        let failure = #expect(throws: PostgresFailure.self) {
            try program.execute("SELECT * FROM device", until: .soon).count
        }
        #expect(failure?.state == "42501")
        // The audit trail has the name that the program gives itself.
        let store = try ground.database.store()
        defer { store.close() }
        let draft = CampaignDraft(downloadURL: "https://example.com", timeToLive: .seconds(60))
        _ = try store.reconcile(AppKey(app: "a", platform: .ios), draft: draft, at: Self.now)
        let actors = try store.audit(AuditFilter(), before: nil, limit: 99).reversed().map(\.actor)
        #expect(actors.filter { $0.kind == .database } == [.database("erp"), .database("unknown")])
    }

    // MARK: Locks

    /// The stranger has no grant at all, and takes every lock that it can guess: all keys that were ever used, and every key
    /// that pg_locks shows.
    @Test func noLockOfAStrangersStopsTheRelay() throws {
        let database = try TestDatabase()
        let stranger = try database.connect(as: database.role("stranger"))
        try stranger.execute(
            """
            SELECT pg_advisory_lock(key) FROM generate_series(0, 300) AS key;
            SELECT pg_advisory_lock(class, key) FROM generate_series(0, 12) AS class, generate_series(0, 40) AS key;
            SELECT pg_advisory_lock(8, hashtext('upgrade_relay')), pg_advisory_lock(7, hashtext('com.example.app ios'));
            SELECT pg_advisory_lock(10, hashtext('upgrade_relay ' || node)) FROM generate_series(1, 100) AS node
            """, until: .soon)
        let store = try database.store()
        defer { store.close() }
        func node(_ name: String) throws -> NodeLease {
            try store.join(
                NodeDescription(name: name, release: "1", address: "", configuration: ""), for: .milliseconds(1)
            ).0
        }
        let (one, other) = (try node("one"), try node("other"))
        #expect(try store.lead(one))
        // No other session can see a key of the locks that it holds.
        let app = AppKey(app: "com.example.app", platform: .ios)
        try store.write("a look at its locks", lock: .app(app)) { session in
            try session.run("SELECT hold_node(?, ?)", one.node, one.incarnation)
            try session.run("SELECT exclude_node(?)", other.node)
            #expect(
                try session.integer(
                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()") == 0)
        }
        #expect(try store.fence(other), "its lease is over")
        try store.checkWritable()
        #expect(
            try database.connect().value(
                """
                SELECT count(*) FROM pg_proc WHERE pronamespace = 'upgrade_relay'::regnamespace AND prosrc LIKE '%advisory%'
                """) == "0")
    }

    /// NOTIFY needs no right. A relay does what a person asked of another relay; a stranger's NOTIFY is no such request.
    @Test func aStrangersWishIsNotDone() throws {
        let database = try TestDatabase.ofNewStore()
        let stranger = try database.connect(as: database.role("stranger"))
        let (store, other) = (try database.store(), try database.store())
        defer {
            store.close()
            other.close()
        }
        #expect(try store.awaitNews(until: .after(.zero)).isEverything)
        try stranger.execute("NOTIFY upgrade_relay, 'upgrade_relay !probe ios com.example.stranger'", until: .soon)
        try other.send(.ask(AppKey(app: "com.example.app", platform: .ios)))
        var wishes: [FleetRequest] = []
        while wishes.isEmpty { wishes += try store.awaitNews(until: .soon).wishes }
        #expect(wishes == [.ask(AppKey(app: "com.example.app", platform: .ios))])
    }

    @Test func whoIsFencedIsWaitedForAndNobodyElse() throws {
        let database = try TestDatabase.ofNewStore()
        let store = try database.store()
        defer { store.close() }
        let leases = try ["one", "other"].map { name in
            try store.join(
                NodeDescription(name: name, release: "1", address: "", configuration: ""), for: .milliseconds(1)
            ).0
        }
        let writer = try database.connect()
        try writer.execute("BEGIN; SELECT hold_node(\(leases[0].node), \(leases[0].incarnation))", until: .soon)
        #expect(try store.fence(leases[1]))
        #expect(try store.fence(leases[0]), "the session that would not end is ended")
        #expect(throws: PostgresFailure.self) { try writer.execute("COMMIT", until: .soon).count }
    }

    /// A relay comes back on another machine while its former process hangs in a transaction.
    @Test func aRelayThatComesBackEndsTheSessionsOfItsFormerProcess() throws {
        let database = try TestDatabase.ofNewStore()
        let store = try database.store()
        defer { store.close() }
        let description = NodeDescription(name: "one", release: "1", address: "", configuration: "")
        let former = try store.join(description, for: .milliseconds(1)).0
        let writer = try database.connect()
        try writer.execute("BEGIN; SELECT hold_node(\(former.node), \(former.incarnation))", until: .soon)
        let joined = try store.join(description, for: .seconds(60)).0
        #expect(joined == NodeLease(node: former.node, incarnation: former.incarnation + 1))
        #expect(throws: PostgresFailure.self) { try writer.execute("COMMIT", until: .soon).count }
    }
}

extension TestDatabase {
    /// Makes a login without any grant.
    func role(_ name: String) throws -> String {
        let role = "\(self.name)_\(name)"
        try connect().execute("CREATE ROLE \(role) LOGIN PASSWORD 'x'", until: .soon)
        return role
    }

    func connect(as role: String) throws -> PostgresConnection {
        try Self.dialer(server.conninfo(database: name, user: role), password: "x").dial(.requests, until: .soon)
    }
}
