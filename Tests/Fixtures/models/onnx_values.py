"""Changes names of values in models of the official onnx package, and prints what its checker says, one JSON line each.

`path`, `found` (well, never made, made twice) and `said`. Models of its own tests, those with graphs inside nodes and
with functions first; each is changed a few times, from a fixed seed, and written to the folder given. What the checker
refuses for another reason is left out.
"""
import json
import pathlib
import random
import sys

import onnx

NEVER = ("not output of any previous nodes", "is not an output of any node", "is neither output of any previous")
TWICE = ("single static assignment", "initializer name is not unique", "duplicate outputs")


def graphs(model):
    """All graphs and functions, the model's own first."""
    found, todo = [], [model.graph, *model.functions]
    while todo:
        graph = todo.pop(0)
        found.append(graph)
        for node in graph.node:
            for attribute in node.attribute:
                todo += [attribute.g] if attribute.HasField("g") else []
                todo += attribute.graphs
    return found


def change(model, draw):
    """Gives one value the name of another or of nothing, takes a node out, or puts two in another order."""
    all_graphs = graphs(model)
    graph = draw.choice(all_graphs)
    names = [n for g in all_graphs for node in g.node for n in [*node.input, *node.output] if n] + ["nowhere", ""]
    nodes = list(graph.node)
    if not nodes:
        return
    node = draw.choice(nodes)
    match draw.randrange(7):
        case 0 if node.input:
            node.input[draw.randrange(len(node.input))] = draw.choice(names)
        case 1 if node.output:
            node.output[draw.randrange(len(node.output))] = draw.choice(names)
        case 2:
            graph.node.remove(node)
        case 3:
            graph.node.append(node)
        case 4:
            del graph.node[:]
            graph.node.extend(draw.sample(nodes, len(nodes)))
        case 5 if isinstance(graph, onnx.GraphProto) and graph.initializer:
            graph.initializer.append(draw.choice(list(graph.initializer)))
        case 6 if graph is not model.graph and graph.input:
            graph.input.append(draw.choice(list(graph.input)))


def verdict(model):
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        said = str(error)
        for found, signs in [("never made", NEVER), ("made twice", TWICE)]:
            if any(sign in said for sign in signs):
                return found, said.splitlines()[0]
        return None, said
    return "well", ""


def models(folder):
    """Of each kind of operator test one, and all that have graphs or functions inside."""
    from onnx.backend.test.case.node import collect_testcases

    for case in sorted(collect_testcases(None), key=lambda case: case.name):
        model = case.model
        if model is None or any("training" in o.domain or "preview" in o.domain for o in model.opset_import):
            continue
        has_more = model.functions or len(graphs(model)) > 1
        if has_more or len(model.graph.node) > 1 or sum(map(ord, case.name)) % 8 == 0:
            yield case.name, model, 12 if has_more else 3


folder = pathlib.Path(sys.argv[1])
draw = random.Random(20261130)
for name, model, times in models(folder):
    for turn in range(times):
        changed = onnx.ModelProto()
        changed.CopyFrom(model)
        if turn:
            change(changed, draw)
        found, said = verdict(changed)
        if found:
            path = folder / f"{name}-{turn}.onnx"
            path.write_bytes(changed.SerializeToString())
            print(json.dumps({"path": str(path), "found": found, "said": said}))
