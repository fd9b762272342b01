"""scikit-build-core, which also asks for PyPI's nvcc where there is a GPU and no nvcc.

As a program it prints the path of nvcc, or nothing.
"""

import glob
import os
import shutil
import sys

try:
    from scikit_build_core.build import *  # noqa: F401,F403
    from scikit_build_core.build import get_requires_for_build_wheel as _requires
except ImportError:  # as a program
    pass

# what nvcc needs to compile fastreduce.cuh
NVCC = ["nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime",
        "nvidia-cuda-cccl"]


def find_nvcc():
    """The path of nvcc: of CUDACXX, on the PATH, where CUDA is installed, or of PyPI's packages."""
    packages = [path for folder in sys.path
                for path in glob.glob(os.path.join(folder, "nvidia", "cu*", "bin", "nvcc"))]
    for path in (os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc",
                 *packages):
        if path and os.path.exists(path):
            return path
    return None


def get_requires_for_build_wheel(config_settings=None):
    """The requirements, with nvcc's where FASTREDUCE_CUDA=on, or there is a GPU."""
    wanted = (config_settings or {}).get("cmake.define.FASTREDUCE_CUDA", "auto")
    if wanted == "auto":
        wanted = "on" if shutil.which("nvidia-smi") else "off"
    needs_nvcc = wanted == "on" and not find_nvcc()
    return _requires(config_settings) + NVCC * needs_nvcc


if __name__ == "__main__":
    print(find_nvcc() or "")
