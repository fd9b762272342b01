import csv,sys,collections
R=collections.OrderedDict(); names=[]
for r in csv.reader(open(sys.argv[1])):
    if r[1]=='gpu': hdr=r[1:]; continue
    d=dict(zip(hdr,r[1:])); v=r[0]
    if v not in names: names.append(v)
    R.setdefault((d['table'],d['n'],d['inner']),{}).setdefault((d['type'],d['op']),{})[v]=(float(d['us']),float(d['of_flat']))
cols=[]
for k,v in R.items():
    for c in v:
        if c not in cols: cols.append(c)
new=[n for n in names if n!='old']
print('new/old(of_flat)', ' '*20, ' '.join('%-12s'%('%s %s'%c) for c in cols))
for n in new:
  print('==',n)
  for k,v in R.items():
    print('%-8s %9s %-12s '%k,' '.join('%-12s'%('%.2f(%.2f)%s'%(v[c][n][0]/v[c]['old'][0],v[c][n][1],'<' if v[c][n][0]>1.05*v[c]['old'][0] else '')) if c in v and n in v[c] and 'old' in v[c] else ' '*12 for c in cols))
