package view

import "bytes"

// decodeMarkdown collects what Markdown does not render: comments written as reference definitions ("md.comment"), and link titles,
// image texts and footnotes ("md.hidden").
func decodeMarkdown(j job) {
	comment, concealed := j.build(stepMarkdown, "md.comment"), j.build(stepMarkdown, "md.hidden")
	comment.hidden, concealed.hidden = true, true
	src := j.src
	for i := 0; i < len(src); {
		k := bytes.IndexByte(src[i:], '[')
		if k < 0 {
			break
		}
		i += k
		i = markdownBracket(comment, concealed, i)
	}
	comment.commit()
	concealed.commit()
}

const (
	maxLabel = 512  // longest link text or label looked at
	maxTitle = 2048 // longest title or comment looked at
)

// markdownBracket handles the '[' at i and returns where to go on.
func markdownBracket(comment, concealed *builder, i int) int {
	src := comment.src
	k := bytes.IndexByte(src[i:min(len(src), i+maxLabel)], ']')
	if k < 0 {
		return i + 1
	}
	end := i + k
	if end+1 >= len(src) {
		return end + 1
	}
	if i > 0 && src[i-1] == '!' && k > 8 {
		concealed.sep('\n', i+1)
		concealed.extract(i+1, end)
	}
	switch src[end+1] {
	case ':':
		if lineStart(src, i) {
			return definition(comment, concealed, i, end+2)
		}
	case '(':
		return linkTitle(concealed, end+2)
	}
	return i + 1
}

// lineStart reports whether only spaces and quote signs stand between i and the start of its line.
func lineStart(p []byte, i int) bool {
	for i > 0 {
		i--
		switch p[i] {
		case '\n', '\r':
			return true
		case ' ', '\t', '>':
		default:
			return false
		}
	}
	return true
}

// definition handles "[label]: destination title" and "[^label]: footnote", whose rest starts at `at`.
func definition(comment, concealed *builder, label, at int) int {
	src := comment.src
	end := lineEnd(src, at)
	if label+1 < len(src) && src[label+1] == '^' {
		concealed.sep('\n', at)
		concealed.extract(at, end)
		return end
	}
	k := at
	for k < end && (src[k] == ' ' || src[k] == '\t') {
		k++
	}
	dest := k
	for k < end && src[k] > ' ' {
		k++
	}
	to := concealed
	if d := string(src[dest:k]); d == "#" || d == "<>" || d == "" || d == "<#>" || d == "/" {
		to = comment
	}
	return title(to, k, to == comment)
}

// linkTitle handles the part of an inline link after the opening parenthesis.
func linkTitle(concealed *builder, at int) int {
	src := concealed.src
	k := at
	for k < len(src) && k-at < 2048 && src[k] > ' ' && src[k] != ')' {
		k++
	}
	if k < len(src) && (src[k] == ' ' || src[k] == '\n') {
		return title(concealed, k, false)
	}
	return k
}

// title extracts a title in quotes or parentheses that follows white space at k, and returns where to go on. By the standard a blank
// line ends it; who writes a comment this way may not know, so a loose one goes on.
func title(b *builder, k int, loose bool) int {
	src := b.src
	for k < len(src) && (src[k] == ' ' || src[k] == '\t' || src[k] == '\n') {
		k++
	}
	if k >= len(src) {
		return k
	}
	closer := src[k]
	switch closer {
	case '(':
		closer = ')'
	case '"', '\'':
	default:
		return k
	}
	limit := src[k+1 : min(len(src), k+1+maxTitle)]
	end := bytes.IndexByte(limit, closer)
	if end < 0 || !loose && bytes.Contains(limit[:end], []byte("\n\n")) {
		return k
	}
	end = bytes.LastIndexByte(limit[:lineEnd(limit, end)], closer)
	b.sep('\n', k+1)
	b.extract(k+1, k+1+end)
	return k + 1 + end
}

// lineEnd is the offset of the line feed at or after i, or the end of the text.
func lineEnd(p []byte, i int) int {
	if k := bytes.IndexByte(p[i:], '\n'); k >= 0 {
		return i + k
	}
	return len(p)
}
