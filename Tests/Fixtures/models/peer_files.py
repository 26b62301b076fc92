"""Writes models with coremltools, gguf and safetensors, and prints what those see in them, one JSON line a file.

Usage: peer_files.py FOLDER SEED. What they hold is drawn from the seed. Each line has `path`, and in Sealift's
normal form what the file says: `inputs` and `outputs`, or `tensors` and `metadata`, or `network` too.
"""
import json
import random
import sys
from pathlib import Path

import coremltools
import gguf
import numpy
from coremltools.models import MLModel, datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder, flexible_shape_utils
from safetensors import safe_open
from safetensors.numpy import save_file

WORDS = ["weight", "bias", "blk.0.attn_q", "größe", "層", "a b", "q\"uote", "x/y", "_", "token_embd"]


def name(draw, taken):
    while True:
        word = draw.choice(WORDS) + (f".{draw.randrange(1000)}" if draw.random() < 0.7 else "")
        if word not in taken:
            taken.add(word)
            return word


def shape(draw, ranks, most=6):
    return [draw.randint(1, most) for _ in range(draw.choice(ranks))]


def safetensors(path, draw):
    types = ["bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32", "int64", "uint64", "float64"]
    taken = set()
    tensors = {
        name(draw, taken): numpy.zeros(shape(draw, range(5)) + [0] * (draw.random() < 0.1), draw.choice(types))
        for _ in range(draw.randint(1, 12))
    }
    metadata = {name(draw, taken): draw.choice(["pt", "é\n\u2028", ""]) for _ in range(draw.randrange(4))}
    save_file(tensors, path, metadata=metadata or None)
    with safe_open(path, "numpy") as file:
        slices = {key: file.get_slice(key) for key in file.keys()}
        rows = [{"name": key, "type": part.get_dtype(), "shape": part.get_shape()} for key, part in slices.items()]
        return {"tensors": rows, "metadata": file.metadata() or {}}


def gguf_file(path, draw):
    architecture = draw.choice(["llama", "gemma3", "qwen2moe", "bert", "clip", "mamba"])
    writer = gguf.GGUFWriter(path, architecture)
    if draw.random() < 0.5:
        writer.add_custom_alignment(draw.choice([8, 64, 256]))
    if draw.random() < 0.7:
        writer.add_context_length(draw.randrange(1 << 20))
    if draw.random() < 0.7:
        writer.add_embedding_length(draw.randrange(1 << 14))
    writer.add_name(draw.choice(["tiny", "größer"]))
    writer.add_array("own.list", [draw.randrange(9) for _ in range(draw.randint(1, 5))])
    writer.add_array("own.texts", ["a", "é"])
    writer.add_bool("own.flag", draw.random() < 0.5)
    writer.add_int8("own.small", -draw.randrange(128))
    writer.add_uint64("own.large", 1 << 63)
    writer.add_uint32(f"{draw.choice(['other', 'clip.vision'])}.embedding_length", draw.randrange(99))
    if draw.random() < 0.5:
        writer.add_token_list([f"t{index}" for index in range(draw.randint(1, 40))])
        writer.add_bos_token_id(1)
    kinds = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "TQ1_0", "MXFP4", "BF16"]
    taken = set()
    for _ in range(draw.randint(0, 10)):
        if draw.random() < 0.5:
            kind = draw.choice(["float32", "float16", "float64", "int8", "int16", "int32", "int64"])
            writer.add_tensor(name(draw, taken), numpy.zeros(shape(draw, range(1, 5)), kind))
            continue
        kind = gguf.GGMLQuantizationType[draw.choice(kinds)]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        rows, blocks = shape(draw, range(1, 4)), draw.randint(1, 3)
        count = -(-256 // elements) * blocks
        data = numpy.zeros(rows + [count * size], numpy.uint8)
        writer.add_tensor(name(draw, taken), data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    reader = gguf.GGUFReader(path)
    value = lambda key: reader.fields[key].contents() if key in reader.fields else None
    rows = [{"name": t.name, "type": t.tensor_type.name, "shape": [int(n) for n in t.shape]} for t in reader.tensors]
    tokens = value("tokenizer.ggml.tokens")
    network = {
        "architecture": value("general.architecture"),
        "context_length": value(f"{architecture}.context_length"),
        "embedding_length": value(f"{architecture}.embedding_length"),
        "vocabulary_size": None if tokens is None else len(tokens),
        "begin_token": value("tokenizer.ggml.bos_token_id"),
    }
    return {
        "tensors": rows,
        "metadata": {"general.name": value("general.name")},
        "network": {key: said for key, said in network.items() if said is not None},
    }


def coreml_file(path, draw):
    """A network that does nothing to arrays of every kind of shape."""
    taken = set()
    port = lambda: (name(draw, taken), datatypes.Array(*shape(draw, [1, 3])))
    inputs, outputs = [[port() for _ in range(draw.randint(1, 4))] for _ in range(2)]
    builder = NeuralNetworkBuilder(inputs, outputs, disable_rank5_shape_mapping=True)
    for index, (out, _) in enumerate(outputs):
        builder.add_activation(f"layer{index}", "LINEAR", inputs[index % len(inputs)][0], out, [1.0, 0.0])
    spec = builder.spec
    for feature in spec.description.input:
        array = feature.type.multiArrayType
        array.dataType = draw.choice([65568, 65600, 131104])
        choice = draw.random()
        if choice < 0.3:
            bounds = [(draw.randint(1, size), draw.choice([size, size + 5, -1])) for size in array.shape]
            flexible_shape_utils.set_multiarray_ndshape_range(
                spec, feature.name, [low for low, _ in bounds], [high for _, high in bounds]
            )
        elif choice < 0.6:
            others = [tuple(size + step for size in array.shape) for step in (1, 2)]
            flexible_shape_utils.add_multiarray_ndshape_enumeration(spec, feature.name, others)
        feature.type.isOptional = draw.random() < 0.2 and len(inputs) > 1
    spec.specificationVersion = 5
    coremltools.models.utils.save_spec(spec, path)
    read = MLModel(path, skip_model_load=True).get_spec().description
    return {"inputs": [coreml_feature(f) for f in read.input], "outputs": [coreml_feature(f) for f in read.output]}


def coreml_feature(feature):
    array = feature.type.multiArrayType
    elements = {65568: "float32", 65600: "float64", 131104: "int32"}
    row = {"kind": "tensor", "name": feature.name, "optional": feature.type.isOptional, "element": elements[array.dataType]}
    which = array.WhichOneof("ShapeFlexibility")
    if which is None:
        return dict(row, shape=[{"fixed": size} for size in array.shape])
    row["default_shape"] = list(array.shape)
    if which == "enumeratedShapes":
        return dict(row, enumerated_shapes=[list(one.shape) for one in array.enumeratedShapes.shapes])
    return dict(row, shape=[size_range(one) for one in array.shapeRange.sizeRanges])


def size_range(one):
    if one.upperBound == one.lowerBound:
        return {"fixed": one.lowerBound}
    return {"range": {"min": one.lowerBound, **({"max": one.upperBound} if one.upperBound >= 0 else {})}}


def main():
    folder, draw = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    kinds = [("safetensors", safetensors, 40), ("gguf", gguf_file, 40), ("mlmodel", coreml_file, 40)]
    for suffix, write, count in kinds:
        for index in range(count):
            path = str(folder / f"{suffix}-{index}.{suffix}")
            print(json.dumps(dict(write(path, draw), path=path), ensure_ascii=False))


if __name__ == "__main__":
    main()
