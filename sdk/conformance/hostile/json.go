package hostile

import v1 "github.com/amygdala-host/amygdala/abi/v1"

// ModelJSON is Model for the other encoding.
func ModelJSON() []byte { return buildIn(v1.EncodingJSON, clean) }

// misspellers speak JSON and get one thing about it wrong. A lenient reader would take each of these answers for a clean or a milder one.
func misspellers() []Guest {
	say := func(name, answer, says string) Guest {
		wasm := buildIn(v1.EncodingJSON, func(c *canned) []byte { c.raw("special", []byte(answer)); return c.answer("special") })
		return Guest{name, wasm, "contract.detect", says}
	}
	finding := func(name, members, says string) Guest {
		return say(name, `{"verdict":{"findings":[{`+members+`}]}}`, says)
	}
	return []Guest{
		say("json-member-twice", `{"verdict":{"findings":[{"threat":1,"severity":3,"confidence":0.9}],"findings":[]}}`, "twice"),
		say("json-two-answers", `{"verdict":{},"error":{"kind":1}}`, "more than one member"),
		say("json-more-after-the-end", `{"verdict":{}}{"verdict":{}}`, "after the end"),
		say("json-cut-off", `{"verdict":{"findings":[`, "expected"),
		say("json-unknown-member", `{"verdict":{"finding":[]}}`, "unknown field"),
		say("json-not-utf8", "{\"verdict\":{\"state\":\"\xff\"}}", "UTF-8"),
		say("json-bytes-not-base64", `{"verdict":{"state":"*"}}`, "base64"),
		say("json-that-is-protobuf", string((&v1.Response{Verdict: &v1.Verdict{}}).AppendProto(nil)), "expected a JSON object"),
		finding("json-confidence-left-out", `"threat":1,"severity":3`, "confidence"),
		finding("json-confidence-nan", `"threat":1,"severity":3,"confidence":NaN`, "confidence"),
		finding("json-confidence-nan-in-quotes", `"threat":1,"severity":3,"confidence":"NaN"`, "confidence"),
		finding("json-confidence-beyond-float", `"threat":1,"severity":3,"confidence":1e39`, "confidence"),
		finding("json-unknown-enum-name", `"threat":"THREAT_NONE","severity":3,"confidence":0.9`, "threat"),
		finding("json-unknown-enum-number", `"threat":77,"severity":3,"confidence":0.9`, "threat"),
		finding("json-fraction-for-a-number", `"threat":1,"severity":3,"confidence":0.9,"end":1.5`, "end"),
		finding("json-number-too-large", `"threat":1,"severity":3,"confidence":0.9,"end":4294967296`, "end"),
	}
}
