import csv,sys
rows=[r for r in csv.reader(open(sys.argv[1]))]
hdr=rows[0]
runs={}; order=[]
seen={}
for r in rows:
    if r[0]=='gpu': cur={}; order.append(cur); continue
    d=dict(zip(hdr,r)); cur[(d['table'],d['type'],d['op'],d['outer'],d['n'],d['inner'])]=d
new={};old={}
# files cat in alphabetical order: bench_shapes.* (4) then old_bench_shapes.* (4)
h=len(order)//2
for c in order[:h]: new.update(c)
for c in order[h:]: old.update(c)
for k,d in new.items():
    o=old.get(k)
    r=float(d['us'])/float(o['us']) if o else 0
    cub=min([float(d[x]) for x in ('cub_fixed_us','cub_offsets_us') if d[x]] or [0])
    flag=''
    if o and r>1.05: flag+=' SLOWER'
    if cub and cub<float(d['us']): flag+=' CUB'
    print('%-9s %-4s %-6s %9s %9s %8s us %9.2f of_flat %.3f (old %.3f) new/old %.3f cub/ours %.2f%s'%(k+(float(d['us']),float(d['of_flat']),float(o['of_flat']) if o else 0,r,cub/float(d['us']),flag)))
