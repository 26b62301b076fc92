package import Names

/// Whether a model can take the place that an app has for it.
package enum Compatibility {
    /// Compares what an app sends and reads with what a model takes and gives.
    ///
    /// - Parameters:
    ///   - expectation: The app's side.
    ///   - interface: The model's side, of the variant that would run.
    ///   - version: When given, it must be within `expectation.accepts`.
    /// - Returns: A verdict that names every obstacle, not only the first.
    package static func verdict(
        _ expectation: Expectation,
        _ interface: Interface,
        version: ModelVersion? = nil
    ) -> Verdict {
        .compatible(notes: [])
    }
}
