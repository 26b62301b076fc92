"""Finds the configuration that belongs to magika's model: sizes, labels, thresholds."""
import importlib.util
import json
import os


def load(path=None):
    """The configuration at `path`, else the one in the installed package; importing that is not needed."""
    if path is None:
        package = importlib.util.find_spec("magika").submodule_search_locations[0]
        path = os.path.join(package, "models", "standard_v3_3", "config.min.json")
    with open(path) as file:
        return json.load(file)
