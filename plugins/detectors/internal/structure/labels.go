package structure

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/secret"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
)

// secondLevel are labels under which a country's registry hands out names, so that the registered domain has three labels.
var secondLevel = toolcall.SetOf("co com org net gov edu ac or ne go gob mil id web")

// subLabels returns the labels left of the registered domain, as far as the text tells.
func subLabels(host string) []string {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	keep := 2
	if n := len(labels); n >= 3 && len(labels[n-1]) == 2 && secondLevel[strings.ToLower(labels[n-2])] {
		keep = 3
	}
	if len(labels) <= keep {
		return nil
	}
	return labels[:len(labels)-keep]
}

// labels judges data in the labels of a host name, which every resolver on the way sees. Case is kept: base64 needs it.
func (c loadContext) labels(host string) load {
	sub := subLabels(host)
	for _, l := range sub {
		if at, g := secret.Find(strings.ReplaceAll(l, "-", "_")); at >= 0 {
			return c.credential(g)
		}
		if text := decodeText(l); text != "" && len(l) >= 16 {
			return load{score: 0.92, why: "encoded text inside a host name"}
		}
		if shouting(l) {
			return load{score: 0.8, why: "encoded data inside a host name"}
		}
	}
	return spreadOver(sub)
}

// shouting reports a long label in the alphabet of base32: host names are written in lower case.
func shouting(l string) bool {
	return len(l) >= 16 && l == strings.ToUpper(l) && strings.ContainsAny(l, "234567") && !strings.ContainsAny(l, "0189-_") && strings.ContainsAny(l,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// spreadOver judges data cut into several labels.
func spreadOver(sub []string) load {
	joined, coded := "", 0
	for _, l := range sub {
		if len(l) >= 4 && (isHexLabel(l) || codedLabel(l)) {
			joined += l
			coded++
		}
	}
	if coded >= 2 && len(joined) >= 14 && readable(fromHex(joined)) {
		return load{score: 0.92, why: "encoded text spread over the labels of a host name"}
	}
	if coded >= 4 && len(joined) >= 24 {
		return load{score: 0.82, why: "data spread over the labels of a host name"}
	}
	return load{}
}

func isHexLabel(l string) bool {
	for i := range len(l) {
		if c := l[i]; !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return false
		}
	}
	return strings.ContainsAny(l, "0123456789")
}

// codedLabel reports labels that are no words: letters that repeat in blocks, or digits mixed in.
func codedLabel(l string) bool {
	if len(l) < 8 {
		return false
	}
	changes, digits := 0, 0
	for i := range len(l) {
		d := l[i] >= '0' && l[i] <= '9'
		if d {
			digits++
		}
		if i > 0 && d != (l[i-1] >= '0' && l[i-1] <= '9') {
			changes++
		}
	}
	return digits > 0 && changes >= 4
}
