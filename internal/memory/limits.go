package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// The tags of a request's fields hold its limits, once: requests are checked by them
// (Check), decoded by them (package strict), and described to agents by them (package
// mcp).
//
//	limit    "1-50": of a number its value, of a text its characters, of a list its
//	         items, of a JSON value its bytes
//	each     the same, of each text in a list
//	enum     "error,success": the values of a text, or of each text in a list
//	form     of a JSON value: "object", "object,string", "object,array"
//	default  what the zero value stands for; Check fills it in
//	usual    what the zero value stands for as a rule; others fill it in. A flag that is
//	         usually true is true in a tool's arguments that leave it out
//	required what a field must hold whose zero value would hide that it is missing
//	text     "exact": the text, or time, is taken as it is; "id": it is a session's id;
//	         "absolute": it is a path, which must not be relative to the daemon's own folder
//	desc     what the field is for. Agents read it
//	out      desc in responses, where it differs; "-" is none
//	mcp      of tools: "-" hides the field, "in" and "out" show it only there,
//	         "optional" does not require it there, "flat" does not describe what is in it,
//	         "deprecated" marks an older name
//
// A field with omitempty or omitzero may be left out. What a limit cannot say is checked
// by the type's method relations.

// Limits are the limits of a field.
type Limits struct {
	Range, Each *Range
	Enum, Forms []string
	// Optional fields may be left out: then their limits do not apply.
	Optional bool
	// Given is the limit of a value that is spelled out, where the zero value says that
	// the field is left out; else it is empty.
	Given string
}

// Range is what a number, or a length, must lie in.
type Range struct{ Min, Max int64 }

func (r Range) String() string { return fmt.Sprintf("%d–%d", r.Min, r.Max) }

// Of writes the range of a length: "1–50 characters", "at most 50 characters".
func (r Range) Of(unit string) string {
	if r.Min > 0 {
		return r.String() + " " + unit
	}
	return fmt.Sprintf("at most %d %s", r.Max, unit)
}

// LimitsOf reads the tags of a field.
func LimitsOf(f reflect.StructField) Limits {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	l := Limits{Range: rangeOf(f, "limit"), Each: rangeOf(f, "each"), Enum: words(f, "enum"), Forms: words(f, "form")}
	omit := strings.Contains(options, "omit")
	l.Optional = omit || strings.Contains(f.Tag.Get("mcp"), "optional")
	switch kind := f.Type.Kind(); {
	case !omit || l.Range == nil || l.Range.Min == 0:
	case kind == reflect.String:
		l.Given = l.Range.Of("characters")
	case kind == reflect.Int:
		l.Given = l.Range.String()
	}
	return l
}

// HiddenFromTools says that a tool's arguments do not have the field: transports fill in
// who calls, and by which id; some fields are only for other clients.
func HiddenFromTools(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name == "request_id" || name == "caller" || f.Tag.Get("mcp") == "-" || f.Tag.Get("mcp") == "out"
}

func words(f reflect.StructField, tag string) []string {
	if text := f.Tag.Get(tag); text != "" {
		return strings.Split(text, ",")
	}
	return nil
}

func rangeOf(f reflect.StructField, tag string) *Range {
	text := f.Tag.Get(tag)
	if text == "" {
		return nil
	}
	least, most, _ := strings.Cut(text, "-")
	r, err := new(Range), error(nil)
	if r.Min, err = strconv.ParseInt(least, 10, 64); err == nil {
		r.Max, err = strconv.ParseInt(most, 10, 64)
	}
	if err != nil {
		panic(fmt.Sprintf("memory: the tag %s of %s: %v", tag, f.Name, err)) // every request is checked by a test
	}
	return r
}

// related is implemented by types whose fields depend on one another. Errors name
// fields that begin with at: "", or "entries[3].".
type related interface{ relations(at string) error }

// Check holds a request, which it points to, against its limits, trims its texts, fills in
// its defaults, and checks its relations, from the inside out. Lists and what pointers point
// to are copied before they are changed: they are the caller's.
func Check(request any) error { return checkStruct(reflect.ValueOf(request).Elem(), "") }

func checkStruct(v reflect.Value, at string) error {
	for _, f := range fieldsOf(v.Type()) {
		if err := f.check(v.FieldByIndex(f.index), at+f.name); err != nil {
			return err
		}
	}
	if r, ok := v.Addr().Interface().(related); ok {
		return r.relations(at)
	}
	return nil
}

// field is a field of a struct, or of one that it embeds.
type field struct {
	Limits
	name  string // in JSON
	index []int
	// text and preset are the tags text and default; number is the preset of a number. They
	// are read once: to look up a tag takes longer than to check most fields.
	text, preset string
	number       int64
}

var fieldCache sync.Map // of reflect.Type to []*field

func fieldsOf(t reflect.Type) []*field {
	if known, ok := fieldCache.Load(t); ok {
		return known.([]*field)
	}
	var fields []*field
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" && name != "" {
			preset := f.Tag.Get("default")
			number, _ := strconv.ParseInt(preset, 10, 64) // a text has none
			fields = append(fields, &field{Limits: LimitsOf(f), name: name, index: f.Index, text: f.Tag.Get("text"), preset: preset, number: number})
		}
	}
	fieldCache.Store(t, fields)
	return fields
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

func (f *field) check(v reflect.Value, path string) error {
	switch {
	case v.Type() == timeType && f.text == "exact":
		return nil
	case v.Type() == timeType && v.Interface().(time.Time).IsZero() && !f.Optional:
		return Invalid(path, "a time", "is missing")
	case v.Type() == timeType:
		return checkTime(path, v.Interface().(time.Time))
	case v.Type() == rawType:
		return f.json(v, path)
	}
	switch v.Kind() {
	case reflect.String:
		if f.text == "" {
			v.SetString(strings.TrimSpace(v.String()))
		}
		if v.String() == "" && f.Optional {
			v.SetString(f.preset)
			return nil
		}
		return f.checkText(v.String(), path, f.Range)
	case reflect.Int, reflect.Int64:
		if v.Int() == 0 && f.Optional {
			v.SetInt(f.number)
			return nil
		}
		if f.Range != nil && (v.Int() < f.Range.Min || v.Int() > f.Range.Max) {
			return Invalid(path, f.Range.String(), "%d is out of range", v.Int())
		}
	case reflect.Float64:
		if x := v.Float(); f.Range != nil && !(x >= float64(f.Range.Min) && x <= float64(f.Range.Max)) { // NaN as well
			return Invalid(path, f.Range.String(), "%v is out of range", x)
		}
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		own := reflect.New(v.Type().Elem())
		own.Elem().Set(v.Elem())
		v.Set(own)
		given := *f
		given.Optional = false
		return given.check(own.Elem(), path)
	case reflect.Struct:
		return checkStruct(v, path+".")
	case reflect.Slice:
		return f.list(v, path)
	}
	return nil
}

// checkText checks a text, or an item of a list of texts.
func (f *field) checkText(text, path string, limit *Range) error {
	switch {
	case f.Enum != nil && !slices.Contains(f.Enum, text):
		return Invalid(path, strings.Join(f.Enum, ", "), "unknown %s %s", strings.TrimSuffix(f.name, "s"), Quote(text))
	case limit != nil:
		if err := Text(path, text, int(limit.Min), int(limit.Max)); err != nil {
			return err
		}
		if limit.Min > 0 && isBlank(text) {
			return Invalid(path, limit.Of("characters"), "has no visible character")
		}
	}
	switch f.text {
	case "id":
		return ValidSessionID(path, text)
	case "absolute":
		if !filepath.IsAbs(text) {
			return Invalid(path, "an absolute path", "%s is relative", Quote(text))
		}
	}
	return nil
}

func (f *field) list(v reflect.Value, path string) error {
	if f.Range != nil && int64(v.Len()) > f.Range.Max {
		return Invalid(path, fmt.Sprintf("at most %d", f.Range.Max), "%d of them", v.Len())
	}
	isStruct := v.Type().Elem().Kind() == reflect.Struct
	if isStruct && v.Len() > 0 {
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
	}
	for i := range v.Len() {
		at := fmt.Sprintf("%s[%d]", path, i)
		var err error
		switch item := v.Index(i); {
		case isStruct:
			err = checkStruct(item, at+".")
		case item.Kind() == reflect.String:
			err = f.checkText(item.String(), at, f.Each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// json checks a JSON value. null is the same as leaving it out.
func (f *field) json(v reflect.Value, path string) error {
	text := strings.TrimSpace(string(v.Bytes()))
	if text == "" || text == "null" && f.Optional {
		v.SetBytes(nil)
		if !f.Optional {
			return Invalid(path, f.jsonLimit(), "is missing")
		}
		return nil
	}
	if f.Range != nil && int64(v.Len()) > f.Range.Max {
		return Invalid(path, f.jsonLimit(), "%d bytes are too many", v.Len())
	}
	if !utf8.ValidString(text) || !json.Valid([]byte(text)) {
		return Invalid(path, "valid JSON", "is not valid JSON")
	}
	if len(f.Forms) > 0 && !slices.Contains(f.Forms, formOf(text)) {
		return Invalid(path, f.jsonLimit(), "is not %s", f.forms())
	}
	return nil
}

func (f *field) jsonLimit() string {
	if f.Range == nil {
		return f.forms()
	}
	return f.forms() + " of " + Range{0, f.Range.Max}.Of("bytes")
}

// forms says what a JSON value must be: "a JSON object or string".
func (f *field) forms() string {
	if len(f.Forms) == 0 {
		return "a JSON value"
	}
	return "a JSON " + strings.Join(f.Forms, " or ")
}

func formOf(text string) string {
	switch text[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	}
	return ""
}

// Limits of contract 0 that are more than tags. Those of texts are in code points.
const (
	MaxQuery        = 1_000_000 // characters; over 8,000 a question is digested
	MaxLimit        = 50
	MinTokens       = 50
	MaxChangedFiles = 10000
	MaxGoalText     = 2000
	MaxErrorText    = 8000
	MaxSinceHours   = 720
	MinBudget       = 50
	MaxTopK         = 200
	MaxTopN         = 50
	MaxEntityText   = 500      // characters of an entity's name and type
	MaxEntityData   = 16 << 10 // bytes of JSON
	MaxSummary      = 20_000   // characters, before it is counted in tokens
	MaxTranscript   = 200_000
	DefaultLimit    = 5
	DefaultMatches  = 20
	MaxMatches      = 100
	DefaultLast     = 20
	MaxLast         = 200
	DefaultSessions = 10
	MaxSessions     = 50
	DefaultTokens   = 1000
	MaxTokens       = 8000
	MaxLessonText   = 4000
	MaxContextText  = 2000
	MaxCommandText  = 2000
	MaxNameText     = 200
	MaxTags         = 20
	MaxTagText      = 64
	MaxPathText     = 4096
	// AdviceTokens is the budget of the lessons about a step's error: the agent did not ask
	// for them.
	AdviceTokens = 400
	// MaxReferenceText is the longest text that is kept as one document.
	MaxReferenceText = 20000
	MinSessionID     = 4
	MaxChanges       = 200 // entries added to a context and taken out of it in one request
	// MaxAside is how many lessons one lesson may supersede, or retract.
	MaxAside = 20
	// maxSessionJSON bounds other fields of a session's file, in bytes; maxStepJSON all
	// JSON values of a step together.
	maxSessionJSON  = 16 << 10
	maxStepJSON     = 256 << 10
	MaxStepDuration = 7 * 24 * time.Hour
	// MaxWorkingContext bounds what a report may make of a session's working context, in
	// bytes of JSON.
	MaxWorkingContext = 512 << 10
	// MaxDiscovered bounds the tools that a session discovered, and those whose guidance
	// it was given. The oldest are dropped: they are found again.
	MaxDiscovered = 1000
)

// Required returns CodeInvalidInput for the first, by name, of the options that are missing.
func Required(missing map[string]bool) error {
	for _, option := range slices.Sorted(maps.Keys(missing)) {
		if missing[option] {
			return Invalid(option, "", "this option is required")
		}
	}
	return nil
}

// either refuses a request that names none of two things, or both.
func either(a string, hasA bool, b string, hasB bool) error {
	switch {
	case !hasA && !hasB:
		return Invalid(a, a+" or "+b, "nothing is named")
	case hasA && hasB:
		return Invalid(b, a+" or "+b, "both are named")
	}
	return nil
}

// oneLine checks a name of an entry or a server. Contexts show it within a line.
func oneLine(field, name string) error {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return Invalid(field, "one line", "%s has a control character", Quote(name))
	}
	return nil
}

// compact writes a JSON value without spaces, so that equal values have equal bytes.
func compact(value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return nil
	}
	var b bytes.Buffer
	_ = json.Compact(&b, value) // valid: fields are checked before their relations
	return b.Bytes()
}

// distinct refuses two of one key and names both.
func distinct[T any, K comparable](field string, list []T, keyOf func(T) K) error {
	first := make(map[K]int, len(list))
	for i, x := range list {
		key := keyOf(x)
		if j, twice := first[key]; twice {
			return Invalid(fmt.Sprintf("%s[%d]", field, i), "each once", "is %s[%d] again", field, j)
		}
		first[key] = i
	}
	return nil
}

// Text checks that a field is valid UTF-8 of min to max code points without
// NUL.
func Text(field, text string, min, max int) error {
	n := utf8.RuneCountInString(text)
	if n < min || n > max {
		limit := Range{int64(min), int64(max)}.Of("characters")
		switch {
		case n == 0:
			return Invalid(field, limit, "is empty")
		case n < min:
			return Invalid(field, limit, "%d characters are too few", n)
		default:
			return Invalid(field, limit, "%d characters are too many", n)
		}
	}
	switch {
	case !utf8.ValidString(text):
		return Invalid(field, "valid UTF-8", "is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return Invalid(field, "text without NUL", "contains a NUL character")
	}
	return nil
}

// isBlank says that a text has nothing to see: neither a reader nor a search could tell it from
// an empty one.
func isBlank(text string) bool {
	const noDots = '\u2800' // of Braille: the only blank one among its symbols
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r != noDots && !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}

// ValidSessionID checks an id of a session. It names a folder, so it holds
// nothing that a file system could take for something else.
func ValidSessionID(field, id string) error {
	limit := fmt.Sprintf("%d–%d of A–Z a–z 0–9 . _ -, the first no dot", MinSessionID, MaxNameText)
	if len(id) < MinSessionID || len(id) > MaxNameText {
		return Invalid(field, limit, "%d characters", len(id))
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return Invalid(field, limit, "%s cannot name a folder everywhere", Quote(id))
		}
	}
	// Windows drops a dot at the end of a folder's name.
	if id[0] == '.' || id[len(id)-1] == '.' {
		return Invalid(field, limit, "%s begins or ends with a dot", Quote(id))
	}
	return nil
}

// timeLimit excludes times that RFC 3339 cannot write, and those before Unix time.
const timeLimit = "a time from 1970 to 9999"

// checkTime checks that a field is a time that can be written. A zero one is filled in
// later.
func checkTime(field string, t time.Time) error {
	if !t.IsZero() && !validTime(t) {
		return Invalid(field, timeLimit, "is out of range")
	}
	return nil
}

// MaxAhead is how far the time of something that happened may lie ahead: clocks differ a
// little, and what has a later time would stay the newest until then.
const MaxAhead = 5 * time.Minute

// NotAhead refuses a time that is over MaxAhead ahead of now.
func NotAhead(field string, t, now time.Time) error {
	if t.After(now.Add(MaxAhead)) {
		return Invalid(field, fmt.Sprintf("at most %d minutes ahead of the daemon's clock", int(MaxAhead.Minutes())), "%s is in the future", t.UTC().Format(time.RFC3339))
	}
	return nil
}

func validTime(t time.Time) bool { return t.Unix() >= 0 && t.UTC().Year() <= 9999 }
