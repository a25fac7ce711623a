// SPDX-License-Identifier: Apache-2.0

/// The step that keeps a pause which a push service wants of a key.
enum TokenPauseSchema {
    static let sql: SQL = """
        -- Until when the push service wants no other token of this key, and no pushes with it.
        ALTER TABLE provider_token ADD COLUMN paused_until INTEGER;
        """
}
