"""Writes the fixtures that the official libraries can make beside those of the first set.

Run by hand, with coremltools 9.0, gguf 0.19.0, safetensors 0.8.0 and numpy; tests use the files that it left:
    python make.py FOLDER
Two runs write the same bytes, except the identifiers in Manifest.json.
"""
import json
import pathlib
import sys

import gguf
import numpy
import safetensors.numpy

OUT = pathlib.Path(sys.argv[1])


def gguf_set():
    """Three parts as llama-gguf-split writes them: all metadata in the first, a part's number in each."""
    tensors = [("token_embd.weight", (4, 32)), ("blk.0.attn_q.weight", (32, 32)), ("output.weight", (4, 32))]
    for number, (name, shape) in enumerate(tensors):
        path = OUT / "gguf" / f"set-0000{number + 1}-of-00003.gguf"
        writer = gguf.GGUFWriter(path, "llama")
        if number == 0:
            writer.add_name("set")
            writer.add_tokenizer_model("gpt2")
            writer.add_token_list(["a", "b", "c", "d"])
            writer.add_token_merges(["a b", "c d"])
            writer.add_chat_template("{{ messages }}")
        writer.add_uint16("split.no", number)
        writer.add_uint16("split.count", 3)
        writer.add_int32("split.tensors.count", 3)
        writer.add_tensor(name, numpy.full(shape, number, dtype=numpy.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def safetensors_set():
    folder = OUT / "safetensors" / "set"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [
        {"a": numpy.zeros((2, 3), numpy.float32)},
        {"b": numpy.zeros(4, numpy.int8), "c": numpy.zeros((), numpy.float64)},
    ]
    weight_map = {}
    for number, tensors in enumerate(parts):
        name = f"model-0000{number + 1}-of-00002.safetensors"
        safetensors.numpy.save_file(tensors, folder / name, metadata={"format": "np"})
        weight_map |= {tensor: name for tensor in tensors}
    index = {"metadata": {"total_size": 36.0}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))


def core_ml():
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import types
    from coremltools.models import datatypes, neural_network

    def weights(*shape):
        return numpy.arange(numpy.prod(shape)).reshape(shape).astype(numpy.float16)

    @mb.program(
        input_specs=[mb.TensorSpec((1, 64), types.fp16), mb.StateTensorSpec((1, 64), types.fp16)],
        opset_version=ct.target.iOS18,
    )
    def stateful(x, memory):
        total = mb.add(x=mb.read_state(input=memory), y=x)
        mb.coreml_update_state(state=memory, value=total)
        return mb.mul(x=total, y=weights(1, 64), name="y")

    model = ct.convert(stateful, minimum_deployment_target=ct.target.iOS18, compute_units=ct.ComputeUnit.CPU_ONLY,
                       skip_model_load=True)
    model.save(str(OUT / "coreml" / "mlprogram_state.mlpackage"))

    @mb.program(input_specs=[mb.TensorSpec((1, 3, 8, 8))])
    def images(photo):
        return mb.mul(x=photo, y=weights(1, 3, 8, 8).astype(numpy.float32), name="y")

    model = ct.convert(images, inputs=[ct.ImageType("photo", (1, 3, 8, 8), scale=1 / 255)],
                       skip_model_load=True)
    model.save(str(OUT / "coreml" / "mlprogram_image.mlpackage"))

    builder = ct.models.tree_ensemble.TreeEnsembleClassifier(
        [("x", datatypes.Double())], [10, 20, 30],
        output_features=[("class", datatypes.Int64()), ("p", datatypes.Dictionary(datatypes.Int64()))])
    builder.add_branch_node(0, 0, 0, 0.5, "BranchOnValueLessThanEqual", 1, 2)
    builder.add_leaf_node(0, 1, {0: 1.0})
    builder.add_leaf_node(0, 2, {2: 1.0})
    builder.set_default_prediction_value([0.0, 0.0, 0.0])
    builder.set_post_evaluation_transform("Classification_SoftMax")
    ct.models.MLModel(builder.spec, skip_model_load=True).save(str(OUT / "coreml" / "tree_classifier.mlmodel"))

    def network(custom):
        builder = neural_network.NeuralNetworkBuilder(
            [("photo", datatypes.Array(3, 8, 8))], [("y", datatypes.Array(3, 8, 8))], mode=None)
        if custom:
            from coremltools.proto import NeuralNetwork_pb2
            params = NeuralNetwork_pb2.CustomLayerParams()
            params.className = "Elsewhere"
            builder.add_custom("layer", ["photo"], ["y"], params)
        else:
            builder.add_activation("layer", "RELU", "photo", "y")
        builder.set_pre_processing_parameters(
            image_input_names=["photo"], is_bgr=False, red_bias=-0.5, green_bias=-0.25, blue_bias=-0.125,
            image_scale=1 / 128)
        return builder.spec

    plain = network(False)
    ct.models.MLModel(plain, skip_model_load=True).save(str(OUT / "coreml" / "nn_image.mlmodel"))
    custom = network(True)
    (OUT / "hostile" / "coreml_custom_layer.mlmodel").write_bytes(custom.SerializeToString())

    pipeline = ct.proto.Model_pb2.Model()
    pipeline.specificationVersion = 4
    pipeline.description.CopyFrom(builder.spec.description)
    inner = pipeline.pipelineClassifier.pipeline.models.add()
    inner.CopyFrom(builder.spec)
    (OUT / "coreml" / "pipeline_classifier.mlmodel").write_bytes(pipeline.SerializeToString())
    inner = pipeline.pipelineClassifier.pipeline.models.add()
    inner.CopyFrom(plain)
    inner.linkedModel.linkedModelFile.linkedModelFileName.defaultValue = "../other.mlmodelc"
    (OUT / "hostile" / "coreml_linked_in_pipeline.mlmodel").write_bytes(pipeline.SerializeToString())


for name in ["gguf", "safetensors", "coreml", "hostile"]:
    (OUT / name).mkdir(parents=True, exist_ok=True)
gguf_set()
safetensors_set()
core_ml()
