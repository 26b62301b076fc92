"""Measures Sealift against named peers on this machine, in one run.

Each row runs both sides in turn, several times, and reports medians and the ratio peer / Sealift (above 1:
Sealift is faster), and of whole processes the most memory they had resident. Nothing here is a test: numbers
depend on the machine, and the spread is printed with them.

Usage: run.py [--rounds N] [--mebibytes M] [--delta-mebibytes D] [--only GROUP]…
"""
import argparse
import os
import platform

import delivery
import delta
import interfaces
import library
import metadata
from measure import Bench

# Those that need a registry get one; `options` are those of the command line.
WITH_REGISTRY = {
    "delivery": lambda bench, options: delivery.run(bench, options.mebibytes),
    "delta": lambda bench, options: delta.run(bench, options.delta_mebibytes),
    "interfaces": lambda bench, options: interfaces.run(bench),
}
ALONE = {
    "library": lambda options: library.run(),
    "metadata": lambda options: metadata.run(options.rounds),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--delta-mebibytes", type=int, default=512)
    parser.add_argument("--only", action="append", choices=[*WITH_REGISTRY, *ALONE])
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}; {options.rounds} rounds, medians\n")
    wanted = lambda name: options.only is None or name in options.only
    for name, group in ALONE.items():
        if wanted(name):
            group(options)
    if not any(map(wanted, WITH_REGISTRY)):
        return
    bench = Bench(options.rounds)
    try:
        for name, group in WITH_REGISTRY.items():
            if wanted(name):
                group(bench, options)
    finally:
        bench.close()


if __name__ == "__main__":
    main()
