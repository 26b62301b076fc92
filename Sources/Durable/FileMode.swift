import Glibc

/// The permission bits of all that is made here, whatever the process's mask: one rule.
///
/// - What is everybody's to read is 0644, its directories 0755, so that an app
///   of another user opens what is active.
/// - In a directory that its group may write and that hands its group on
///   (`chmod g+w,g+s`), the group may write what is made in it too: 0664 and
///   2775.
/// - What never changes again keeps its own: 0444, in directories of 0555.
/// - What is this user's alone is 0600, its directories 0700, also there.
package enum FileMode {
    static let file: UInt32 = 0o644
    static let directory: UInt32 = 0o755

    /// The bits of something that is made with `mode` inside `folder`.
    static func bits(_ mode: UInt32, in folder: String) -> UInt32 {
        guard mode == file || mode == directory else { return mode }
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & 0o2020 == 0o2020 else { return mode }
        return mode | (mode == directory ? 0o2020 : 0o020)
    }

    /// Gives an open file of everybody's the bits of the rule, where it is this user's and has others.
    ///
    /// What keeps it from that, as a read-only disk, keeps nobody from using the file.
    static func settle(_ descriptor: Int32, _ path: String) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else { return }
        let bits = bits(file, in: Durable.parent(of: path))
        // More than the rule gives was somebody's wish.
        guard UInt32(status.st_mode) & bits != bits else { return }
        _ = fchmod(descriptor, mode_t(UInt32(status.st_mode & 0o777) | bits))
    }
}
