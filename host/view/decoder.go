package view

import v1 "github.com/amygdala-host/amygdala/abi/v1"

// step identifies a decoder. The order is the canonical order of a chain: what a person or program applied last comes first.
type step uint8

const (
	stepText step = iota
	stepUTF16
	stepANSI
	stepQP
	stepJSON
	stepEscape
	stepHTML
	stepMarkdown
	stepCode
	stepURL
	stepTags
	stepFold
	stepAccent
	stepWrap
	stepJoined
	stepSpaced
	stepSegment
	stepBlob
	stepNumber
	stepLeet
	stepCipher
	stepMirror
)

// stepFresh is the step of views that hold nothing but decoded text: every decoder may run on them.
const stepFresh = stepText

// job is one decoder's work on one view.
type job struct {
	s      *Set
	parent int
	src    []byte
	scan   *scan
	kind   v1.PayloadKind
}

// decoder is one way to read a text. It runs when the text holds one of its marks.
type decoder struct {
	step  step
	marks marks
	run   func(job)
}

// decoders in the order they run; a Set's budget is spent in this order too. It must be sorted by step.
var decoders = []decoder{
	{stepANSI, markEscape, decodeANSI},
	{stepQP, markEqual, decodeQuotedPrintable},
	{stepJSON, markBackslash, decodeJSON},
	{stepEscape, markBackslash, decodeEscapes},
	{stepHTML, markLess | markAmp, decodeHTML},
	{stepMarkdown, markBracket, decodeMarkdown},
	{stepCode, markAny, decodeComments},
	{stepURL, markPercent, decodePercent},
	{stepTags, markHigh, decodeInvisible},
	{stepFold, markHigh | markControl, decodeFold},
	{stepAccent, markHigh, decodeAccents},
	{stepWrap, markAny, decodeWraps},
	{stepJoined, markQuote | markPlus | markEqual, decodeJoined},
	{stepSpaced, markSpaced, decodeSpaced},
	{stepSegment, markRun | markGlued, decodeSegments},
	{stepBlob, markRun | markCipher, decodeBlobs},
	{stepNumber, markNumbers, decodeNumbers},
	{stepLeet, markLeet, decodeLeet},
	{stepCipher, markCipher, decodeCipher},
	{stepMirror, markMirror | markHigh, decodeMirror},
}

// Names are the names a View can have, chains aside: what a detector's manifest may ask to be woken by.
func Names() []string {
	return []string{"text", "utf16", "utf32", "ansi", "ansi.hidden", "qp", "json", "escape", "html", "html.comment", "html.hidden", "html.attr",
		"md.comment", "md.hidden", "code.comment", "url", "tags", "variation", "zerowidth", "fold", "plain", "joined", "spaced", "segmented",
		"hex", "base32", "base64", "charcodes", "binary", "morse", "leet", "rot13", "caesar", "reversed"}
}
