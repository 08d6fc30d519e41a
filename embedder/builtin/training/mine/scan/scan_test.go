package scan_test

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
)

// pairsOf returns what is found in a file of a repository.
func pairsOf(t *testing.T, name, text string) []scan.Pair {
	t.Helper()
	find, _, ok := scan.File(name)
	if !ok {
		t.Fatalf("nothing reads %s", name)
	}
	var pairs []scan.Pair
	find(text, func(p scan.Pair) { pairs = append(pairs, p) })
	return pairs
}

// want is a pair that must be found. B holds every part; none of the parts
// that begin with ! is in it.
type want struct {
	kind  scan.Kind
	a     string
	parts []string
}

func (w want) matches(p scan.Pair) bool {
	if p.Kind != w.kind || p.A != w.a {
		return false
	}
	for _, part := range w.parts {
		if absent, ok := strings.CutPrefix(part, "!"); ok == strings.Contains(p.B, strings.TrimPrefix(absent, "!")) {
			return false
		}
	}
	return true
}

func check(t *testing.T, pairs []scan.Pair, wants []want) {
	t.Helper()
	for _, w := range wants {
		found := false
		for _, p := range pairs {
			found = found || w.matches(p)
		}
		if !found {
			t.Errorf("no %s %q with %q among:", w.kind, w.a, w.parts)
			for _, p := range pairs {
				t.Logf("%s %q -> %q", p.Kind, p.A, p.B)
			}
		}
	}
}

func TestCode(t *testing.T) {
	for _, test := range []struct {
		name, text string
		wants      []want
	}{
		{"reader.go", `package p

// ReadAll reads until EOF and returns what it read. It never fails on EOF
// itself, since that is what it reads up to: only other errors are told.
func ReadAll(r io.Reader) ([]byte, error) {
	b := make([]byte, 0, 512) // a start
	// Grow the buffer when it is full
	if len(b) == cap(b) {
		b = append(b, 0)[:len(b)]
	}
	return b, fmt.Errorf("read the last block: %w", err)
}

// Counts the bytes that are left.
func (r *Reader) Left() int {
	n := r.size - r.read
	return n
}

func closeAllIdleConnections(m map[string]interface{}) {
	for k := range m {
		delete(m, k)
	}
	done()
}
`, []want{
			{scan.Doc, "Reads until EOF and returns what it read.", []string{"func ReadAll(r io.Reader)", "!EOF and", "!Grow", "!a start"}},
			{scan.Ask, "how to count the bytes that are left in go", []string{"func (r *Reader) Left() int"}},
			{scan.Comment, "Grow the buffer when it is full", []string{"if len(b) == cap(b) {"}},
			{scan.Message, "read the last block", []string{`fmt.Errorf(""`, "append(b, 0)"}},
			{scan.Name, "close all idle connections", []string{"delete(m, k)", "!func "}},
		}},
		{"net.py", `class Pool:
    """Keeps open connections."""

    def close_idle_connections(self, now):
        """Close the connections that nobody used for a while.

        Examples
        --------
        Close those of yesterday without asking anybody:

        >>> pool.close_idle_connections(yesterday)

        :param now: the time
        """
        # drop what is too old to be used
        for c in self.idle:
            c.close()
        raise PoolError("the pool was closed twice")
`, []want{
			{scan.Doc, "Close the connections that nobody used for a while.", []string{"def close_idle_connections(self, now):", "c.close()", "!nobody"}},
			{scan.Name, "close idle connections", []string{"for c in self.idle:", "!def ", "!nobody"}},
			{scan.Comment, "drop what is too old to be used", []string{"for c in self.idle:"}},
			{scan.Message, "the pool was closed twice", []string{"raise PoolError"}},
			{scan.Example, "Close those of yesterday without asking anybody", []string{"pool.close_idle_connections(yesterday)"}},
		}},
		{"queue.ts", `export class Queue<T> {
  /**
   * Takes the oldest item out of the queue.
   * @returns the {@link Item}, or undefined
   */
  public takeOldestItem(): T | undefined {
    const item = this.items.shift()
    return item
  }
}

it('should keep the order of items', async () => {
  const q = new Queue()
  expect(q.takeOldestItem()).toBe(1)
})
`, []want{
			{scan.Doc, "Takes the oldest item out of the queue.", []string{"public takeOldestItem()", "this.items.shift()"}},
			{scan.Test, "keep the order of items", []string{"expect(q.takeOldestItem())"}},
		}},
		{"Lists.java", `public final class Lists {
    /**
     * Returns a list of the <b>distinct</b> elements of {@code list}.
     *
     * @param list the list
     */
    @Nullable
    public static <T> List<T> distinct(final List<T> list)
            throws IOException {
        Set<T> seen = new HashSet<>();
        return seen.toList();
    }
}
`, []want{{scan.Doc, "Returns a list of the distinct elements of list.", []string{"List<T> distinct(final List<T> list)", "new HashSet"}}}},
		{"pool.rs", `/// Returns the number of idle workers.
///
/// Count the workers that wait for something to do:
///
/// ` + "```" + `
/// let n = pool.idle();
/// ` + "```" + `
#[inline]
pub fn idle<'a>(&'a self) -> usize {
    let quote = '"';
    let open = '{';
    self.workers.len()
}
`, []want{
			{scan.Doc, "Returns the number of idle workers.", []string{"pub fn idle<'a>", "self.workers.len()"}},
			{scan.Example, "Count the workers that wait for something to do", []string{"let n = pool.idle();"}},
		}},
		{"list.c", `/* Free every node of the list. */
static void
list_free (struct node *head)
{
  while (head)
    head = list_pop (head);
}
`, []want{{scan.Doc, "Free every node of the list.", []string{"list_free (struct node *head)", "list_pop"}}}},
		{"mail.rb", `class Mail
  # Sends the mail to everybody on the list.
  def deliver_to_all(list)
    list.each do |to|
      send(to)
    end
  end
end
`, []want{{scan.Doc, "Sends the mail to everybody on the list.", []string{"def deliver_to_all(list)", "send(to)"}}}},
		{"Cache.php", `<?php
class Cache
{
    /**
     * Store an item in the cache for a while.
     *
     * @param string $key
     */
    public function put($key, $value)
    {
        $this->items[$key] = $value;
        return true;
    }
}
`, []want{{scan.Doc, "Store an item in the cache for a while.", []string{"public function put($key, $value)"}}}},
		{"Clock.cs", `public class Clock
{
    /// <summary>
    /// Tells whether the clock was stopped before <paramref name="time"/>.
    /// </summary>
    [Pure]
    public bool StoppedBefore(DateTime time)
    {
        return this.stopped && this.last < time;
    }
}
`, []want{{scan.Doc, "Tells whether the clock was stopped before .", []string{"public bool StoppedBefore(DateTime time)"}}}},
		{"backup.sh", `#!/bin/sh
# remove the archives that are older than a week
find "$dir" -name '*.tar' -mtime +7 -delete
`, []want{{scan.Command, "remove the archives that are older than a week", []string{`find "$dir" -name '*.tar' -mtime +7 -delete`}}}},
	} {
		t.Run(test.name, func(t *testing.T) { check(t, pairsOf(t, test.name, test.text), test.wants) })
	}
}

func TestDocuments(t *testing.T) {
	long := strings.Repeat("The section says more about it in other words. ", 3)
	for _, test := range []struct {
		name, text string
		wants      []want
	}{
		{"guide.md", "---\ntitle: Queues\n---\n\n## Limits\n\n" + long + "\n\n## How do I empty a queue?\n\n" + long +
			"\n\n## Configuring limits\n\nOne says a. Another says b. A third sentence of it says something else. And a fourth ends what is said here.\n\n```\n# list the limits of all\n$ queue limits\n```\n\n" +
			"## More\n\nTo drop all that waits, call the command:\n\n```sh\nqueue drop --all\n```\n\n| flag | about |\n|---|---|\n| `--all` | drops waiting jobs too |\n", []want{
			{scan.Heading, "Queues Limits", []string{"The section says more"}},
			{scan.Question, "How do I empty a queue?", []string{"The section says more"}},
			{scan.Question, "How do I configure limits?", []string{"A third sentence"}},
			{scan.Passage, "A third sentence of it says something else.", []string{"One says a. Another says b. And a fourth"}},
			{scan.Command, "list the limits of all", []string{"queue limits"}},
			{scan.Example, "To drop all that waits, call the command", []string{"queue drop --all"}},
			{scan.Option, "drops waiting jobs too", []string{"--all"}},
		}},
		{"C2065.md", "# Compiler Error C2065\n\n> '*name*' : undeclared identifier\n\n## Remarks\n\n" + long, []want{
			{scan.Message, "'*name*' : undeclared identifier", []string{"The section says more"}},
		}},
		{"tutorial.rst", "Templates\n=========\n\nRender a page\n-------------\n\n" + long + "\n\nCall the :func:`~web.render` function with a name::\n\n    render('page')\n", []want{
			{scan.Heading, "Render a page", []string{"The section says more"}},
			{scan.Example, "Call the `web.render` function with a name", []string{"render('page')"}},
		}},
		{"git-add.adoc", "git-add(1)\n==========\n\nOPTIONS\n-------\n`-n`::\n`--dry-run`::\n\tDo not add the file, only show it.\n\n== Adding\n\n" + long + "\n\nAdd all files of a folder:\n\n----\ngit add dir\n----\n", []want{
			{scan.Option, "git-add --dry-run", []string{"Do not add the file, only show it."}},
			{scan.Example, "Add all files of a folder", []string{"git add dir"}},
		}},
		{"ls.1", ".TH LS 1\n.SH NAME\nls \\- list directory contents\n.SH DESCRIPTION\n" + long + "\n.TP\n\\fB\\-a\\fR, \\fB\\-\\-all\\fR\ndo not ignore entries starting with a dot\n", []want{
			{scan.Summary, "list directory contents", []string{"The section says more"}},
			{scan.Option, "ls -a, --all", []string{"do not ignore entries"}},
		}},
		{"coreutils.texi", "@node cat\n@section @command{cat}: Concatenate files\n\n" + long + "\n\n@table @samp\n@item -n\n@itemx --number\nNumber all output lines.\n\n@optItem{cat,-s,}\nSuppress repeated empty lines.\n\n@end table\n", []want{
			{scan.Option, "cat -n, --number", []string{"Number all output lines."}},
			{scan.Option, "cat -s", []string{"Suppress repeated"}},
			{scan.Heading, "cat: Concatenate files", []string{"The section says more"}},
		}},
		{"chroot.xml", "<refname>chroot</refname><refpurpose>Change the root directory</refpurpose><para>Changes the root &amp; more.</para>" +
			"<para>Change to a folder and tell of it:</para><programlisting><![CDATA[\nchroot(\"/\");\n]]></programlisting>", []want{
			{scan.Summary, "Change the root directory", []string{"chroot Changes the root & more."}},
			{scan.Example, "Change to a folder and tell of it", []string{`chroot("/");`}},
		}},
		{"CHANGES.md", "## 2.0\n\n- Close the files of a request that failed.\n  They were kept open until the process ended, so that a busy server ran out of them.\n- Short.\n", []want{
			{scan.Changelog, "Close the files of a request that failed.", []string{"They were kept open"}},
		}},
		{"ci.yml", "steps:\n  - name: Install the tools\n    run: npm ci\n\n# how long a job may take at most\ntimeout: 30\n", []want{
			{scan.Command, "Install the tools", []string{"npm ci"}},
			{scan.Config, "how long a job may take at most", []string{"timeout: 30"}},
		}},
		{"Dockerfile", "FROM debian\n# install what the tests need\nRUN apt-get install -y git\n", []want{
			{scan.Command, "install what the tests need", []string{"apt-get install -y git"}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) { check(t, pairsOf(t, test.name, test.text), test.wants) })
	}
}

func TestCommits(t *testing.T) {
	for _, test := range []struct{ message, a, b string }{
		{"fix(http): close idle connections (#12)\n\nThey were kept until the server went away and took all sockets.\n\nSigned-off-by: A <a@b>\nFixes #3\n",
			"close idle connections", "They were kept until the server went away and took all sockets."},
		{"Merge branch 'main'\n\nwith a body that is long enough to be taken for one", "", ""},
		{"Revert \"close idle connections\"\n\nThis reverts commit 1234567890 since it broke all of the builds.", "", ""},
		{"Close idle connections", "", ""},
	} {
		var got scan.Pair
		scan.CommitMessage(test.message, func(p scan.Pair) { got = p })
		if got.A != test.a || got.B != test.b {
			t.Errorf("%q gives %q, %q; want %q, %q", test.message, got.A, got.B, test.a, test.b)
		}
	}
}

func FuzzFile(f *testing.F) {
	names := []string{"a.go", "a.py", "a.rb", "a.rs", "a.ts", "a.sh", "a.ex", "a.vim", "a.md", "a.rst", "a.adoc", "a.1", "a.texi", "a.xml", "a.yml", "CHANGES", "Dockerfile"}
	for i := range names {
		f.Add(uint8(i), "// It does.\nfunc f() {\n\t\"a\"\n}\n\n# T\n\n=====\n.SH A\n.TP\n@item a\n::\n'\\")
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		find, _, ok := scan.File(names[int(which)%len(names)])
		if !ok {
			t.Fatalf("nothing reads %s", names[int(which)%len(names)])
		}
		find(text, func(p scan.Pair) {
			if p.Kind == "" {
				t.Errorf("a pair of %q has no kind", text)
			}
		})
	})
}
