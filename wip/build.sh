set -e
cd build/dev
F="-O3 -std=c++17 -arch=sm_90 --split-compile 8 -Icccl/nvidia/cu13/include/cccl"
( nvcc $F -c old.cu -o old.o ) & ( nvcc $F -Xptxas -v -c new.cu -o new.o 2>ptxas.txt || cat ptxas.txt ) & ( nvcc $F -c lab.cu -o lab.o ) & wait
nvcc -arch=sm_90 old.o new.o lab.o -o lab
