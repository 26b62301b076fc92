/// What measured use says about preload lists and residency; pure.
package enum LibrarySuggestion {
    /// One piece of advice.
    package struct Advice: Equatable, Sendable {
        package let model: String

        /// `preload`, `pin` or `drop`.
        package let action: String
        package let reason: String
    }

    /// A model is worth loading early when people wait for it often, worth
    /// pinning when it keeps coming back, and not worth a preload when nobody asks.
    ///
    /// - Parameter models: What a record says.
    /// - Returns: The most valuable first.
    package static func advice(_ models: [LibraryRecord.Model]) -> [Advice] {
        let waited = models.sorted {
            ($0.loadMilliseconds, $1.model) > ($1.loadMilliseconds, $0.model)
        }
        return waited.compactMap { model in
            guard model.requests > 0 else {
                return Advice(model: model.model, action: "drop", reason: "nobody has asked for it")
            }
            guard model.loads > 0 else { return nil }
            let mean = model.loadMilliseconds / model.loads
            // Each run must load it once; a pin saves what comes on top.
            let again = max(0, model.loads - max(model.runs, 1))
            if again >= 3, again * 5 > model.requests {
                let share = again * 100 / model.requests
                return Advice(
                    model: model.model,
                    action: "pin",
                    reason: "\(share) % of its requests load it again, \(mean) ms each"
                )
            }
            guard mean >= 100 else { return nil }
            return Advice(
                model: model.model,
                action: "preload",
                reason: "its first request waits \(mean) ms"
            )
        }
    }
}
