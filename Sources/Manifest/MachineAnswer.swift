extension Compatibility {
    /// Judges a variant for somebody who asks whether it runs on a machine.
    ///
    /// As the verdict, except that nobody could ask where no runtime is known
    /// that loads the format, which is no yes. A device goes on all the same:
    /// it tries the model before it activates it.
    package static func answer(
        _ expectation: Expectation,
        _ manifest: ModelManifest,
        variant: Variant,
        on machine: Machine
    ) -> Verdict {
        let verdict = verdict(expectation, manifest, variant: variant, on: machine)
        let isAsked = machine.runtimes.contains { $0.formats.contains(variant.format) }
        guard verdict.allowsUse, !isAsked, !expectation.allowsUnknown else { return verdict }
        let isNameable = [ModelFormat.onnx, .tflite].contains(variant.format)
        let unasked = Finding(
            .formatChanged,
            "runtime",
            app: "has none here that was found or named and loads \(variant.format.rawValue)",
            model: "is \(variant.format.rawValue)",
            why: "nobody could ask whether it runs here",
            remedy: (isNameable ? "name the runtime, as in --runtime onnxruntime=1.24.1, or " : "")
                + "say `allow_unknown` in the expectation if the app checks by itself"
        )
        return .unknown([unasked])
    }
}
