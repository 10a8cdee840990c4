package structure

import "strings"

// names is a set of argument names in their plain form: lower case, no separators.
type names map[string]bool

func setOf(words string) names {
	n := names{}
	for _, w := range strings.Fields(words) {
		n[w] = true
	}
	return n
}

// plainName brings "baseUrl", "base-url" and "base_url" to one form.
func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

var (
	targetKeys = setOf(`url uri urls uris link links href src source host hosts hostname server servers address addr endpoint target targets baseurl apibase
		apiurl origin proxy remote destination dest domain site website webhook webhookurl callback callbackurl imageurl fileurl feed feedurl location page pageurl
		repo repository giturl download downloadurl upstream backend serverurl connection connectionstring dsn resource referer referrer ip ipaddress registry mirror`)
	commandKeys = setOf(`command cmd commands script shell bash args argv exec run program commandline powershell entrypoint code python javascript expression snippet sourcecode`)
	contentKeys = setOf(`content contents text message messages description title comment prompt query q question summary newstring oldstring replacement filetext newtext oldtext
		notes note markdown html details caption bodytext reason thought thoughts explanation answer subject docstring documentation diff patch newstr oldstr search pattern memory`)
)

// toolWords are parts of tool names that tell what a tool does with its arguments.
var (
	runWords   = []string{"exec", "run", "bash", "shell", "terminal", "powershell", "subprocess", "console", "cmd", "command", "python", "script", "eval"}
	fetchWords = []string{"fetch", "http", "request", "browse", "navigate", "goto", "open", "visit", "download", "curl", "wget", "scrape", "crawl", "webhook", "url", "load", "get", "connect", "proxy", "api"}
	sendWords  = []string{"send", "post", "upload", "mail", "message", "publish", "share", "forward", "notify", "slack", "tweet", "sms", "submit", "webhook", "put", "export", "sync", "push", "dm", "chat", "reply"}
	writeWords = []string{"write", "edit", "create", "update", "append", "insert", "replace", "patch", "save", "commit", "comment", "note", "remember", "store", "search", "grep", "find", "ask", "think", "answer"}
	readWords  = []string{"read", "cat", "view", "open", "load", "get", "list", "ls", "show", "file", "fetch", "download", "head", "tail", "resource"}
)

// has reports whether the tool's name holds one of the words.
func has(tool string, words []string) bool {
	tool = strings.ToLower(tool)
	for _, w := range words {
		if strings.Contains(tool, w) {
			return true
		}
	}
	return false
}

// roleOf guesses what a tool does with an argument.
func roleOf(tool, key string) role {
	k := plainName(key)
	switch {
	case targetKeys[k]:
		return roleTarget
	case contentKeys[k]:
		return roleContent
	case commandKeys[k], k == "input" && has(tool, runWords):
		return roleCommand
	}
	return roleOther
}
