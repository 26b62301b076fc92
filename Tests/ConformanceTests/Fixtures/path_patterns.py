"""Says of each pair of a path and a pattern whether python-tuf takes the one as covered by the other."""
import json
import sys

from tuf.api.metadata import DelegatedRole

pairs = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps([DelegatedRole("role", ["k"], 1, True, paths=[pattern]).is_delegated_path(path) for path, pattern in pairs]))
