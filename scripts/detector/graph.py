"""Write a trained classifier as a graph of ONNX in 8-bit integers.

A graph reads one window: `ids` and `forms`, int64 (n,), to `scores`, float32 (n, labels). Weights
have a scale for each column and 7 bits, which no processor's 8-bit products overflow; activations
get their scale while the graph runs. Word vectors have a scale for each row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["build_graph"]

Weights = Mapping[str, NDArray[np.float32]]
OPSET, IR_VERSION = 20, 9
WEIGHT_BITS = 63  # the largest weight, of 7 bits
EPSILON = 1e-12


class _Graph:
    """Collect nodes and constants."""

    def __init__(self, weights: Weights, heads: int) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._weights, self._heads = weights, heads

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of one output; return the output's name."""
        from onnx import helper

        name = f"x{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, value: NDArray[Any]) -> str:
        """Add a constant; return its name."""
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def shape(self, *sizes: int) -> str:
        """Add a shape, in which 0 keeps a size and -1 is what is left."""
        return self.constant(np.array(sizes, dtype=np.int64))

    def multiply(self, x: str, name: str) -> str:
        """Multiply by the weights of a linear layer in integers, and add its bias."""
        from onnx import helper

        weight = self._weights[f"{name}.weight"].T
        scale = np.maximum(np.abs(weight).max(axis=0), 1e-8) / WEIGHT_BITS
        rounded = np.round(weight / scale).astype(np.int8)
        at = f"q{len(self.nodes)}"
        outputs = [at, f"{at}s", f"{at}z"]
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], outputs))
        zero = self.constant(np.zeros(rounded.shape[1], dtype=np.int8))
        product = self.add("MatMulInteger", at, self.constant(rounded), f"{at}z", zero)
        real = self.add("Cast", product, to=1)
        scales = self.add("Mul", f"{at}s", self.constant(scale.astype(np.float32)))
        return self.add(
            "Add", self.add("Mul", real, scales), self.constant(self._weights[f"{name}.bias"])
        )

    def normalize(self, x: str, name: str) -> str:
        """Apply a layer's normalisation."""
        weight, bias = (self._weights[f"{name}.{end}"] for end in ("weight", "bias"))
        return self.add(
            "LayerNormalization", x, self.constant(weight), self.constant(bias), epsilon=EPSILON
        )

    def attend(self, x: str, name: str) -> str:
        """Apply self-attention over the window."""
        qkv = self.add(
            "Reshape", self.multiply(x, f"{name}.qkv"), self.shape(0, 3, self._heads, -1)
        )
        width = self._weights[f"{name}.out.weight"].shape[0]
        # (n, 3, heads, size) to (3, heads, n, size)
        turned = self.add("Transpose", qkv, perm=[1, 2, 0, 3])
        query, key, value = (
            self.add("Gather", turned, self.constant(np.array(i)), axis=0) for i in range(3)
        )
        root = np.float32(1 / np.sqrt(width / self._heads))
        scaled = self.add("Mul", query, self.constant(np.array(root)))
        weights = self.add("MatMul", scaled, self.add("Transpose", key, perm=[0, 2, 1]))
        seen = self.add("MatMul", self.add("Softmax", weights, axis=-1), value)
        joined = self.add(
            "Reshape", self.add("Transpose", seen, perm=[1, 0, 2]), self.shape(0, width)
        )
        return self.multiply(joined, f"{name}.out")

    def embed(self) -> str:
        """Add up the vectors of words, positions and forms."""
        words = self._weights["words.weight"]
        scale = np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-8) / 127
        rounded = np.round(words / scale).astype(np.int8)
        rows = self.add("Cast", self.add("Gather", self.constant(rounded), "ids"), to=1)
        scales = self.add("Gather", self.constant(scale.astype(np.float32)), "ids")
        length = self.add("Shape", "ids")
        start, axis = self.shape(0), self.shape(0)
        positions = self.add(
            "Slice", self.constant(self._weights["positions.weight"]), start, length, axis
        )
        forms = self.add("Gather", self.constant(self._weights["forms.weight"]), "forms")
        x = self.add("Add", self.add("Mul", rows, scales), positions)
        return self.normalize(self.add("Add", x, forms), "norm")


def build_graph(
    weights: Weights, layers: int, heads: int, labels: Sequence[str], tokenizer: str
) -> bytes:
    """Return the file of a classifier.

    Args:
        weights: its parameters by name; positions beyond those a window has may be left out.
        tokenizer: JSON, kept in the file as the labels are.
    """
    from onnx import TensorProto, checker, helper

    graph = _Graph(weights, heads)
    x = graph.embed()
    for name in (f"layers.{i}" for i in range(layers)):
        x = graph.normalize(graph.add("Add", x, graph.attend(x, name)), f"{name}.norm")
        inner = graph.add("Gelu", graph.multiply(x, f"{name}.up"))
        more = graph.multiply(inner, f"{name}.down")
        x = graph.normalize(graph.add("Add", x, more), f"{name}.last_norm")
    last = graph.add("MatMul", x, graph.constant(weights["labels.weight"].T))
    scores = graph.add("Add", last, graph.constant(weights["labels.bias"]))
    ports = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n"]) for name in ("ids", "forms")
    ]
    out = helper.make_tensor_value_info(scores, TensorProto.FLOAT, ["n", len(labels)])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "detector", ports, [out], graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="inferdpt",
    )
    helper.set_model_props(model, {"labels": json.dumps(list(labels)), "tokenizer": tokenizer})
    checker.check_model(model)
    data: bytes = model.SerializeToString()
    return data
