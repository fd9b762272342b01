"""Renames the identifier `words` outside comments: users may #define it (test/vendor/words.sh).
python3 rename_words.py FILE...; run clang-format afterwards."""
import re, sys
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    parts = re.split(r"(/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\")", text, flags=re.DOTALL)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"\bwords\b", "status_words", parts[k])
    open(path, "w", encoding="utf-8").write("".join(parts))
