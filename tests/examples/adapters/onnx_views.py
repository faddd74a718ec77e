"""onnxruntime under `oriel fuzz reshape --external 'python3 onnx_views.py'`: the movements are a model of Reshape, Transpose, Expand,
Slice and Pad. Needs onnx, onnxruntime and numpy."""
import array_views

HEAD = '''
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1


def model():
    """The parts of a model, whose node(op, ints...) adds an operator after the last one."""
    nodes, constants = [], []

    def ints(values):
        constants.append(numpy_helper.from_array(np.array(values, dtype=np.int64).reshape(-1), f"c{len(constants)}"))
        return constants[-1].name

    def node(op, *values, **attributes):
        inputs = [f"x{len(nodes)}"] + [ints(v) if v is not None else "" for v in values]
        nodes.append(helper.make_node(op, inputs, [f"x{len(nodes) + 1}"], **attributes))

    def run(x):
        sizes = [helper.make_tensor_value_info("x0", TensorProto.INT64, x.shape)]
        result = [helper.make_tensor_value_info(f"x{len(nodes)}", TensorProto.INT64, None)]
        graph = helper.make_graph(nodes, "moved", sizes, result, constants)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        return onnxruntime.InferenceSession(proto.SerializeToString(), options).run(None, {"x0": x})[0]

    return node, run
'''


class Nodes:
    """The movements as nodes."""

    def reshape(self, x, shape):
        return f'node("Reshape", {shape}, allowzero=1)'

    def permute(self, x, order):
        return f'node("Transpose", perm={list(order)})' if order else 'node("Identity")'

    def expand(self, x, shape):
        return f'node("Expand", {shape})'

    def shrink(self, x, ranges):
        if not ranges:
            return 'node("Identity")'
        return f'node("Slice", {[low for low, _ in ranges]}, {[high for _, high in ranges]})'

    def pad(self, x, ends):
        return f'node("Pad", {[before for before, _ in ends] + [after for _, after in ends]})' if ends else 'node("Identity")'

    def flip(self, x, axes):
        n = len(axes)
        return f'node("Slice", {[-1] * n}, {[-(2**63) + 1] * n}, {list(axes)}, {[-1] * n})' if n else 'node("Identity")'


class Words(array_views.Words):
    head = HEAD.strip().split("\n")

    def step(self, op, argument):
        return getattr(Nodes(), op)("x", argument)

    def moves(self, lines):
        return ["node, run = model()"] + lines + ["x = run(x)"]


if __name__ == "__main__":
    array_views.serve(Words())
