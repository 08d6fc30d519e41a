package metrics

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/VictoriaMetrics/metrics"
)

// page is a text in Prometheus' exposition format. Families are begun with
// gauge, counter or histogram; samples belong to the family begun last, as the
// format wants them, all in one block.
type page struct {
	bytes.Buffer
	name string // of the family
}

// label is a name and its value. Names are ours; values may be any text.
type label struct{ name, value string }

func (p *page) gauge(name, help string)     { p.family(name, "gauge", help) }
func (p *page) counter(name, help string)   { p.family(name, "counter", help) }
func (p *page) histogram(name, help string) { p.family(name, "histogram", help) }

// gaugeValue and counterValue write a family of one sample without labels.
func (p *page) gaugeValue(name, help string, value float64) {
	p.gauge(name, help)
	p.sample(value)
}

func (p *page) counterValue(name, help string, value float64) {
	p.counter(name, help)
	p.sample(value)
}

// family begins a family. The library leaves HELP empty and TYPE to a switch for
// the whole program, so both are written here.
func (p *page) family(name, kind, help string) {
	p.name = name
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, escapeHelp.Replace(help), name, kind)
}

// sample writes a value of the family.
func (p *page) sample(value float64, labels ...label) { p.value(value, "", labelText(labels)) }

// value writes a value under the family's name with a suffix, which only
// histograms have, and labels that are written already.
func (p *page) value(value float64, suffix, labels string) {
	name := p.name + suffix + labels
	// Whole numbers without an exponent are easier to read, and mean the same.
	if whole := uint64(max(value, 0)); value < 1<<53 && float64(whole) == value {
		metrics.WriteGaugeUint64(p, name, whole)
		return
	}
	metrics.WriteGaugeFloat64(p, name, value)
}

// ratio writes a family of one share, without a sample where there is nothing to
// have a share of: a 0 would raise alarms.
func (p *page) ratio(name, help string, part, whole int) {
	p.gauge(name, help)
	if whole > 0 {
		p.sample(float64(part) / float64(whole))
	}
}

// The characters that the format escapes.
var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// labelText writes labels in braces; nothing for none. The format is UTF-8, which
// a path on disk need not be.
func labelText(labels []label) string {
	if len(labels) == 0 {
		return ""
	}
	var b strings.Builder
	separator := byte('{')
	for _, l := range labels {
		b.WriteByte(separator)
		separator = ','
		b.WriteString(l.name)
		b.WriteString(`="`)
		b.WriteString(escapeValue.Replace(strings.ToValidUTF8(l.value, "\uFFFD")))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}
