package view

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// glyph says what folding does with a character.
type glyph uint8

const (
	glyphPlain   glyph = iota // kept
	glyphAlways               // replaced wherever it stands (compatibility form, letter-like symbol, typographic mark)
	glyphAlike                // a letter of another script that looks like a Latin one: replaced in words that mix scripts
	glyphForeign              // a letter of such a script without a Latin twin
	glyphMark                 // a combining mark that can be stuffed into any word
	glyphIgnored              // invisible wherever it stands between Latin letters
	glyphJoiner               // ZWJ, ZWNJ, LRM, RLM: invisible, and needed by some scripts and emoji
	glyphVariant              // a variation selector
	glyphTag                  // a tag character
	glyphFlag                 // a regional indicator: a letter unless two of them make a flag
	glyphMulti                // glyphAlways with more than one character; see foldTable.multi
)

// fold packs a glyph and its replacement.
type fold uint32

func (f fold) glyph() glyph { return glyph(f >> 24) }
func (f fold) rune() rune   { return rune(f & 0xffffff) }

// foldTable maps characters up to U+1FFFF to their folds, in pages of 256.
type foldTable struct {
	pages [0x200]*[256]fold
	multi []string
	// composed maps a letter and a combining mark to the letter with that mark.
	composed map[[2]rune]rune
	// bare maps accented Latin letters to plain ones: up to U+02FF, and from there the block at U+1E00.
	bare [0x400]byte
}

// plain is the ASCII letter that an accented Latin letter is based on; 0 for all other characters.
func (t *foldTable) plain(r rune) byte {
	if i := bareIndex(r); i >= 0 {
		return t.bare[i]
	}
	return 0
}

func bareIndex(r rune) int {
	switch {
	case r < 0x300:
		return int(r)
	case r >= 0x1E00 && r < 0x1F00:
		return int(r) - 0x1E00 + 0x300
	}
	return -1
}

// compositions lists the blocks of precomposed letters that are put together again when they come in pieces.
var compositions = [][2]rune{{0xC0, 0x24F}, {0x370, 0x52F}, {0x1E00, 0x1FFF}}

// compose notes the pieces of one precomposed letter.
func (t *foldTable) compose(c rune) {
	parts := []rune(norm.NFD.String(string(c)))
	if i := bareIndex(c); i >= 0 && parts[0] < utf8.RuneSelf && len(parts) > 1 {
		t.bare[i] = byte(parts[0])
	}
	if n := len(parts); n > 1 {
		if base := []rune(norm.NFC.String(string(parts[:n-1]))); len(base) == 1 {
			t.composed[[2]rune{base[0], parts[n-1]}] = c
		}
	}
}

func (t *foldTable) set(r rune, g glyph, to rune) {
	p := &t.pages[r>>8]
	if *p == nil {
		*p = new([256]fold)
	}
	(*p)[r&0xff] = fold(g)<<24 | fold(to)
}

// of looks a character up.
func (t *foldTable) of(r rune) fold {
	switch {
	case r < 0x20000:
		if p := t.pages[r>>8]; p != nil {
			return p[r&0xff]
		}
	case r >= 0xE0000 && r < 0xE0080:
		return fold(glyphTag) << 24
	case r >= 0xE0100 && r < 0xE01F0:
		return fold(glyphVariant) << 24
	}
	return 0
}

// folds is built at its first use: about 10,000 characters have a compatibility form.
var folds = sync.OnceValue(func() *foldTable {
	t := &foldTable{composed: map[[2]rune]rune{}}
	for _, r := range compositions {
		for c := r[0]; c <= r[1]; c++ {
			t.compose(c)
		}
	}
	for _, r := range compatibility {
		for c := r[0]; c <= r[1]; c++ {
			t.compatible(c)
		}
	}
	for _, r := range foreign {
		for c := r[0]; c <= r[1]; c++ {
			if unicode.IsLetter(c) {
				t.set(c, glyphForeign, 0)
			}
		}
	}
	for _, r := range stuffing {
		for c := r[0]; c <= r[1]; c++ {
			t.set(c, glyphMark, 0)
		}
	}
	always := func(c, to rune) { t.set(c, glyphAlways, to) }
	pairs(lookAlikes, func(c, to rune) { t.set(c, glyphAlike, to) })
	pairs(letterLike, always)
	pairs(typography, always)
	pairs(strokes, func(c, to rune) { t.bare[bareIndex(c)] = byte(to) })
	t.shapes()
	t.invisible()
	return t
})

// compatible notes the NFKC form of one character, when it has one.
func (t *foldTable) compatible(c rune) {
	to := []rune(norm.NFKC.String(string(c)))
	switch {
	case len(to) == 0 || to[0] == c || to[0] == ' ' && len(to) > 1: // an accent standing alone
	case len(to) == 1:
		t.set(c, glyphAlways, to[0])
	default:
		t.set(c, glyphMulti, rune(len(t.multi)))
		t.multi = append(t.multi, string(to))
	}
}

// pairs reads groups of a replacement and its look-alikes: "aаα oοо".
func pairs(groups string, f func(c, to rune)) {
	var to rune
	for _, c := range groups {
		switch {
		case c == ' ':
			to = 0
		case to == 0:
			to = c
		default:
			f(c, to)
		}
	}
}

// shapes maps the alphabets of symbols that NFKC leaves alone: letters in black circles and squares, digits in circles. Regional
// indicators mostly stand in pairs, as flags; see folder.char.
func (t *foldTable) shapes() {
	for i := range rune(26) {
		for _, base := range []rune{0x1F150, 0x1F170} {
			t.set(base+i, glyphAlways, 'A'+i)
		}
		t.set(0x1F1E6+i, glyphFlag, 'A'+i)
	}
	for i := range rune(10) {
		if i > 0 {
			for _, base := range []rune{0x2775, 0x277F, 0x2789} { // dingbat digits: black, sans, black sans; 1 to 9
				t.set(base+i, glyphAlways, '0'+i)
			}
		}
	}
}

func (t *foldTable) invisible() {
	for _, r := range ignored {
		for c := r[0]; c <= r[1]; c++ {
			t.set(c, glyphIgnored, 0)
		}
	}
	for _, c := range []rune{0x200C, 0x200D, 0x200E, 0x200F} {
		t.set(c, glyphJoiner, 0)
	}
	for c := rune(0xFE00); c <= 0xFE0F; c++ {
		t.set(c, glyphVariant, 0)
	}
}

// compatibility lists the blocks that hold characters with a compatibility form (Unicode 15, UnicodeData.txt).
var compatibility = [][2]rune{{0xA0, 0xFF}, {0x132, 0x149}, {0x17F, 0x17F}, {0x1C4, 0x1CC}, {0x1F1, 0x1F3}, {0x2B0, 0x2E4}, {0x37A, 0x37E},
	{0x3D0, 0x3FF}, {0x587, 0x587}, {0x675, 0x678}, {0x1D2C, 0x1DBF}, {0x1E9A, 0x1E9B}, {0x2000, 0x206F}, {0x2070, 0x209C},
	{0x20A8, 0x20A8}, {0x2100, 0x218B}, {0x222C, 0x2230}, {0x2460, 0x24EA}, {0x2C7C, 0x2C7D}, {0x2E9F, 0x2EF3}, {0x2F00, 0x2FD5},
	{0x3000, 0x3000}, {0x3036, 0x303A}, {0x309B, 0x30FF}, {0x3131, 0x318E}, {0x3192, 0x319F}, {0x3200, 0x33FF}, {0xA69C, 0xA69D},
	{0xA770, 0xA770}, {0xA7F2, 0xA7F9}, {0xAB5C, 0xAB69}, {0xF900, 0xFAFF}, {0xFB00, 0xFB17}, {0xFB20, 0xFDFC}, {0xFE10, 0xFEFC},
	{0xFF01, 0xFFEE}, {0x1D400, 0x1D7FF}, {0x1EE00, 0x1EEBB}, {0x1F100, 0x1F16C}, {0x1F190, 0x1F190}, {0x1F200, 0x1F251},
	{0x1FBF0, 0x1FBF9}}

// foreign lists the scripts whose letters are mistaken for Latin ones.
var foreign = [][2]rune{{0x370, 0x3FF}, {0x400, 0x52F}, {0x531, 0x587}, {0x13A0, 0x13FD}, {0x1F00, 0x1FFF}, {0x2C80, 0x2CF3},
	{0xA640, 0xA69B}, {0xAB70, 0xABBF}}

// stuffing lists the blocks of combining marks that belong to no script of their own.
var stuffing = [][2]rune{{0x300, 0x36F}, {0x483, 0x489}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}}

// ignored lists characters without a glyph (Unicode's Default_Ignorable_Code_Point, joiners and selectors aside), the interlinear
// annotation marks, and fillers that show as nothing.
var ignored = [][2]rune{{0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},
	{0x200B, 0x200B}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x2800, 0x2800}, {0x3164, 0x3164}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},
	{0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}}

// lookAlikes are letters of other scripts that most fonts draw like a Latin letter.
const lookAlikes = "AАΑᎪ BВΒᏴ CСϹᏟⲤ DᎠ EЕΕᎬ FϜ GԌᏀᏳ HНΗᎻⲎ IІΙӀᎥⲒ JЈᎫͿ KКΚᏦⲔ LᏞⳐ MМΜᎷⲘϺ NΝⲚ OОΟՕⲞ PРΡᏢⲢ QԚ RᎡᏒ SЅՏᏚ TТΤᎢⲦ " +
	"UՍ VѴᏙ WԜᎳᏔ XХΧⲬ YУΥҮᎩⲨ ZΖᏃ aаα bЬᏏ cсϲⲥ dԁᏧ eеҽє fϝ gɡց hһհ iіιӏ jјϳ kкκ mм nпոη oоοօσⲟ pрρ qԛգ " +
	"rгⲅ sѕ tтτ uսυц vνѵ wԝωաѡ xхχⲭ yуγүყ zᴢ"

// letterLike are letters that are Latin by another name or shape: small capitals, phonetic and turned letters. Letters with strokes
// and hooks that some language uses are not among them; see strokes.
const letterLike = "aᴀɐɑⱥ bʙ cᴄ dᴅ eᴇɘǝ fꜰɟ gɢɡɠ hʜɥ iɪɨᴉ jᴊȷ kᴋʞ lʟɭ mᴍɱɯ nɴ oᴏɵ pᴘ qꞯ rʀɹɾɽ sꜱʂ tᴛʇʈ uᴜʉ vᴠʌ wᴡʍ yʏʎ zᴢʐ"

// strokes are letters of living languages that only a reader of plain ASCII would take for another; see decodeAccents.
const strokes = "dđɖɗ lłƚ oøɔ hħ tŧƭ iı eəɛ nŋɲ bɓ kƙ yƴ zƶ cƈ gǥ pƥ vʋ AȺ DĐ HĦ LŁ OØ TŦ"

// typography are marks that stand for an ASCII one.
const typography = "'‘’‚‛ʼʹ′ \"“”„‟″«» -‐‑‒–—―−"
