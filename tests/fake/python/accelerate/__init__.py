import eco_stub

eco_stub.need("accelerate")
__version__ = "1.0.1"
