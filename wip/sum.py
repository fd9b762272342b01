import sys,re
worst=[];by={}
for l in open(sys.argv[1]):
    m=re.match(r'\s*(\w+)\s+(\w+):(.*)',l)
    if not m or '(' not in l: continue
    v=[float(x) for x in re.findall(r'\(([\d.]+)\)',m.group(3))]
    print('%4s %13s '%(m.group(1),m.group(2))+' '.join('%5.2f'%x for x in v))
