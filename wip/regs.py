import re,subprocess,sys
t=open(sys.argv[1]).read().split("Compiling entry function '")[1:]
names=[x.split("'")[0] for x in t]
dem=subprocess.run(['c++filt']+names,capture_output=True,text=True).stdout.split('\n')
rows=[]
for n,d,x in zip(names,dem,t):
    st=re.search(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads',x); r=re.search(r'Used (\d+) registers',x)
    d=re.sub(r'fastreduce::version_\w+::detail::','',d); d=re.sub(r'void reduce_pairwise<','',d).split('>(pairwise_array')[0]
    rows.append((r.group(1), st.groups(), d[:100]))
for r in sorted(rows,key=lambda r:r[2]): print(*r)
