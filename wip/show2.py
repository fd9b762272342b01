import csv,sys,collections
R=collections.OrderedDict(); names=[]
for r in csv.reader(open(sys.argv[1])):
    if r[1]=='gpu': hdr=r[1:]; continue
    d=dict(zip(hdr,r[1:])); v=r[0]
    if v not in names: names.append(v)
    R.setdefault((d['table'],d['type'],d['op'],d['n'],d['inner']),{})[v]=(float(d['us']),float(d['of_flat']))
names.remove('old')
print('ratios to old; of_flat of',names)
g=collections.OrderedDict()
for k,v in R.items(): g.setdefault(k[:3],[]).append((k[3:],v))
for k,l in g.items():
    print(*k)
    for key,v in l:
        o=v.get('old')
        if not o: continue
        print('   %8s %-8s old %8.1f (%.2f) '%(key[0],key[1],o[0],o[1]),' '.join('%5.2f(%.2f)'%(v[n][0]/o[0],v[n][1]) for n in names if n in v), '<' if min(v[n][0] for n in names if n in v)>1.05*o[0] else '')
