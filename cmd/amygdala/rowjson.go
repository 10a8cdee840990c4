package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// rowKeys are the keys of a row that mean something here.
var rowKeys = []string{"id", "text", "bytes", "kind", "source", "topic", "label", "subset"}

// decodeRow reads one JSON row. It is stricter than encoding/json where leniency would let a reader and this program see different texts:
// a key given twice, a key in another case, and bytes that are not UTF-8 are errors. Keys that mean nothing here are passed over.
func decodeRow(data []byte) (*row, error) {
	if !utf8.Valid(data) {
		return nil, errors.New(`it is not UTF-8; give what is no text as "bytes" in base64`)
	}
	x := &row{}
	if err := json.Unmarshal(data, x); err != nil {
		return nil, err
	}
	return x, checkKeys(data)
}

// checkKeys looks at the keys of an object that is known to be valid JSON; null is none.
func checkKeys(data []byte) error {
	seen := map[string]bool{}
	depth, isKey := 0, false
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
			isKey = depth == 1
		case '}', ']':
			depth--
		case ',':
			isKey = depth == 1
		case '"':
			end := stringEnd(data, i)
			if isKey {
				if err := checkKey(data[i:end], seen); err != nil {
					return err
				}
			}
			isKey = false
			i = end - 1
		}
	}
	return nil
}

// stringEnd returns the offset behind the string literal that begins at i.
func stringEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// checkKey refuses a key that was there before, or that encoding/json would take for one of ours though it is not spelled so.
func checkKey(literal []byte, seen map[string]bool) error {
	var key string
	if err := json.Unmarshal(literal, &key); err != nil {
		return err
	}
	for _, known := range rowKeys {
		switch {
		case !strings.EqualFold(key, known):
			continue
		case key != known:
			return fmt.Errorf("unknown key %q; write %q", key, known)
		case seen[key]:
			return fmt.Errorf("the key %q is given twice", key)
		}
		seen[key] = true
	}
	return nil
}
