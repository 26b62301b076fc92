"""Prints what the official onnx package sees in each model of its own tests, one JSON line a file.

Also in each model of Debian's libonnx-testdata, which older versions wrote. Models that it makes for its operators'
tests are written to the folder given.

In Sealift's normal form: real inputs first, then overridable initializers as
optional inputs; `path`, `interface`, `requires`.
"""
import json
import pathlib
import sys

import onnx

NAMES = {"FLOAT": "float32", "DOUBLE": "float64"}


def element(number):
    name = onnx.TensorProto.DataType.Name(number)
    return NAMES.get(name, name.lower())


def dimension(dim):
    which = dim.WhichOneof("value")
    if which == "dim_value":
        return {"fixed": dim.dim_value}
    if which == "dim_param" and dim.dim_param:
        return {"symbol": dim.dim_param}
    return {"any": True}


def tensor(kind, proto):
    shape = [dimension(d) for d in proto.shape.dim] if proto.HasField("shape") else None
    return {"kind": kind, "element": element(proto.elem_type), "shape": shape}


def kind(proto):
    which = proto.WhichOneof("value")
    if which == "tensor_type":
        return tensor("tensor", proto.tensor_type)
    if which == "sparse_tensor_type":
        return tensor("sparse_tensor", proto.sparse_tensor_type)
    if which == "sequence_type":
        return {"kind": "sequence", "of": kind(proto.sequence_type.elem_type)}
    if which == "map_type":
        of = kind(proto.map_type.value_type)
        return {"kind": "map", "key": element(proto.map_type.key_type), "of": of}
    if which == "optional_type":
        return {"kind": "maybe", "of": kind(proto.optional_type.elem_type)}
    raise ValueError(which)


def feature(info, optional=False):
    view = kind(info.type)
    if view["kind"] == "maybe":
        view, optional = view["of"], True
    return dict(view, name=info.name, optional=optional)


def view(path):
    model = onnx.load(str(path), load_external_data=False)
    graph = model.graph
    constants = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    inputs = [feature(i) for i in graph.input if i.name not in constants]
    if model.ir_version >= 4:
        inputs += [feature(i, True) for i in graph.input if i.name in constants]
    # What is imported beside these and never used asks for nothing; a model that uses it is refused.
    come_along = {"ai.onnx", "ai.onnx.ml", "com.microsoft"} | {f.domain for f in model.functions}
    opsets = {o.domain or "ai.onnx": o.version for o in model.opset_import if (o.domain or "ai.onnx") in come_along}
    return {
        "path": str(path),
        "interface": {"inputs": inputs, "outputs": [feature(o) for o in graph.output]},
        "requires": {"ir_version": model.ir_version, "opsets": opsets},
    }


def generate(folder):
    """Writes the model of every operator test that the package can make."""
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        if case.model is not None:
            (folder / f"{case.name}.onnx").write_bytes(case.model.SerializeToString())


generated = pathlib.Path(sys.argv[1])
generate(generated)
installed = pathlib.Path("/usr/share/libonnx-testdata")
for folder in [pathlib.Path(onnx.__file__).parent / "backend/test/data", generated, installed]:
    for path in sorted(folder.rglob("*.onnx")):
        print(json.dumps(view(path)))
