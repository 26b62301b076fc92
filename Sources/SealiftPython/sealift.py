"""Finds the models that Sealift keeps on this device.

Standard library only, Python 3.8 or later.

    import sealift

    with sealift.lease("vision/detector") as model:
        session = onnxruntime.InferenceSession(model.entry)

`current` is resolved once for each call, so all paths of one answer belong to
one generation, whatever is activated meanwhile. (Two plain reads through
`current` can meet two versions.) While a lease is held, its version is not
deleted; a path without a lease stays for at least a day after its version was
replaced.

The device directory is the argument `directory`, or else the environment
variable SEALIFT_DIRECTORY. Nothing here writes, and nothing needs a network.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
import time
from collections import namedtuple

__all__ = ["Model", "SealiftError", "active", "lease", "models", "path"]

#: An active model. `directory` and `entry` are real paths; `entry` is what a runtime opens: of a Core ML package its
#: folder, of a model in several safetensors files the index, else the model's file.
Model = namedtuple("Model", "name version variant manifest channel directory entry generation")

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?\Z")
_VARIANT = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?\Z")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_POINTER = re.compile(r"(?:generations|fallback)/([0-9]{6,})\Z")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")
_LONGEST_RECORD = 4 << 20
_LONGEST_MANIFEST = 1 << 20


class SealiftError(Exception):
    """The model cannot be found; the message says why and what to do."""


def path(name, directory=None, file=None):
    """The real path of the active version of `name`, or of one of its files."""
    model = active(name, directory)
    if file is None:
        return model.directory
    return _inside(model, file)


def active(name, directory=None):
    """The active version of `name` as a `Model`; each of its files is there, and as it was installed."""
    if not isinstance(name, str):
        raise SealiftError("%r is not a model: expected NAMESPACE/MODEL" % (name,))
    root = _root(directory)
    return _settled(root, lambda place: _active(root, place, name))


def models(directory=None):
    """All active models of one generation, by name."""
    root = _root(directory)
    return _settled(
        root, lambda place: {name: _opened(model) for name, model in _generation(root, place).items()}
    )


def _settled(root, look):
    """What `look` finds in the active generation; what was collected between two looks is no damage."""
    for _ in range(8):
        place = _active_place(root)
        try:
            return look(place)
        except SealiftError:
            # Collected meanwhile? Then `current` points elsewhere by now.
            if _active_place(root) == place:
                raise
    raise SealiftError("%s changes faster than it can be read" % root)


def _active(root, place, name):
    found = _generation(root, place)
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise SealiftError(
            "%s is not active on this device; active: %s. "
            "Ask `sealift sync` for it too, with --model %s@CHANNEL; where that was done, "
            "`sealift why %s` tells why it is not there" % (name, known, name, name)
        )
    model = found[name]
    obstacle = _obstacle(root, model.manifest)
    if obstacle:
        raise SealiftError("%s %s: %s" % (name, model.version, obstacle))
    return _opened(model)


@contextlib.contextmanager
def lease(name, directory=None):
    """Like `active`, and keeps the version from being deleted until the block ends."""
    for _ in range(8):
        model = active(name, directory)
        descriptor = _hold(model.directory)
        if descriptor is None:
            continue  # just being collected, so something newer is active
        try:
            yield model
        finally:
            os.close(descriptor)
        return
    raise SealiftError("%s is replaced faster than it can be held" % name)


def _root(directory):
    root = directory or os.environ.get("SEALIFT_DIRECTORY")
    if not root:
        raise SealiftError("which device directory? Give directory=... or set SEALIFT_DIRECTORY")
    try:
        root = os.path.realpath(os.fspath(root))
        if isinstance(root, bytes):
            root = os.fsdecode(root)
    except (TypeError, ValueError, OSError) as error:
        raise SealiftError("%r does not name a device directory: %s" % (root, error)) from None
    if not os.path.isdir(root):
        raise SealiftError("no device directory at %s; run `sealift sync` to make one" % root)
    return root


def _active_place(root):
    """What `current` says: a generation, or the fallback of one."""
    current = os.path.join(root, "current")
    try:
        target = os.readlink(current)
    except FileNotFoundError:
        raise SealiftError("nothing is active in %s yet; run `sealift sync`" % root) from None
    except OSError as error:
        raise SealiftError("%s cannot be read: %s" % (current, error)) from None
    match = _POINTER.match(target)
    if match is None:
        raise _damaged(current, "a link to generations/NNNNNN or fallback/NNNNNN", target)
    return target


def _generation(root, place):
    number = int(place.split("/")[1])
    record_path = os.path.join(root, place, "generation.json")
    record = _record(record_path)
    if record.get("type") != "sealift/generation@1" or record.get("number") != number:
        raise _damaged(record_path, "the record of generation %d" % number, "something else")
    found = {}
    entries = record.get("models")
    if not isinstance(entries, list):
        raise _damaged(record_path, "a list of models", repr(entries)[:100])
    for entry in entries:
        model = _model(root, number, entry, record_path)
        link = os.path.join(root, place, *model.name.split("/"))
        expected = "../../../versions/" + os.path.relpath(model.directory, os.path.join(root, "versions"))
        try:
            target = os.readlink(link)
        except OSError:
            target = "nothing"
        if target != expected:
            raise _damaged(link, "a link to " + expected, target)
        found[model.name] = model
    return found


def _record(record_path):
    text = _bytes(record_path, _LONGEST_RECORD)
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(record_path, "JSON", str(error)) from None
    if not isinstance(record, dict):
        raise _damaged(record_path, "an object", "something else")
    return record


def _bytes(file_path, longest):
    """The whole of a regular file; never waits, as for the other end of a pipe."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(file_path, flags)
    except FileNotFoundError:
        raise _damaged(file_path, "a record", "nothing") from None
    except OSError as error:
        raise _damaged(file_path, "a readable file", str(error)) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _damaged(file_path, "a file", "something else")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            text = file.read(longest + 1)
    except OSError as error:
        raise _damaged(file_path, "a readable file", str(error)) from None
    finally:
        os.close(descriptor)
    if len(text) > longest:
        raise _damaged(file_path, "at most %d bytes" % longest, "more")
    return text


def _state(root):
    """What the last sync learned; `None` when no sync finished, or neither of the two notes can be read."""
    for name in ("state.json", "state-copy.json"):
        note = os.path.join(root, "trust", name)
        try:
            text = _bytes(note, _LONGEST_RECORD)
            state = json.loads(text)
        except (SealiftError, ValueError, RecursionError):
            continue
        if not isinstance(state, dict) or state.get("type") != "sealift/state@1":
            continue
        times = [state.get(key) for key in ("checked", "fresh_until", "grace_until")]
        times += [state["clock_floor"]] if "clock_floor" in state else []
        recalled = state.get("recalled")
        if not isinstance(recalled, list) or not all(isinstance(item, str) for item in times + recalled):
            continue
        if not all(_TIME.match(item) for item in times) or not all(_DIGEST.match(item) for item in recalled):
            continue
        if _canonical(state) != text:
            continue
        # A bit that goes wrong in a time or a digest leaves a sound document that says another thing.
        # One that a program before this one wrote has no digest of its own; the next sync gives it one.
        digest = state.pop("sha256", None)
        if digest in (None, hashlib.sha256(_canonical(state)).hexdigest()):
            return state
    return None


def _canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _obstacle(root, manifest):
    """Why an active version may not be used: what the last sync learned, by this machine's clock."""
    state = _state(root)
    if state is None:
        return None
    if manifest in state["recalled"]:
        return "it is recalled; run `sealift sync` to get another version"
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    now = max(now, state.get("clock_floor", now))
    if state.get("after_grace") == "refuse" and now >= state["grace_until"]:
        return "the grace of the signed chain ended at %s; run `sealift sync` to get a current chain" % (
            state["grace_until"]
        )
    return None


def _model(root, number, entry, record_path):
    def text(key, shape):
        value = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(value, str) or shape.match(value) is None:
            raise _damaged(record_path, "a sound `%s`" % key, repr(value))
        return value

    halves = str(entry.get("model") if isinstance(entry, dict) else None).split("/")
    if len(halves) != 2 or any(_NAME.match(half) is None or ".." in half for half in halves):
        raise _damaged(record_path, "a model NAMESPACE/MODEL", "/".join(halves))
    version = text("version", _VERSION)
    variant = text("variant", _VARIANT)
    manifest = text("manifest", _DIGEST)
    folder = "%s-%s-%s" % (version, variant, manifest)
    directory = os.path.join(root, "versions", halves[0], halves[1], folder)
    model = Model("/".join(halves), version, variant, manifest, entry.get("channel"), directory, "", number)
    return model._replace(entry=_join(directory, entry.get("entry"), record_path))


def _join(directory, file, where):
    parts = file.split("/") if isinstance(file, str) else [""]
    if any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts):
        raise _damaged(where, "a relative path", repr(file))
    return os.path.join(directory, *parts)


def _inside(model, file):
    try:
        found = _join(model.directory, file, model.directory)
    except SealiftError:
        raise SealiftError("%r does not name a file inside %s" % (file, model.name)) from None
    files = _content(model)[1]
    if file not in files:
        raise SealiftError("%s %s has no file %s" % (model.name, model.version, file))
    _check(model, file, files)
    return found


def _content(model):
    """Format, and length and digest of each file of the version, by its manifest, whose digest the record names."""
    manifest_path = model.directory + ".json"
    text = _bytes(manifest_path, _LONGEST_MANIFEST)
    digest = hashlib.sha256(text).hexdigest()
    if digest != model.manifest:
        raise _damaged(manifest_path, "SHA-256 " + model.manifest, digest)
    try:
        variants = [item for item in json.loads(text)["variants"] if item["name"] == model.variant]
        files = {item["path"]: (item["length"], item["sha256"]) for item in variants[0]["files"]}
        form = variants[0]["format"]
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise _damaged(manifest_path, "the manifest of %s" % model.name, repr(error)) from None
    sound = all(
        isinstance(path, str) and type(length) is int and isinstance(digest, str) and _DIGEST.match(digest)
        for path, (length, digest) in files.items()
    )
    if not sound or not isinstance(form, str):
        raise _damaged(manifest_path, "the manifest of %s" % model.name, "something else")
    return form, files


def _opened(model):
    """The model with what programs open of it as its entry."""
    form, files = _content(model)
    entry = os.path.relpath(model.entry, model.directory)
    for file in [entry] + list(files):
        _check(model, file, files)
    folder = entry.rpartition("/")[0]
    if form in ("coreml-package", "coreml-compiled"):
        return model._replace(entry=_join(model.directory, folder, model.directory) if folder else model.directory)
    if form == "safetensors":
        suffix = ".safetensors.index.json"
        indexes = [path for path in files if path.rpartition("/")[0] == folder and path.endswith(suffix)]
        if len(indexes) == 1:
            return model._replace(entry=_join(model.directory, indexes[0], model.directory))
    return model


def _check(model, file, files):
    """That a file of the version is there, regular, and as long and dated as it was installed.

    One with another date was changed or copied since: it is read whole, and is as good as any if its digest holds.
    """
    if file not in files:
        raise _damaged(os.path.join(model.directory, file), "a file of %s %s" % (model.name, model.version), "none")
    length, digest = files[file]
    file_path = _join(model.directory, file, model.directory + ".json")
    try:
        found = os.lstat(file_path)
    except (OSError, ValueError):
        raise _damaged(file_path, "%d bytes" % length, "nothing") from None
    if not stat.S_ISREG(found.st_mode):
        raise _damaged(file_path, "a file", "something else")
    if found.st_size != length:
        raise _damaged(file_path, "%d bytes" % length, "%d bytes" % found.st_size)
    if found.st_mtime_ns // 10**9 != 10**9 + int(digest[:8], 16) % (5 * 10**8):
        actual = _digest(file_path)
        if actual != digest:
            raise _damaged(file_path, "SHA-256 " + digest, actual)


#: What was read whole and is as signed, by its state: so that each such file is read once, as long as it stays as it is.
_READ = {}


def _digest(file_path):
    """SHA-256 of a whole file."""
    try:
        with open(os.open(file_path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            state = os.fstat(file.fileno())
            key = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            if key not in _READ:
                digest = hashlib.sha256()
                for piece in iter(lambda: file.read(1 << 20), b""):
                    digest.update(piece)
                if len(_READ) >= 4096:
                    _READ.clear()
                _READ[key] = digest.hexdigest()
            return _READ[key]
    except OSError as error:
        raise _damaged(file_path, "readable bytes", str(error)) from None


def _hold(directory):
    """A descriptor with a shared lock on the directory; `None` when it is gone or being deleted."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(directory, "a directory", str(error)) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        held, named = os.fstat(descriptor), os.lstat(directory)
        if (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        return descriptor  # a file system without such locks; a day's grace remains
    os.close(descriptor)
    return None


def _damaged(where, expected, found):
    return SealiftError(
        "%s is damaged: expected %s, found %s; run `sealift sync` to put it right" % (where, expected, found)
    )
