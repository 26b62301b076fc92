/// What Core ML opens for the entry of a manifest; pure, so that it is tested where there is no Core ML.
enum CoreMLPlace {
    /// The package or compiled folder that the entry, which is always a file, lies in; else the entry itself.
    static func model(ofEntry entry: String) -> String {
        let names = entry.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let place = names.lastIndex { $0.lowercased().hasSuffix(".mlpackage") || isCompiled($0) }
        guard let place else { return entry }
        return names[...place].joined(separator: "/")
    }

    /// Whether the model is compiled already.
    static func isCompiled(_ model: String) -> Bool { model.lowercased().hasSuffix(".mlmodelc") }
}
