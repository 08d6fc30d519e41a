# Prints the tests, in files with tests, that use a pattern: awk -v use=PATTERN -f tests.awk FILES.
# If something else in a file uses it, such as a helper, all tests of that file are printed.
function flush(    i) {
  for (i = 1; i <= n; i++) if (whole || used[tests[i]]) print tests[i]
  split("", used)
  n = whole = 0
  name = ""
}
FNR == 1 { flush() }
/^func |^}/ { name = "" }
match($0, /^func Test[A-Za-z0-9_]+/) { tests[++n] = name = substr($0, 6, RLENGTH - 5) }
$0 ~ use { if (name) used[name] = 1; else whole = 1 }
END { flush() }
