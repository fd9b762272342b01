import csv,sys,collections
R=collections.OrderedDict(); names=[]
for f in sys.argv[1:]:
    for r in csv.reader(open(f)):
        if r[1]=='gpu': hdr=r[1:]; continue
        d=dict(zip(hdr,r[1:])); v=r[0]
        if v not in names: names.append(v)
        R.setdefault((d['table'],d['type'],d['op'],d['outer'],d['n'],d['inner']),{})[v]=(float(d['us']),float(d['of_flat']))
print(' '*52,' '.join('%12s'%n for n in names))
for k,v in R.items():
    print('%-8s %-4s %-6s %9s %9s %8s '%k,' '.join('%7.1f %.2f'%v[n] if n in v else ' '*12 for n in names), '  <<' if 'old' in v and 'all' in v and v['all'][0]>1.05*v['old'][0] else '')
