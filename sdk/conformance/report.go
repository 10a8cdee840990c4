package conformance

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// Level groups cases: a plugin of level N passes every case up to N.
type Level int

// The levels, each including the ones before it.
const (
	// LevelLoads: the module is valid, starts, describes and configures itself.
	LevelLoads Level = 1 + iota
	// LevelContract: every op is answered as ABI.md says.
	LevelContract
	// LevelHostile: nothing that arrives makes it trap, leak from one call to the next, or answer twice differently.
	LevelHostile
	// LevelBudget: it keeps to the fuel, memory, output and log it asked for, and its cost grows with its input, not faster.
	LevelBudget
)

var levelNames = map[Level]string{LevelLoads: "loads", LevelContract: "contract", LevelHostile: "hostile", LevelBudget: "budget"}

// String returns "loads", "contract", "hostile" or "budget".
func (l Level) String() string { return levelNames[l] }

// Status is the outcome of one case.
type Status string

// The outcomes. A required case that is skipped counts as failed: nobody proved anything. Note is an optional case that went against the
// plugin: advice, which decides nothing.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
	Note Status = "note"
)

// Result is one case run against one plugin.
type Result struct {
	// ID never changes its meaning; new cases get new ids.
	ID    string `json:"id"`
	Level Level  `json:"level"`
	Title string `json:"title"`
	// Required cases decide; the others inform.
	Required bool   `json:"required"`
	Status   Status `json:"status"`
	// Message says what was wrong and how to mend it, or why the case was skipped.
	Message string `json:"message,omitempty"`
	// Calls and Fuel are what the case cost.
	Calls   int           `json:"calls"`
	Fuel    uint64        `json:"fuel"`
	Elapsed time.Duration `json:"elapsed_ns"`
}

// Report is everything the suite found out about one plugin.
type Report struct {
	// File is the name it was run under; Name, Version and Kind come from its manifest and are empty if it has none that can be read.
	File    string `json:"file"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// SHA256 and ABI tie the report to the exact bytes and contract.
	SHA256 string `json:"sha256"`
	ABI    int    `json:"abi"`
	// Level is the highest level all of whose required cases passed; 0 if none.
	Level   Level    `json:"level"`
	Passed  bool     `json:"passed"`
	Results []Result `json:"results"`
}

// finish works out Level and Passed.
func (r *Report) finish(upTo Level) {
	ok := map[Level]bool{}
	for l := LevelLoads; l <= upTo; l++ {
		ok[l] = true
	}
	seen := false
	for _, c := range r.Results {
		seen = seen || c.Required
		if c.Required && c.Status != Pass {
			ok[c.Level] = false
		}
	}
	r.Level = 0
	for l := LevelLoads; l <= upTo && ok[l] && seen; l++ {
		r.Level = l
	}
	r.Passed = r.Level == upTo
}

// Counts returns how many cases passed, failed and were skipped; notes are in none of these.
func (r *Report) Counts() (pass, fail, skip int) {
	for _, c := range r.Results {
		switch c.Status {
		case Pass:
			pass++
		case Fail:
			fail++
		case Skip:
			skip++
		}
	}
	return pass, fail, skip
}

// Result returns the case with this id, or nil.
func (r *Report) Result(id string) *Result {
	for i := range r.Results {
		if r.Results[i].ID == id {
			return &r.Results[i]
		}
	}
	return nil
}

// WriteText writes a report for people. all shows passing cases too.
func (r *Report) WriteText(w io.Writer, all bool) error {
	fmt.Fprintf(w, "%s: %s %s (%s, abi %d, sha256 %.12s)\n", r.File, orUnknown(r.Name), r.Version, orUnknown(r.Kind), r.ABI, r.SHA256)
	unreached := 0
	for _, c := range r.Results {
		if c.Status == Skip && strings.HasPrefix(c.Message, notRun) && !all {
			unreached++
			continue
		}
		if c.Status == Pass && !all {
			continue
		}
		mark := map[Status]string{Pass: "ok  ", Fail: "FAIL", Skip: "skip", Note: "note"}[c.Status]
		fmt.Fprintf(w, "  %s  %-22s %s\n", mark, c.ID, c.Title)
		if c.Message != "" {
			fmt.Fprintf(w, "        %s\n", c.Message)
		}
	}
	if unreached > 0 {
		fmt.Fprintf(w, "  skip  %d more cases, which cannot run after that\n", unreached)
	}
	pass, failed, skip := r.Counts()
	verdict := "PASSED"
	if !r.Passed {
		verdict = "FAILED"
	}
	level := "no level"
	if r.Level > 0 {
		level = fmt.Sprintf("level %d %s", r.Level, r.Level)
	}
	_, err := fmt.Fprintf(w, "%s: %d passed, %d failed, %d skipped; %s\n", verdict, pass, failed, skip, level)
	return err
}

func orUnknown(s string) string {
	if s == "" {
		return "(unknown)"
	}
	return s
}

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     float64     `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    float64    `xml:"time,attr"`
	Failure *junitText `xml:"failure,omitempty"`
	Skipped *junitText `xml:"skipped,omitempty"`
	Output  string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes the report in the XML form that CI systems read.
func (r *Report) WriteJUnit(w io.Writer) error {
	_, failed, skipped := r.Counts()
	s := junitSuite{Name: "amygdala conformance: " + orUnknown(r.Name), Tests: len(r.Results), Failures: failed, Skipped: skipped}
	for _, c := range r.Results {
		j := junitCase{Class: c.Level.String(), Name: c.ID, Time: c.Elapsed.Seconds()}
		switch c.Status {
		case Fail:
			j.Failure = &junitText{c.Message}
		case Skip:
			j.Skipped = &junitText{c.Message}
		case Note:
			j.Output = c.Message
		}
		s.Time += j.Time
		s.Cases = append(s.Cases, j)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
