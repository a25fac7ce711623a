// SPDX-License-Identifier: Apache-2.0

extension PageLanguage {
    /// The texts about acts that wait for a second person.
    static let chineseApprovalTexts: [String: String] = [
        "A second person approves or refuses it. At its time it ends, and nothing has changed.":
            "由第二人批准或拒绝。到期自动结束，不产生任何变更。",
        "done by one person alone": "由一人单独执行",
        "ended without an approval": "到期未获批准",
        "Approved by a second person": "第二人已批准",
        "Done by one person alone": "由一人单独执行",
        "Refused by a second person": "第二人已拒绝",
        "Second person asked for": "请求第二人批准",
        "approved it as the second person": "作为第二人批准了该请求",
        "asked for an act that a second person approves": "提出了需第二人批准的操作",
        "did alone what wants a second person": "单独执行了需第二人批准的操作",
        "Nothing waits for a second person.": "没有等待第二人的申请。",
        "Second person": "第二人",
        "Devices that it reaches": "涉及的设备",
        "It counts as if it was asked for now.": "视为此刻提出。",
        "Take it back": "收回申请",
        "You asked for it: a second person approves it.": "这是您的申请：需由第二人批准。",
        "refused it": "拒绝了该请求",
        "A reason is needed, of % characters at most.": "需要填写理由，最多 % 个字符。",
    ]
}
