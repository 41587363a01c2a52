import eco_stub

eco_stub.need("bitsandbytes")
__version__ = "0.45.0"
