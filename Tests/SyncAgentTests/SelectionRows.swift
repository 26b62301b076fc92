import Manifest

extension Selection {
    /// The table, row by row.
    static let rows: [Selection] = [
        Selection(name: "the newest listed is taken", expected: ["1.4.0", "1.3.0"]),
        Selection(name: "a first install takes the newest", active: nil, expected: ["1.4.0", "1.3.0"]),
        Selection(
            name: "held and active: stays",
            active: "1.4.0",
            held: ["1.4.0"],
            expected: ["1.4.0"]
        ),
        Selection(
            name: "quarantined and active: the best of the others, also a lower one",
            active: "1.4.0",
            quarantined: ["1.4.0"],
            expected: ["1.3.0"],
            passedOver: ["1.4.0": "crashed here"]
        ),
        Selection(
            name: "quarantined and active, and nothing else: it stays",
            active: "1.4.0",
            listed: list("1.4.0"),
            quarantined: ["1.4.0"],
            expected: [],
            passedOver: ["1.4.0": "crashed here"]
        ),
        Selection(
            name: "active and not what was signed: what was signed is taken",
            active: "1.4.0",
            forged: true,
            expected: ["1.4.0", "1.3.0"]
        ),
        Selection(
            name: "active, yanked, held and not what was signed: what was signed is taken",
            active: "1.4.0",
            forged: true,
            states: ["1.4.0": .yanked],
            held: ["1.4.0"],
            expected: ["1.4.0", "1.3.0"]
        ),
        Selection(
            name: "not what was signed, and off the channel: put right if nothing else is there",
            active: "1.2.0",
            forged: true,
            listed: [],
            expected: ["1.2.0"]
        ),
        Selection(
            name: "active and nothing that was ever signed: the best of what was",
            active: "1.9.0",
            forged: true,
            expected: ["1.4.0", "1.3.0"]
        ),
        Selection(
            name: "held and not active: no new install",
            held: ["1.4.0"],
            expected: ["1.3.0"],
            passedOver: ["1.4.0": "held until"]
        ),
        Selection(
            name: "yanked and active: stays",
            active: "1.4.0",
            states: ["1.4.0": .yanked],
            expected: ["1.4.0"]
        ),
        Selection(
            name: "yanked and not active: no new install",
            states: ["1.4.0": .yanked],
            expected: ["1.3.0"],
            passedOver: ["1.4.0": "yanked at"]
        ),
        Selection(
            name: "rollout narrowed below this device: stays",
            active: "1.4.0",
            listed: [("1.4.0", 10, []), ("1.3.0", 10_000, [])],
            expected: ["1.4.0"]
        ),
        Selection(
            name: "rollout that has not reached this device: no new install",
            listed: [("1.4.0", 5_000, []), ("1.3.0", 10_000, [])],
            expected: ["1.3.0"],
            passedOver: ["1.4.0": "rollout"]
        ),
        Selection(
            name: "rollout that reaches this device: taken",
            listed: [("1.4.0", 5_001, []), ("1.3.0", 10_000, [])],
            expected: ["1.4.0", "1.3.0"]
        ),
        Selection(name: "off the channel: stays", listed: list("1.2.0"), expected: []),
        Selection(
            name: "off the channel, and a higher one is listed: taken",
            listed: list("1.4.0"),
            expected: ["1.4.0"]
        ),
        Selection(
            name: "off the channel and replaced: goes back",
            listed: [("1.2.0", 10_000, ["1.3.0", "1.4.0"])],
            expected: ["1.2.0"]
        ),
        Selection(
            name: "replaced is another version: stays",
            listed: [("1.2.0", 10_000, ["1.4.0"])],
            expected: []
        ),
        Selection(
            name: "recalled: leaves for the newest good one",
            listed: list("1.2.0", "1.3.0"),
            states: ["1.3.0": .recalled],
            expected: ["1.2.0"],
            passedOver: ["1.3.0": "recalled at"],
            mustLeave: true
        ),
        Selection(
            name: "recalled and the only one: leaves for none",
            listed: list("1.3.0"),
            states: ["1.3.0": .recalled],
            expected: [],
            passedOver: ["1.3.0": "recalled at"],
            mustLeave: true
        ),
        Selection(
            name: "denied: leaves for the newest good one",
            listed: list("1.2.0", "1.3.0"),
            denied: ["1.3.0"],
            expected: ["1.2.0"],
            passedOver: ["1.3.0": "denied since"],
            mustLeave: true
        ),
        Selection(
            name: "below the signed floor and active: runs on until one is there",
            listed: list("1.3.0"),
            floor: "1.4.0",
            expected: [],
            passedOver: ["1.3.0": "below the floor 1.4.0"]
        ),
        Selection(
            name: "below the floor: replaced by the first at it",
            floor: "1.4.0",
            expected: ["1.4.0"],
            passedOver: ["1.3.0": "below the floor"]
        ),
        Selection(
            name: "below the local floor: never activated",
            active: nil,
            listed: list("1.2.0", "1.3.0"),
            floor: "1.0.0",
            localFloor: "1.3.0",
            expected: ["1.3.0"],
            passedOver: ["1.2.0": "below the floor 1.3.0"]
        ),
        Selection(
            name: "the signed floor is the higher",
            active: nil,
            listed: list("1.2.0", "1.3.0"),
            floor: "1.3.0",
            localFloor: "1.0.0",
            expected: ["1.3.0"],
            passedOver: ["1.2.0": "below the floor 1.3.0"]
        ),
        Selection(
            name: "quarantined: not taken again, and the next one is",
            active: "1.2.0",
            quarantined: ["1.4.0"],
            expected: ["1.3.0"],
            passedOver: ["1.4.0": "crashed here"]
        ),
        Selection(
            name: "a pre-release is taken where it is listed, and is below its release",
            listed: list("1.3.0", "1.4.0-rc.1"),
            released: ["1.3.0", "1.4.0-rc.1"],
            expected: ["1.4.0-rc.1", "1.3.0"]
        ),
        Selection(
            name: "a pre-release that is not listed is not taken",
            listed: list("1.3.0"),
            released: ["1.3.0", "1.4.0-rc.1"],
            expected: ["1.3.0"]
        ),
        Selection(
            name: "listed, and the release role signs nothing of it: refused",
            listed: list("1.3.0", "1.9.0"),
            expected: ["1.3.0"],
            passedOver: ["1.9.0": "release role"]
        ),
        Selection(
            name: "@VERSION is taken unlisted, whatever its rollout",
            request: "a/model@1.5.0",
            listed: [("1.5.0", 0, [])],
            expected: ["1.5.0"]
        ),
        Selection(
            name: "@VERSION goes back to what this device ran",
            request: "a/model@1.1.0",
            ran: ["1.1.0"],
            expected: ["1.1.0"]
        ),
        Selection(
            name: "@VERSION does not go back to what it never ran",
            request: "a/model@1.1.0",
            expected: [],
            passedOver: ["1.1.0": "lower than the active"]
        ),
        Selection(
            name: "@VERSION that is yanked, held, quarantined or too low is not newly installed: yanked",
            request: "a/model@1.5.0",
            states: ["1.5.0": .yanked],
            expected: [],
            passedOver: ["1.5.0": "yanked"]
        ),
        Selection(
            name: "@VERSION held",
            request: "a/model@1.5.0",
            held: ["1.5.0"],
            expected: [],
            passedOver: ["1.5.0": "held"]
        ),
        Selection(
            name: "@VERSION quarantined",
            request: "a/model@1.5.0",
            quarantined: ["1.5.0"],
            expected: [],
            passedOver: ["1.5.0": "crashed here"]
        ),
        Selection(
            name: "@VERSION below the floor",
            request: "a/model@1.1.0",
            active: nil,
            floor: "1.2.0",
            expected: [],
            passedOver: ["1.1.0": "floor"]
        ),
        Selection(
            name: "@VERSION recalled and active: left",
            request: "a/model@1.3.0",
            states: ["1.3.0": .recalled],
            expected: [],
            passedOver: ["1.3.0": "recalled"],
            mustLeave: true
        ),
        Selection(
            name: "a pin keeps a version that is not listed, and names itself to the others",
            pin: "1.3.0",
            expected: ["1.3.0"],
            passedOver: ["1.4.0": "1.3.0 is pinned"]
        ),
        Selection(
            name: "a pin takes a version, whatever its rollout",
            listed: [("1.4.0", 10_000, []), ("1.5.0", 0, [])],
            pin: "1.5.0",
            expected: ["1.5.0"],
            passedOver: ["1.4.0": "1.5.0 is pinned"]
        ),
        Selection(
            name: "a pin goes back to what this device ran",
            pin: "1.2.0",
            ran: ["1.2.0"],
            expected: ["1.2.0"],
            passedOver: ["1.4.0": "1.2.0 is pinned"]
        ),
        Selection(
            name: "a pin does not go back to what it never ran",
            pin: "1.2.0",
            expected: [],
            passedOver: ["1.2.0": "lower than", "1.4.0": "1.2.0 is pinned"]
        ),
        Selection(
            name: "a pin on what nobody released stays",
            pin: "2.0.0",
            expected: [],
            passedOver: ["2.0.0": "no such version", "1.4.0": "2.0.0 is pinned"]
        ),
    ]
}
