"""A stand-in for torch: as much of it as workers/ uses, with numbers that can be checked."""
import contextlib

import eco_stub
from . import cuda, nn, version  # noqa: F401

eco_stub.need("torch")
__version__ = "2.4.1+cu124"
float16, bfloat16, float32 = "float16", "bfloat16", "float32"


class OutOfMemoryError(RuntimeError):
    pass


cuda.OutOfMemoryError = OutOfMemoryError


class Tensor:
    """Rows of token ids, or one row."""

    def __init__(self, rows, device="cpu"):
        self.rows, self.device = rows, device

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, key):
        if key is None:
            return Tensor([self.rows], self.device)
        picked = self.rows[key]
        return Tensor(picked, self.device) if isinstance(picked, list) else picked

    def tolist(self):
        return self.rows

    def to(self, device):
        return Tensor(self.rows, device)

    @property
    def shape(self):
        return (len(self.rows), len(self.rows[0]))


def tensor(rows, device="cpu"):
    return Tensor(rows, device)


@contextlib.contextmanager
def inference_mode():
    yield
