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
import json
import os
import re
import stat
import time
from collections import namedtuple

__all__ = ["Model", "SealiftError", "active", "lease", "models", "path"]

#: An active model. `directory` and `entry` are real paths.
Model = namedtuple("Model", "name version variant manifest channel directory entry generation")

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?\Z")
_VARIANT = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?\Z")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_POINTER = re.compile(r"(?:generations|fallback)/([0-9]{6,})\Z")
_LONGEST_RECORD = 4 << 20


class SealiftError(Exception):
    """The model cannot be found; the message says why and what to do."""


def path(name, directory=None, file=None):
    """The real path of the active version of `name`, or of one of its files."""
    model = active(name, directory)
    if file is None:
        return model.directory
    return _inside(model, file)


def active(name, directory=None):
    """The active version of `name` as a `Model`."""
    found = models(directory)
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise SealiftError(
            "%s is not active on this device; active: %s. "
            "Ask `sealift sync` for it too, with --model %s@CHANNEL; where that was done, "
            "`sealift why %s` tells why it is not there" % (name, known, name, name)
        )
    model = found[name]
    obstacle = _obstacle(_root(directory), model.manifest)
    if obstacle:
        raise SealiftError("%s %s: %s" % (name, model.version, obstacle))
    return _checked(model)


def models(directory=None):
    """All active models of one generation, by name."""
    root = _root(directory)
    for _ in range(8):
        place = _active_place(root)
        try:
            return _generation(root, place)
        except (OSError, SealiftError):
            # Collected between the two looks? Then `current` points elsewhere by now.
            if _active_place(root) == place:
                raise
    raise SealiftError("%s changes faster than it can be read" % root)


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
    root = os.path.realpath(root)
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
    for entry in record.get("models", []):
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
    try:
        with open(record_path, "rb") as file:
            text = file.read(_LONGEST_RECORD + 1)
    except FileNotFoundError:
        raise _damaged(record_path, "a record", "nothing") from None
    if len(text) > _LONGEST_RECORD:
        raise _damaged(record_path, "at most %d bytes" % _LONGEST_RECORD, "more")
    try:
        record = json.loads(text)
    except ValueError as error:
        raise _damaged(record_path, "JSON", str(error)) from None
    if not isinstance(record, dict):
        raise _damaged(record_path, "an object", "something else")
    return record


def _obstacle(root, manifest):
    """Why an active version may not be used: what the last sync learned, by this machine's clock."""
    try:
        state = _record(os.path.join(root, "trust", "state.json"))
    except SealiftError:
        return None  # no sync has finished a refresh yet
    if manifest in (state.get("recalled") or []):
        return "it is recalled; run `sealift sync` to get another version"
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    now = max(now, state.get("clock_floor") or now)
    if state.get("after_grace") == "refuse" and now >= state.get("grace_until", ""):
        return "the grace of the signed chain ended at %s; run `sealift sync` to get a current chain" % (
            state.get("grace_until")
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
    try:
        is_file = stat.S_ISREG(os.lstat(found).st_mode)
    except OSError:
        is_file = False
    if not is_file:
        raise SealiftError("%s %s has no file %s" % (model.name, model.version, file))
    return found


def _checked(model):
    try:
        is_file = stat.S_ISREG(os.lstat(model.entry).st_mode)
    except FileNotFoundError:
        is_file = False
    if not is_file:
        raise _damaged(model.entry, "the entry of %s %s" % (model.name, model.version), "nothing")
    return model


def _hold(directory):
    """A descriptor with a shared lock on the directory; `None` when it is gone or being deleted."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
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
