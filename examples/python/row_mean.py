"""The mean of each row in Triton, as batch-invariant modes have it: a program a row, which loops
over blocks of 1024 elements. `row_mean(x, out)`; None without Triton."""
try:
    import triton
    import triton.language as tl
except ImportError:
    row_mean = None
else:
    @triton.jit
    def _kernel(x, out, stride, n, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        total = tl.zeros([BLOCK], dtype=tl.float32)
        for begin in range(0, n, BLOCK):
            at = begin + tl.arange(0, BLOCK)
            total += tl.load(x + row * stride + at, mask=at < n, other=0.0).to(tl.float32)
        tl.store(out + row, tl.sum(total, axis=0) / n)

    def row_mean(x, out):
        """Writes the means of the rows of x to out."""
        _kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=1024)
        return out
