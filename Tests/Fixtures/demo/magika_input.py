"""Writes the input tensor of magika's model for one file, as `sealift infer --input` reads it.

usage: magika_input.py FILE [CONFIG] > input.json

CONFIG is the model's config.min.json; without it, that of the installed Python package magika.
"""
import json
import sys

from magika_config import load


def features(content_start, content_end, config):
    """The integers that stand for a file's beginning and end, white space aside, padded in between."""
    padding, first, last = config["padding_token"], config["beg_size"], config["end_size"]
    start = list(content_start.lstrip()[:first])
    end = list(content_end.rstrip()[-last:])
    return start + [padding] * (first - len(start)) + [padding] * (last - len(end)) + end


def main():
    config = load(sys.argv[2] if len(sys.argv) > 2 else None)
    if config["mid_size"] or config["use_inputs_at_offsets"]:
        sys.exit("this model takes parts of the file that this script does not cut out")
    with open(sys.argv[1], "rb") as file:
        size = file.seek(0, 2)
        block = min(config["block_size"], size)
        file.seek(0)
        start = file.read(block)
        file.seek(size - block)
        end = file.read(block)
    data = features(start, end, config)
    if data[config["min_file_size_for_dl"] - 1] == config["padding_token"]:
        sys.exit("the file is too short for the model: magika decides such files without it")
    json.dump({"bytes": {"type": "int32", "shape": [1, len(data)], "data": data}}, sys.stdout)


main()
