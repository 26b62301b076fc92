"""Prints the file type that magika's model chose, and its score, from what `sealift infer --json` wrote.

usage: magika_label.py OUTPUT [CONFIG]

CONFIG is the model's config.min.json; without it, that of the installed Python package magika.
"""
import json
import sys

from magika_config import load


def main():
    config = load(sys.argv[2] if len(sys.argv) > 2 else None)
    with open(sys.argv[1]) as file:
        document = json.load(file)
    output = document.get("outputs", document)["target_label"]
    scores = output["data"]
    while scores and isinstance(scores[0], list):
        scores = scores[0]
    best = max(range(len(scores)), key=scores.__getitem__)
    label = config["target_labels_space"][best]
    threshold = config["thresholds"].get(label, config["medium_confidence_threshold"])
    label = config["overwrite_map"].get(label, label)
    doubt = "" if scores[best] >= threshold else ", which is too little to be sure"
    print(f"{label} with a score of {scores[best]:.4f}{doubt}")


main()
