package metrics_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// series is one line of a page: its name with suffix, its labels and its value.
type series struct {
	name   string
	labels map[string]string
	value  float64
}

// parsed is a page as a server reads it.
type parsed struct {
	types, helps map[string]string
	series       []series
}

// value returns the one series of a name whose labels hold all that is given.
func (p *parsed) value(name string, labels ...string) (float64, bool) {
next:
	for _, s := range p.series {
		if s.name != name {
			continue
		}
		for i := 0; i < len(labels); i += 2 {
			if s.labels[labels[i]] != labels[i+1] {
				continue next
			}
		}
		return s.value, true
	}
	return 0, false
}

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*`)
)

// parse reads a page by the rules of the text format 0.0.4, and by promtool's:
// every family has one HELP and one TYPE before its samples, which stand in one
// block, no two of them with the same labels; counters end in _total.
func parse(page string) (*parsed, error) {
	if !utf8.ValidString(page) {
		return nil, fmt.Errorf("the page is not UTF-8")
	}
	if page != "" && !strings.HasSuffix(page, "\n") {
		return nil, fmt.Errorf("the last line has no end")
	}
	p := &parsed{types: map[string]string{}, helps: map[string]string{}}
	family, seen := "", map[string]bool{}
	for at, line := range strings.Split(strings.TrimSuffix(page, "\n"), "\n") {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("line %d, %q: %s", at+1, line, fmt.Sprintf(format, args...))
		}
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			if _, twice := p.helps[name]; twice || help == "" {
				return nil, fail("a second family of that name, or no help")
			}
			family, p.helps[name] = name, help
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if name != family || p.types[name] != "" {
				return nil, fail("a type without its help")
			}
			if strings.HasSuffix(name, "_total") != (kind == "counter") {
				return nil, fail("counters, and only they, end in _total")
			}
			p.types[name] = kind
			continue
		}
		s, err := parseSample(line)
		if err != nil {
			return nil, fail("%v", err)
		}
		base := s.name
		if p.types[family] == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				base = strings.TrimSuffix(base, suffix)
			}
		}
		if base != family || p.types[family] == "" {
			return nil, fail("a sample outside its family")
		}
		if key := fmt.Sprint(s.name, s.labels); seen[key] {
			return nil, fail("a second sample with the same labels")
		} else {
			seen[key] = true
		}
		p.series = append(p.series, s)
	}
	return p, nil
}

func parseSample(line string) (series, error) {
	s := series{labels: map[string]string{}}
	s.name = metricName.FindString(line)
	rest := line[len(s.name):]
	if s.name == "" {
		return s, fmt.Errorf("no name")
	}
	if strings.HasPrefix(rest, "{") {
		rest = rest[1:]
		for !strings.HasPrefix(rest, "}") {
			name := labelName.FindString(rest)
			if name == "" || !strings.HasPrefix(rest[len(name):], `="`) {
				return s, fmt.Errorf("no label at %q", rest)
			}
			value, after, err := unescape(rest[len(name)+2:])
			if err != nil {
				return s, err
			}
			s.labels[name] = value
			rest = strings.TrimPrefix(after, ",")
		}
		rest = rest[1:]
	}
	number, ok := strings.CutPrefix(rest, " ")
	if !ok {
		return s, fmt.Errorf("no value at %q", rest)
	}
	var err error
	s.value, err = strconv.ParseFloat(number, 64)
	return s, err
}

// unescape reads a label's value up to its closing quote.
func unescape(text string) (value, after string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return b.String(), text[i+1:], nil
		case '\\':
			if i++; i == len(text) {
				return "", "", fmt.Errorf("an escape at the end")
			}
			switch text[i] {
			case '\\', '"':
				b.WriteByte(text[i])
			case 'n':
				b.WriteByte('\n')
			default:
				return "", "", fmt.Errorf("the escape \\%c", text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("a value without its end")
}
