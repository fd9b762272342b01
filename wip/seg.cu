#include <cuda_runtime.h>
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_NO_EXACT
#define FASTREDUCE_SHAPES
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"
#ifndef __NVCC__
#include "../../test/common/dynamic_shared.h"
#endif
#include <vector>
#include <cstdio>
#include <cstdlib>
static float pw(const float *x, size_t n){ if(n==1) return x[0]; size_t h=1; while(2*h<n) h*=2; return pw(x,h)+pw(x+h,n-h); }
int main(int argc,char**argv){
  size_t count=argc>1?atol(argv[1]):20000, avg=argc>2?atol(argv[2]):64;
  std::vector<long long> off(count+1); off[0]=0; unsigned s=1;
  for(size_t i=0;i<count;i++){ s=s*1664525u+1013904223u; off[i+1]=off[i]+(s>>8)%(2*avg+1); }
  size_t n=off[count]; std::vector<float> x(n); for(size_t i=0;i<n;i++){ s=s*1664525u+1013904223u; x[i]=(int)(s>>8)%1000/7.f; }
  float *dx,*dr; long long*doff; void*ws;
  cudaMalloc((void**)&dx,n*4); cudaMalloc((void**)&dr,count*4); cudaMalloc((void**)&doff,(count+1)*8); cudaMalloc((void**)&ws,FASTREDUCE_WORKSPACE_BYTES); cudaMemset(ws,0,FASTREDUCE_WORKSPACE_BYTES);
  cudaMemcpy(dx,x.data(),n*4,cudaMemcpyHostToDevice); cudaMemcpy(doff,off.data(),(count+1)*8,cudaMemcpyHostToDevice);
  fastreduce_config c={};
  c.workspace=ws; c.workspace_bytes=FASTREDUCE_WORKSPACE_BYTES;
  int st=fastreduce_reduce_segments(dx,dr,count,doff,FASTREDUCE_F32,FASTREDUCE_SUM,&c);
  cudaError_t e=cudaDeviceSynchronize(); printf("status %d cuda %d\n",st,(int)e);
  std::vector<float> r(count); cudaMemcpy(r.data(),dr,count*4,cudaMemcpyDeviceToHost);
  size_t bad=0; for(size_t i=0;i<count;i++){ size_t m=off[i+1]-off[i]; float w=m?pw(&x[off[i]],m):0; if(w!=r[i]) { if(bad++<5) printf("bad %zu n %zu: %g %g\n",i,m,r[i],w);} }
  printf("%zu bad of %zu\n",bad,count); return bad!=0;
}
