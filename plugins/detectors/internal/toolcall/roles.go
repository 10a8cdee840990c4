package toolcall

import "strings"

// Names is a set of argument names in their plain form: lower case, no separators.
type Names map[string]bool

// SetOf makes a set of words separated by white space.
func SetOf(words string) Names {
	n := Names{}
	for _, w := range strings.Fields(words) {
		n[w] = true
	}
	return n
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// PlainName brings "baseUrl", "base-url" and "base_url" to one form.
func PlainName(s string) string {
	if strings.ContainsAny(s, "_- ") {
		s = separators.Replace(s)
	}
	return strings.ToLower(s)
}

var (
	targetKeys = SetOf(`url uri urls uris link links href src source host hosts hostname server servers address addr endpoint target targets baseurl apibase
		apiurl origin proxy remote destination dest domain site website webhook webhookurl callback callbackurl imageurl fileurl feed feedurl location page pageurl
		repo repository giturl download downloadurl upstream backend serverurl connection connectionstring dsn resource referer referrer ip ipaddress registry mirror`)
	commandKeys = SetOf(`command cmd commands script shell bash args argv exec run program commandline powershell entrypoint code python javascript expression snippet sourcecode`)
	contentKeys = SetOf(`content contents text message messages description title comment prompt query q question summary newstring oldstring replacement filetext newtext oldtext
		notes note markdown html details caption bodytext reason thought thoughts explanation answer subject docstring documentation diff patch newstr oldstr search pattern memory`)
)

// Parts of tool names that tell what a tool does with its arguments.
var (
	// RunWords run something, FetchWords get something from elsewhere, SendWords send, WriteWords store or search, ReadWords read.
	RunWords = []string{"exec", "run", "runcommand", "bash", "shell", "terminal", "powershell", "subprocess", "console", "cmd", "command", "python",
		"script", "eval"}
	FetchWords = []string{"fetch", "http", "request", "browse", "navigate", "goto", "open", "visit", "download", "curl", "wget", "scrape", "crawl",
		"webhook", "url", "load", "get", "connect", "proxy", "api"}
	SendWords = []string{"send", "post", "upload", "mail", "message", "publish", "share", "forward", "notify", "slack", "tweet", "sms", "submit",
		"webhook", "put", "export", "sync", "push", "dm", "chat", "reply"}
	WriteWords = []string{"write", "edit", "create", "update", "append", "insert", "replace", "patch", "save", "commit", "comment", "note", "remember",
		"store", "search", "grep", "find", "ask", "think", "answer"}
	ReadWords = []string{"read", "cat", "view", "open", "load", "get", "list", "ls", "show", "file", "fetch", "download", "head", "tail", "resource"}
)

// Has reports whether the tool's name holds one of the words: as a part between separators or capitals, or, for words of four letters and
// more, at the start or end of such a part ("sendmail", "websearch").
func Has(tool string, words []string) bool {
	if tool == "" {
		return false
	}
	for _, part := range parts(tool) {
		for _, w := range words {
			if part == w || len(w) >= 4 && (strings.HasPrefix(part, w) || strings.HasSuffix(part, w)) {
				return true
			}
		}
	}
	return false
}

// maxName bounds the tool names that are taken apart.
const maxName = 128

// parts splits "readFile", "read_file" and "mcp__fs__read-file" into lower-case words.
func parts(tool string) []string {
	if len(tool) > maxName {
		tool = tool[:maxName]
	}
	var b strings.Builder
	for i := 0; i < len(tool); i++ {
		c := tool[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80
		capital := c >= 'A' && c <= 'Z'
		if !letter || capital && i > 0 && tool[i-1] >= 'a' && tool[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		if letter {
			b.WriteByte(c)
		}
	}
	return strings.Fields(strings.ToLower(b.String()))
}

// RoleOf guesses what a tool does with an argument.
func RoleOf(tool, key string) Role {
	k := PlainName(key)
	switch {
	case targetKeys[k]:
		return Target
	case contentKeys[k]:
		return Content
	case commandKeys[k], k == "input" && Has(tool, RunWords):
		return Command
	}
	return Other
}
