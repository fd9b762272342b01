#include <cuda_runtime.h>
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_NO_EXACT
#define FASTREDUCE_SHAPES
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F16
#define FASTREDUCE_OPERATORS FASTREDUCE_ARGMAX
#include "../../fastreduce.cuh"
#ifndef __NVCC__
#include "../../test/common/dynamic_shared.h"
#endif
#include <vector>
#include <cstdio>
#include <cstdlib>
int main(int argc,char**argv){
  size_t rows=atol(argv[1]), n=atol(argv[2]); void *dx,*dr,*ws; cudaMalloc(&dx,rows*n*2); cudaMalloc(&dr,rows*8); cudaMalloc(&ws,FASTREDUCE_WORKSPACE_BYTES); cudaMemset(ws,0,FASTREDUCE_WORKSPACE_BYTES);
  std::vector<unsigned short> x(1<<20); unsigned s=1; for(auto&v:x){ s=s*1664525u+1013904223u; v=0x3c00+((s>>10)&0x3ff);} for(size_t i=0;i+x.size()<=rows*n;i+=x.size()) cudaMemcpy((char*)dx+i*2,x.data(),x.size()*2,cudaMemcpyHostToDevice);
  fastreduce_config c={}; c.workspace=ws; c.workspace_bytes=FASTREDUCE_WORKSPACE_BYTES; fastreduce_shape sh={rows,n,1};
  int st=fastreduce_reduce_axis(dx,dr,&sh,FASTREDUCE_F16,FASTREDUCE_ARGMAX,&c); printf("%d %d\n",st,(int)cudaDeviceSynchronize()); }
