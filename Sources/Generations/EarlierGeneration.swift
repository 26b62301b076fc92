extension DeviceDirectory {
    /// Where versions stand that were active before and are still kept: the way back first, then what was active before.
    ///
    /// - Returns: Those that are whole.
    package func generations(before active: ActiveGeneration) -> [ActiveGeneration] {
        var earlier: [ActiveGeneration] = []
        if !active.place.isFallback, let fallback = fallback(of: active) { earlier.append(fallback) }
        if let number = active.record.previous {
            let place: GenerationPlace = active.record.leftFallback ? .fallback(number) : .generation(number)
            if let previous = try? ActiveGeneration(place, in: self) { earlier.append(previous) }
        }
        return earlier
    }
}
