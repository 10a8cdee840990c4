package shell

import "strings"

// Parse reads text as a script. Any text can be read; prose gives commands that mean nothing.
func Parse(text string) Script {
	l := &lexer{src: text, vars: map[string]string{}}
	if len(text) > MaxText {
		l.src, l.out.Truncated = text[:MaxText], true
	}
	for l.at < len(l.src) && l.words < MaxWords {
		l.next()
	}
	l.out.Truncated = l.out.Truncated || l.at < len(l.src)
	l.endCommand(false)
	return l.out
}

type lexer struct {
	src   string
	at    int
	words int
	grown int // bytes that variables added
	cmd   Command
	vars  map[string]string
	out   Script
}

// next reads white space, an operator or a word.
func (l *lexer) next() {
	switch c := l.src[l.at]; c {
	case ' ', '\t', '\r':
		l.at++
	case '\n', ';':
		l.at++
		l.endCommand(false)
	case '&':
		l.at++
		l.endCommand(false)
	case '|':
		l.at++
		or := l.at < len(l.src) && l.src[l.at] == '|'
		l.endCommand(!or)
		if l.at < len(l.src) && (or || l.src[l.at] == '&') {
			l.at++
		}
	case '(', ')':
		l.at++
		if len(l.cmd.Words) == 0 {
			l.endCommand(l.cmd.Piped)
		}
	case '<', '>':
		l.redirect()
	default:
		l.word()
	}
}

// redirect keeps the sign as a word, so that "> /dev/tcp/..." can be seen. A process substitution reads as a command.
func (l *lexer) redirect() {
	start := l.at
	for l.at < len(l.src) && strings.IndexByte("<>&", l.src[l.at]) >= 0 {
		l.at++
	}
	l.push(Word{Text: l.src[start:l.at], Start: start, End: l.at})
}

func (l *lexer) push(w Word) {
	l.words++
	l.cmd.Words = append(l.cmd.Words, w)
}

func (l *lexer) endCommand(piped bool) {
	if len(l.cmd.Words) > 0 {
		l.assign()
		l.cmd.settle()
		l.out.Commands = append(l.out.Commands, l.cmd)
		l.cmd = Command{Piped: piped}
		return
	}
	l.cmd.Piped = piped
}

// assign remembers NAME=value words that stand alone before a command's end.
func (l *lexer) assign() {
	for _, w := range l.cmd.Words {
		text := w.Text
		if text == "export" || text == "local" || text == "set" {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		if !ok || !isName(name) || len(l.vars) > 64 {
			return
		}
		l.vars[name] = value
	}
}

// What a byte does to a word.
const (
	wordByte uint8 = iota // belongs to it
	wordMark              // quotes, escapes or substitutes
	wordEnd
)

var wordClass = func() (t [256]uint8) {
	for _, c := range []byte(" \t\r\n;|&<>()") {
		t[c] = wordEnd
	}
	for _, c := range []byte("'\"`\\$") {
		t[c] = wordMark
	}
	return t
}()

// word reads one word: its pieces may be bare, quoted or substituted. A bare word is a part of the source.
func (l *lexer) word() {
	w := Word{Start: l.at}
	for l.at < len(l.src) && wordClass[l.src[l.at]] == wordByte {
		l.at++
	}
	if l.at == len(l.src) || wordClass[l.src[l.at]] == wordEnd {
		w.Text, w.End = l.src[w.Start:l.at], l.at
		if w.End > w.Start {
			l.push(w)
		}
		return
	}
	var b strings.Builder
	b.WriteString(l.src[w.Start:l.at])
	for l.at < len(l.src) && wordClass[l.src[l.at]] != wordEnd {
		if quoted := l.piece(&b); quoted {
			w.Quoted = true
		}
	}
	w.Text, w.End = b.String(), l.at
	if w.End > w.Start {
		l.push(w)
	}
}

// piece reads one part of a word and reports whether it was quoted.
func (l *lexer) piece(b *strings.Builder) bool {
	switch c := l.src[l.at]; {
	case c == '\'':
		l.at++
		b.WriteString(l.until('\''))
		return true
	case c == '"':
		l.at++
		l.doubleQuoted(b)
		return true
	case c == '`':
		l.at++
		b.WriteString("`" + l.until('`') + "`")
	case c == '\\':
		l.backslash(b)
	case c == '$':
		return l.dollar(b)
	default:
		from := l.at
		for l.at < len(l.src) && wordClass[l.src[l.at]] == wordByte {
			l.at++
		}
		b.WriteString(l.src[from:l.at])
	}
	return false
}

// until returns the text up to the next q and steps over it. Without one, only to the end of the line: an apostrophe in prose is no quote.
func (l *lexer) until(q byte) string {
	rest := l.src[l.at:]
	end := strings.IndexByte(rest, q)
	if end < 0 {
		if end = strings.IndexByte(rest, '\n'); end < 0 {
			end = len(rest)
		}
		l.at += end
		return rest[:end]
	}
	l.at += end + 1
	return rest[:end]
}

func (l *lexer) doubleQuoted(b *strings.Builder) {
	for l.at < len(l.src) {
		switch c := l.src[l.at]; c {
		case '"':
			l.at++
			return
		case '\\':
			if l.at+1 < len(l.src) && strings.IndexByte("\"\\$`\n", l.src[l.at+1]) >= 0 {
				l.at++
			}
			b.WriteByte(l.src[l.at])
			l.at++
		case '$':
			l.dollar(b)
		default:
			b.WriteByte(c)
			l.at++
		}
	}
}

// backslash undoes an escape. Before a drive or share name it is a separator of Windows paths and stays.
func (l *lexer) backslash(b *strings.Builder) {
	l.at++
	if l.at >= len(l.src) {
		return
	}
	if c := l.src[l.at]; c != '\n' {
		if windowsPath(b.String(), l.src[l.at-1:]) {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	l.at++
}

func windowsPath(before, rest string) bool {
	return strings.HasPrefix(rest, `\\`) && before == "" || strings.Contains(before, ":") || strings.HasPrefix(before, `\`) || strings.Contains(before, `%\`)
}

// dollar reads $'...', $NAME, ${NAME} and keeps $(...) as it is.
func (l *lexer) dollar(b *strings.Builder) bool {
	rest := l.src[l.at+1:]
	switch {
	case strings.HasPrefix(rest, "'"):
		l.at += 2
		b.WriteString(unescapeC(l.until('\'')))
		return true
	case strings.HasPrefix(rest, "("):
		end := balanced(l.src[l.at+1:])
		b.WriteString(l.src[l.at : l.at+1+end])
		l.at += 1 + end
	case strings.HasPrefix(rest, "{"):
		end := strings.IndexByte(rest, '}')
		if end < 0 || end > 80 {
			b.WriteByte('$')
			l.at++
			return false
		}
		l.variable(b, rest[1:end], l.src[l.at:l.at+2+end])
		l.at += 2 + end
	default:
		n := 0
		for n < len(rest) && (isName(rest[:n+1]) && n < 40) {
			n++
		}
		l.variable(b, rest[:n], l.src[l.at:l.at+1+n])
		l.at += 1 + n
	}
	return false
}

// variable writes the value of a known variable, or the reference itself.
func (l *lexer) variable(b *strings.Builder, name, ref string) {
	if v, ok := l.vars[name]; ok && b.Len()+len(v) < maxExpand && l.grown < maxExpanded {
		l.grown += len(v)
		b.WriteString(v)
		return
	}
	if name == "IFS" {
		ref = " "
	}
	b.WriteString(ref)
}

// balanced returns the length of the parenthesised text that s starts with, or of the line when it never closes.
func balanced(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\n':
			return i
		}
	}
	return len(s)
}

// unescapeC undoes \xHH, \NNN and the letter escapes of $'...'.
func unescapeC(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == 'x':
			v, n := digits(s[i+1:], 16, 2)
			b.WriteByte(byte(v))
			i += n
		case c >= '0' && c <= '7':
			v, n := digits(s[i:], 8, 3)
			b.WriteByte(byte(v))
			i += n - 1
		case c == 'n':
			b.WriteByte('\n')
		case c == 't':
			b.WriteByte('\t')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func digits(s string, base, most int) (v, n int) {
	for n < len(s) && n < most {
		d := strings.IndexByte("0123456789abcdef", s[n]|0x20)
		if d < 0 || d >= base || s[n] < '0' {
			break
		}
		v = v*base + d
		n++
	}
	return v, n
}
