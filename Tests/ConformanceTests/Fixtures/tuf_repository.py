"""A repository written by python-tuf.

    tuf_repository.py FOLDER consistent|plain

Writes FOLDER/metadata with three roots (keys of all three algorithms, rotated,
thresholds of two), a delegation below a delegation, hash prefixes, hashed bins,
members of its own and text that canonical JSON must not change.
Prints the target paths and their digests.
"""
import hashlib
import json
import os
import sys
from datetime import datetime, timedelta, timezone

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import (
    DelegatedRole,
    Delegations,
    Metadata,
    MetaFile,
    Root,
    Snapshot,
    SuccinctRoles,
    TargetFile,
    Targets,
    Timestamp,
)


def main():
    folder, kind = sys.argv[1:]
    consistent = kind == "consistent"
    metadata = os.path.join(folder, "metadata")
    os.makedirs(metadata)
    expires = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=30)

    def write(name, document, signers):
        envelope = Metadata(document)
        for index, signer in enumerate(signers):
            envelope.sign(signer, append=index > 0)
        # Clients ask for `team%2Finner.json`, which a file server finds in a folder.
        path = os.path.join(metadata, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        envelope.to_file(path)

    def versioned(name, version):
        return f"{version}.{name}" if consistent else name

    old, new, second = (CryptoSigner.generate_ecdsa() for _ in range(3))
    online, rsa = CryptoSigner.generate_ed25519(), CryptoSigner.generate_rsa()
    team, inner = CryptoSigner.generate_ed25519(), CryptoSigner.generate_ecdsa()

    root = Root(expires=expires, consistent_snapshot=consistent)
    root.unrecognized_fields["x-note"] = "tab\tline\nquote\" back\\slash é 😀 \u0000"
    root.add_key(old.public_key, "root")
    root.add_key(old.public_key, "targets")
    root.add_key(rsa.public_key, "targets")
    root.roles["targets"].threshold = 2
    for role in ("timestamp", "snapshot"):
        root.add_key(online.public_key, role)
    write("1.root.json", root, [old])
    root.version = 2
    root.expires = datetime(2020, 1, 1, tzinfo=timezone.utc)
    root.revoke_key(old.public_key.keyid, "root")
    root.add_key(new.public_key, "root")
    root.add_key(second.public_key, "root")
    root.roles["root"].threshold = 2
    write("2.root.json", root, [old, new, second])
    root.version = 3
    root.expires = expires
    write("3.root.json", root, [new, second])

    content = b"content"
    file = TargetFile(
        len(content),
        {"sha256": hashlib.sha256(content).hexdigest(), "sha512": hashlib.sha512(content).hexdigest()},
        "ignored",
        {"custom": {"note": "é\n"}},
    )
    deep = Targets(expires=expires, targets={"team/ünï/deep.bin": file})
    write(versioned("team/inner.json", 1), deep, [inner])
    shallow = Targets(expires=expires, version=4, targets={"team/a b/file.bin": file})
    shallow.delegations = Delegations(
        {},
        {"team/inner": DelegatedRole("team/inner", [], 1, True, ["team/ü*/?eep.bin"])},
    )
    shallow.add_key(inner.public_key, "team/inner")
    write(versioned("team.json", 4), shallow, [team])
    binned = {path: file for path in ("bins/a", "bins/b", "bins/c")}
    bins = SuccinctRoles([], 1, 2, "bin")
    bin_roles = {name: Targets(expires=expires) for name in bins.get_roles()}
    for path in binned:
        bin_roles[bins.get_role_for_target(path)].targets[path] = file
    for name, document in bin_roles.items():
        write(versioned(f"{name}.json", 1), document, [online])
    bin_parent = Targets(expires=expires)
    bin_parent.delegations = Delegations({}, succinct_roles=bins)
    bin_parent.add_key(online.public_key)
    write(versioned("binned.json", 1), bin_parent, [team])
    prefixed = Targets(expires=expires, targets={"prefixed/file": file})
    write(versioned("prefixed.json", 1), prefixed, [team])
    prefix = hashlib.sha256(b"prefixed/file").hexdigest()[:3]
    targets = Targets(expires=expires, targets={"top.bin": file})
    targets.delegations = Delegations(
        {},
        {
            "prefixed": DelegatedRole("prefixed", [], 1, True, path_hash_prefixes=["0000", prefix]),
            "team": DelegatedRole("team", [], 1, False, ["other/*", "team/*/*"]),
            "binned": DelegatedRole("binned", [], 1, True, ["bins/*"]),
        },
    )
    for role in ("prefixed", "team", "binned"):
        targets.add_key(team.public_key, role)
    write(versioned("targets.json", 1), targets, [old, rsa])

    def meta(name, version):
        with open(os.path.join(metadata, versioned(name, version)), "rb") as opened:
            data = opened.read()
        return MetaFile(version, len(data), {"sha512": hashlib.sha512(data).hexdigest()})

    snapshot = Snapshot(expires=expires)
    snapshot.meta = {
        "targets.json": meta("targets.json", 1),
        "team.json": meta("team.json", 4),
        "team/inner.json": MetaFile(1),
        "prefixed.json": MetaFile(1),
        "binned.json": MetaFile(1),
        **{f"{name}.json": MetaFile(1) for name in bin_roles},
    }
    write(versioned("snapshot.json", 1), snapshot, [online])
    timestamp = Timestamp(expires=expires)
    timestamp.snapshot_meta = meta("snapshot.json", 1)
    write("timestamp.json", timestamp, [online])
    digest = hashlib.sha256(content).hexdigest()
    paths = ["top.bin", "team/a b/file.bin", "team/ünï/deep.bin", "prefixed/file", *binned]
    json.dump({path: digest for path in paths}, sys.stdout)


main()
