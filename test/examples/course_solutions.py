"""Solutions of the course's exercises, for test_course.py: what fills the hole, and usual mistakes
as changes of that: (old text, or None for the filling, new text, what the grader says). @text@
stands for the place of the first line with that text."""

SOLUTIONS = {
    2: ("""if (tid % (2 * stride) == 0) sdata[tid] += sdata[tid + stride];
        __syncthreads();""", [
        # no barrier in the loop
        ("        __syncthreads();\n    }", "    }", "a race: thread "),
        # a barrier in the branch
        ("sdata[tid] += sdata[tid + stride];\n        __syncthreads();",
         "{\n            sdata[tid] += sdata[tid + stride];\n            __syncthreads();\n        }",
         "a barrier that some threads miss"),
        # n need not be a multiple of the block
        ("i < n ? input[i] : 0", "input[i]",
         "out of bounds: thread 232 reads at @= input@ element 1000 of an array that has 1000"),
        ("static_cast<size_t>(blockIdx.x) * blockDim.x", "blockIdx.x * blockDim.x",
         "an index of 32 bits"),
        ("tid % (2 * stride)", "tid % stride", "a race: thread "),
    ]),
    6: ("""if (tid >= warp_size) return;
    for (unsigned stride = warp_size; stride > 0; stride /= 2) {
        if (tid < stride && tid + stride < blockDim.x) sdata[tid] += sdata[tid + stride];
        __syncwarp();
    }""", [
        # the warp in lock-step
        ("        __syncwarp();\n", "", "but lanes need not run in step: a __syncwarp()"),
        # a block of 32 reads past the array
        (" && tid + stride < blockDim.x", "",
         "element 32 of shared memory that has 32"),
        # every step with a block barrier
        (None, """for (unsigned stride = warp_size; stride > 0; stride /= 2) {
        if (tid < stride && tid + stride < blockDim.x) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }""", "9 barriers where 3 are enough"),
        ("static_cast<size_t>(blockIdx.x) * (2", "blockIdx.x * (2", "an index of 32 bits"),
        # after the warps have left
        ("__syncwarp();", "__syncthreads();", "a barrier that some threads miss: thread "),
    ]),
}
