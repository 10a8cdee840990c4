package structure

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/shell"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// judgeCommands looks for command lines that carry data outside: in the commands of a tool call, and around signature hits elsewhere.
func (j *judgement) judgeCommands() {
	for i := range j.fields {
		f := &j.fields[i]
		script := f.Role == toolcall.Command || f.Role == toolcall.Content && strings.HasPrefix(f.Text, "#!")
		if j.req.Kind == v1.PayloadKindToolCall && !f.Opened && script {
			j.judgeScript(j.script(i), f.At, 1)
		}
	}
	if j.acts {
		return
	}
	done := map[int]int{} // by view: where the last script ended
	budget := maxScripts
	for _, h := range j.req.Hits {
		if h.Threat != v1.ThreatExfiltration || !tagged(h, "check:command") {
			continue
		}
		view, text := int(h.View), j.text(int(h.View))
		if int(h.End) > len(text) || int(h.Start) < done[view] || budget <= 0 {
			continue
		}
		from, to := linesAround(text, int(h.Start), int(h.End))
		from = max(from, done[view])
		done[view], budget = to, budget-(to-from)
		j.judgeScript(shell.Parse(uncomment(text[from:to])), func(start, end int) finding.Place { return finding.At(view, from+start, from+end) }, j.weightAt(text,
			int(h.Start), int(h.End)))
	}
}

// maxScripts bounds the text around hits that is read as commands, in bytes.
const maxScripts = 64 << 10

var quotes = strings.NewReplacer("`", " ", "•", "   ")

// uncomment blanks the marks that prose puts around commands, keeping every offset.
func uncomment(s string) string {
	return quotes.Replace(s)
}

// maxLine bounds the text around a hit that is read as commands.
const maxLine = 2000

// linesAround widens [start, end) to whole lines, joined over trailing backslashes.
func linesAround(text string, start, end int) (int, int) {
	from := max(0, start-maxLine)
	for i := start - 1; i >= from; i-- {
		if text[i] == '\n' && !(i > 0 && text[i-1] == '\\') {
			from = i + 1
			break
		}
	}
	to := min(len(text), end+maxLine)
	for i := end; i < to; i++ {
		if text[i] == '\n' && text[i-1] != '\\' {
			to = i
			break
		}
	}
	return from, to
}

// flow follows data through a script.
type flow struct {
	// source is how harmful the data in the current pipe is.
	source float32
	// tainted are files that sensitive data was copied to.
	tainted map[string]bool
}

// judgeScript judges each command with what flows into it.
func (j *judgement) judgeScript(script shell.Script, at func(int, int) finding.Place, weight float32) {
	fl := flow{tainted: map[string]bool{}}
	for k := range script.Commands {
		c := &script.Commands[k]
		if j.found.Enough(v1.ThreatExfiltration) {
			return
		}
		if !c.Piped {
			fl.source = 0
		}
		if c.Name() == "" || !j.acts && capitalised(c) {
			continue // assignments alone, and sentences
		}
		score, why := j.commandLeak(c, &fl)
		start, end := c.Range()
		j.found.Add(v1.ThreatExfiltration, v1.SeverityCritical, score*weight, at(start, end), "", why)
	}
}

// capitalised reports a sentence: programs are written in small letters, but for PowerShell's Verb-Noun.
func capitalised(c *shell.Command) bool {
	if len(c.Words) == 0 {
		return false
	}
	w := c.Words[0].Text
	return w != "" && w[0] >= 'A' && w[0] <= 'Z' && !strings.ContainsAny(w, "-=")
}

var (
	senders  = toolcall.SetOf(`curl wget nc ncat netcat socat telnet scp rsync sftp ftp tftp http https xh httpie mail mailx sendmail mutt msmtp swaks invoke-webrequest iwr invoke-restmethod irm aws gsutil rclone az s3cmd mc openssl croc wormhole certutil bitsadmin wscat websocat`)
	resolver = toolcall.SetOf(`dig nslookup host ping ping6 drill kdig resolvectl resolve-dnsname getent tracert traceroute`)
	readers  = toolcall.SetOf(`cat less more head tail base64 base32 xxd od hexdump strings cp type get-content gc gcat bat nl tac rev tar zip 7z gzip openssl gpg dd sed awk grep jq cut sort tee scp rsync`)
)

// sources are commands whose output is itself sensitive.
var sources = map[string]float32{"env": 0.95, "printenv": 0.95, "set": 0.9, "pbpaste": 0.88, "xclip": 0.88, "xsel": 0.88, "wl-paste": 0.88, "get-clipboard": 0.88, "history": 0.9, "export": 0.9, "declare": 0.9, "compgen": 0.85, "security": 0.9, "dmesg": 0.5, "whoami": 0.6, "id": 0.6, "hostname": 0.6, "uname": 0.5, "screencapture": 0.85, "mysqldump": 0.88, "pg_dump": 0.88, "vault": 0.85, "kubectl": 0}

// maxCommand bounds how much of one command is searched for options.
const maxCommand = 4 << 10

// commandLeak judges one command and passes on what it outputs.
func (j *judgement) commandLeak(c *shell.Command, fl *flow) (float32, string) {
	name, args := c.Name(), c.Args()
	if opensShell(name, c) {
		return 0.9, "gives an outside host a shell"
	}
	if resolver[name] {
		return resolverLeak(args)
	}
	carried, read := fl.source, j.carriedBy(args, fl)
	if senders[name] {
		return j.senderLeak(name, args, clip(c.Text(), maxCommand), carried, read)
	}
	fl.source = max(carried, read, sourceOf(name, args))
	if fl.source > 0 {
		fl.taint(args)
	}
	if read >= 0.95 && readers[name] && !strings.HasPrefix(name, "tar") {
		return 0.8, "reads a file of credentials"
	}
	return 0, ""
}

func sourceOf(name string, args []shell.Word) float32 {
	switch name {
	case "set", "export", "declare", "env":
		if len(args) > 1 && !strings.HasPrefix(args[1].Text, "-") {
			return 0 // it sets something
		}
	case "security":
		if !strings.Contains(joined(args), "find-") && !strings.Contains(joined(args), "dump-") {
			return 0
		}
	case "xclip", "xsel":
		if !strings.Contains(joined(args), "-o") && !strings.Contains(joined(args), "b") {
			return 0
		}
	}
	return sources[name]
}

func joined(args []shell.Word) string {
	var b strings.Builder
	for _, w := range args {
		b.WriteString(w.Text)
		b.WriteByte(' ')
	}
	return b.String()
}

// carriedBy grades the files and variables that a command's words name.
func (j *judgement) carriedBy(args []shell.Word, fl *flow) float32 {
	var best float32
	for i, w := range args {
		if i == 0 {
			continue
		}
		if strings.HasPrefix(args[i-1].Text, ">") {
			continue // written, not read
		}
		best = max(best, wordLoad(w.Text))
		if len(fl.tainted) > 0 && fl.tainted[strings.TrimLeft(trimUpload(w.Text), "@<")] {
			best = max(best, 0.92)
		}
	}
	return best
}

// wordLoad grades one word: a sensitive file, or a substitution that reads one.
func wordLoad(w string) float32 {
	switch classOf(w) {
	case fileCredential:
		return 0.96
	case fileGuarded:
		return 0.93
	}
	if inner := substituted(w); inner != "" {
		var best float32
		script := shell.Parse(inner)
		for k := range script.Commands {
			c := &script.Commands[k]
			name, args := c.Name(), c.Args()
			best = max(best, sourceOf(name, args))
		}
		return best
	}
	return 0
}

// substituted returns the command inside $(...) or backquotes.
func substituted(w string) string {
	if i := strings.Index(w, "$("); i >= 0 {
		return strings.TrimSuffix(w[i+2:], ")")
	}
	if i := strings.IndexByte(w, '`'); i >= 0 {
		inner, _, _ := strings.Cut(w[i+1:], "`")
		return inner
	}
	return ""
}

// taint remembers where a command puts sensitive data: the files it writes, and every other path among its words.
func (fl *flow) taint(args []shell.Word) {
	for _, w := range args {
		if strings.ContainsAny(w.Text, "/.") && classOf(w.Text) == filePlain && len(fl.tainted) < 64 && len(w.Text) > 3 {
			fl.tainted[w.Text] = true
		}
	}
}

// trimUpload returns the file of "name=@file".
func trimUpload(w string) string {
	if i := strings.Index(w, "=@"); i >= 0 {
		return w[i+1:]
	}
	return w
}

// opensShell reports a command that connects a shell to the network.
func opensShell(name string, c *shell.Command) bool {
	connects := false
	for _, w := range c.Words {
		connects = connects || netDevices.In(w.Text)
	}
	if !connects && name != "socat" && name != "nc" && name != "ncat" && name != "netcat" {
		return false
	}
	text := clip(c.Text(), maxCommand)
	if connects && (strings.Contains(text, "sh -i") || strings.Contains(text, ">&") || strings.Contains(text, "0>&1") || name == "exec") {
		return true
	}
	switch name {
	case "nc", "ncat", "netcat":
		return strings.Contains(text, " -e ") || strings.Contains(text, " -c ") && strings.Contains(text, "sh") || strings.Contains(text, "--exec") || strings.Contains(text, "--sh-exec")
	case "socat":
		return strings.Contains(strings.ToUpper(text), "EXEC:") && strings.Contains(text, "sh")
	}
	return false
}

// resolverLeak judges a name lookup: the name itself carries the data.
func resolverLeak(args []shell.Word) (float32, string) {
	if len(args) == 0 {
		return 0, ""
	}
	for _, w := range args[1:] {
		if inner := substituted(w.Text); inner != "" && strings.Contains(strings.TrimPrefix(w.Text, "$"), ".") && !strings.HasSuffix(w.Text, ")") {
			return 0.92, "puts the output of a command into a host name"
		}
		if l := (loadContext{}).labels(w.Text); l.score > 0 {
			return l.score, l.why
		}
	}
	return 0, ""
}

// senderLeak judges a program that sends: what flows in, what its words name, and to whom.
func (j *judgement) senderLeak(name string, args []shell.Word, text string, carried, read float32) (float32, string) {
	if !j.goesOutside(args) {
		return 0, ""
	}
	up := uploads(name, text)
	switch {
	case carried >= 0.8 && (up || name != "curl" && name != "wget"):
		return carried, "sends sensitive data that was piped into it outside"
	case read >= 0.8 && up && !onlyIdentity(name, text, args):
		return read, "sends a sensitive file outside"
	case up && secretInBody(args):
		return 0.86, "sends the value of a secret variable outside"
	case substitutedURL(args):
		return 0.88, "puts the output of a command into a URL"
	case up && dropIn(text):
		return 0.82, "sends data to a service that takes anything from anybody"
	case carried >= 0.5 && up:
		return 0.7, "sends facts about the machine outside"
	}
	return 0, ""
}

// buckets are schemes of public object stores: what follows is a bucket, not a host.
var buckets = toolcall.SetOf("s3 gs gcs az wasb wasbs abfs abfss r2 b2 oss cos oci swift")

// goesOutside reports that a destination among the words is not inside and not the operator's own. A variable may be anywhere.
func (j *judgement) goesOutside(args []shell.Word) bool {
	seen := false
	for _, w := range args[min(1, len(args)):] {
		host := hostOf(w.Text)
		if host == "" {
			continue
		}
		var u weburl.URL
		if weburl.Parse(w.Text, &u) && buckets[u.Scheme] {
			return true
		}
		h := weburl.ParseHost(host)
		if h.Kind != weburl.HostNone && !h.Target().Inside() && !j.cfg.own(h.Name) {
			return true
		}
		seen = true
	}
	return !seen
}

// hostOf returns the host of a word that is a URL, user@host:path, s3://bucket or a bare name with a dot; paths and options have none.
func hostOf(w string) string {
	var u weburl.URL
	if weburl.Parse(w, &u) && u.Authority {
		return u.Host
	}
	if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "/") || strings.HasPrefix(w, "~") || strings.HasPrefix(w, ".") || strings.HasPrefix(w, "@") || strings.ContainsAny(w, "=$ {") {
		return ""
	}
	if i := strings.IndexByte(w, '@'); i > 0 {
		w = w[i+1:]
	}
	w, _, _ = strings.Cut(w, ":")
	w, _, _ = strings.Cut(w, "/")
	if !looksLikeHost(w, true) || classOf(w) != filePlain || !strings.Contains(w, ".") && w != "localhost" {
		return ""
	}
	return w
}

// uploads reports options and forms of a sender that send a body.
func uploads(name, text string) bool {
	switch name {
	case "curl":
		return hasAny(text, " -d", " --data", " -F", " --form", " -T", " --upload-file", " --json", " -X POST", " -X PUT", " --request POST", " -XPOST", " -XPUT", " --url-query", " -G", " -H \"X-", " -b ", " --cookie", " -A ", " -u ")
	case "wget", "wget2":
		return hasAny(text, "--post-data", "--post-file", "--body-file", "--body-data", "--method=POST", "--method=PUT", "--header")
	case "invoke-webrequest", "iwr", "invoke-restmethod", "irm":
		return hasAny(strings.ToLower(text), "-body", "-infile", "-method post", "-method put", "-form")
	case "aws", "gsutil", "az", "rclone", "s3cmd", "mc":
		return hasAny(text, " cp ", " mv ", " sync ", " copy ", " put ", " upload")
	case "openssl":
		return strings.Contains(text, "s_client")
	}
	return true
}

func hasAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}

// onlyIdentity reports that the sensitive file is the key a program logs in with, or the certificate it shows.
func onlyIdentity(name, text string, args []shell.Word) bool {
	for i, w := range args {
		if i == 0 || wordLoad(w.Text) == 0 {
			continue
		}
		switch args[i-1].Text {
		case "-i", "--key", "--cert", "-E", "--cacert", "-o", "--output", "-O", "--netrc-file", "-e", "--env-file", "-K", "--config", "-c":
		default:
			return strings.HasPrefix(w.Text, "--key=") || strings.HasPrefix(w.Text, "--cert=") || name == "rsync" && strings.Contains(w.Text, "ssh -i")
		}
	}
	return true
}

// secretInBody reports a body that is nothing but the value of a secret variable: where a form names it, it is a sign-in.
func secretInBody(args []shell.Word) bool {
	for i, w := range args {
		if i == 0 || !isBodyOption(args[i-1].Text) {
			continue
		}
		if name := variable(w.Text); name != "" && strings.Trim(w.Text, "${}") == name && secretVariable(name) {
			return true
		}
	}
	return false
}

func isBodyOption(o string) bool {
	return o == "-d" || o == "-F" || strings.HasPrefix(o, "--data") || strings.HasPrefix(o, "--form") || strings.HasPrefix(o, "--post-data") || strings.EqualFold(o, "-body")
}

// variable returns the name of the first $NAME or ${NAME} in w.
func variable(w string) string {
	i := strings.IndexByte(w, '$')
	if i < 0 {
		return ""
	}
	w = strings.TrimPrefix(w[i+1:], "{")
	n := 0
	for n < len(w) && (isAlnum(w[n]) || w[n] == '_') {
		n++
	}
	return w[:n]
}

// substitutedURL reports a URL with the output of a reading command in it. A variable alone is how APIs take their keys.
func substitutedURL(args []shell.Word) bool {
	for _, w := range args {
		if !strings.Contains(w.Text, "://") {
			continue
		}
		if wordLoad(w.Text) >= 0.6 {
			return true
		}
		if inner := substituted(w.Text); inner != "" && hasAny(inner, "cat ", "base64", "xxd", "env", "whoami", "history", "hostname") {
			return true
		}
	}
	return false
}
