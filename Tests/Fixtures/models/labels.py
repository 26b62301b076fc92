"""Classifiers whose labels stand where only the outputs tell which of them count.

Run by hand, with scikit-learn 1.9.1 and skl2onnx 1.20.0, or with coremltools 9.0; tests use the files that it left:

    python labels.py onnx
    python labels.py coreml
"""

import pathlib
import sys
import tempfile

import numpy

OUT = pathlib.Path(__file__).parent


def onnx_files():
    import onnx
    from onnx import TensorProto, helper
    from skl2onnx import to_onnx
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    values = numpy.random.default_rng(7).normal(size=(30, 2)).astype(numpy.float32)
    names = numpy.array(["setosa", "versicolor", "virginica"])[numpy.arange(30) % 3]
    model = OneVsRestClassifier(LogisticRegression()).fit(values, names)
    file = to_onnx(model, values[:1], options={"zipmap": False}, target_opset=17)
    (OUT / "onnx" / "one_vs_rest.onnx").write_bytes(file.SerializeToString())

    def head(number, labels):
        return helper.make_node(
            "LinearClassifier", ["x"], [f"label{number}", f"scores{number}"], domain="ai.onnx.ml",
            coefficients=[1.0, 0.5, -1.0, 0.25], intercepts=[0.0, 0.0], classlabels_strings=labels)

    outputs = [
        output for number in (1, 2) for output in (
            helper.make_tensor_value_info(f"label{number}", TensorProto.STRING, ["n"]),
            helper.make_tensor_value_info(f"scores{number}", TensorProto.FLOAT, ["n", 2]))]
    graph = helper.make_graph(
        [head(1, ["day", "night"]), head(2, ["dry", "wet"])], "two_heads",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])], outputs)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    file = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    onnx.checker.check_model(file)
    (OUT / "onnx" / "two_heads.onnx").write_bytes(file.SerializeToString())


def coreml_files():
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb

    def classifier(path, labels):
        weights = numpy.arange(64, dtype=numpy.float32).reshape(16, 4) / 64

        @mb.program(input_specs=[mb.TensorSpec((1, 4))], opset_version=ct.target.iOS18)
        def program(x):
            hidden = mb.linear(x=x, weight=weights)
            return mb.softmax(x=mb.slice_by_size(x=hidden, begin=[0, 0], size=[1, 2]), axis=-1, name="p")

        ct.convert(program, classifier_config=ct.ClassifierConfig(labels), skip_model_load=True,
                   minimum_deployment_target=ct.target.iOS18, compute_units=ct.ComputeUnit.CPU_ONLY).save(path)

    with tempfile.TemporaryDirectory() as folder:
        functions = ct.utils.MultiFunctionDescriptor()
        for name, labels in [("light", ["day", "night"]), ("weather", ["dry", "wet"])]:
            path = f"{folder}/{name}.mlpackage"
            classifier(path, labels)
            functions.add_function(path, "main", name)
        functions.default_function_name = "light"
        ct.utils.save_multifunction(functions, str(OUT / "coreml" / "two_classifiers.mlpackage"))


{"onnx": onnx_files, "coreml": coreml_files}[sys.argv[1]]()
