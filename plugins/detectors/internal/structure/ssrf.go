package structure

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/shell"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
)

// Weights on what a URL's place in the request says.
const (
	mentionWeight  = 0.5 // an inside URL that is written or searched for, not fetched
	mentionedCloud = 0.68
	decodedWeight  = 0.95
)

// judgeRequests looks for requests that go inside.
func (j *judgement) judgeRequests() {
	for i := range j.fields {
		f := &j.fields[i]
		if f.Opened {
			continue // its parts follow
		}
		if j.found.Enough(v1.ThreatSSRF) {
			return
		}
		if j.req.Kind == v1.PayloadKindURL {
			j.judgeLocation(f)
			continue
		}
		j.judgeURLs(f)
		switch f.Role {
		case toolcall.Target:
			j.judgeHost(f)
		case toolcall.Command:
			j.judgeFetchers(f, j.script(i))
		}
		if f.Role != toolcall.Content {
			j.judgeSockets(f)
		}
	}
}

// judgeLocation judges a payload that is one URL, with or without a scheme, or a list of them.
func (j *judgement) judgeLocation(f *toolcall.Field) {
	text := weburl.Clean(f.Text)
	_, ok := weburl.Reach(text, &j.url)
	u := &j.url
	if !ok && u.Scheme != "" && (isOpaque(u.Scheme) || riskOf(u) != (risk{})) {
		ok = true
	}
	if !ok && !strings.ContainsAny(text, " <>") {
		j.report(f, "http://"+strings.TrimLeft(text, `/\`), 0, len(f.Text))
		return
	}
	j.report(f, text, 0, len(f.Text))
	if strings.ContainsAny(strings.TrimSpace(f.Text), " \n") {
		j.judgeURLs(f)
	}
}

// isOpaque reports schemes whose URLs name no host; what follows the colon is no port.
func isOpaque(scheme string) bool {
	switch scheme {
	case "data", "mailto", "tel", "javascript", "about", "blob", "urn", "magnet", "sms", "cid", "mid":
		return true
	}
	return false
}

// judgeURLs judges every URL inside a text.
func (j *judgement) judgeURLs(f *toolcall.Field) {
	weburl.Scan(f.Text, func(start, end int) bool {
		j.report(f, f.Text[start:end], start, end)
		return !j.found.Enough(v1.ThreatSSRF)
	})
}

// report judges one URL, found at [start, end) of the field.
func (j *judgement) report(f *toolcall.Field, raw string, start, end int) {
	t, _ := weburl.Reach(raw, &j.url)
	u := &j.url
	if t.Inside() && !t.Metadata && j.cfg.allowed(u) {
		return
	}
	if r := riskOf(u); r.score > t.Score {
		t = weburl.Target{Score: r.scoreFor(f), Metadata: r.local, Why: r.why}
	}
	if r := redirected(u); r.Score > t.Score {
		t = r
	}
	score := j.weigh(t, f)
	j.found.Add(v1.ThreatSSRF, severityOf(t), score, f.At(start, end), "", t.Why)
}

// weigh lowers the score of what is only mentioned.
func (j *judgement) weigh(t weburl.Target, f *toolcall.Field) float32 {
	score := t.Score
	if f.Role == toolcall.Content && !toolcall.Has(f.Tool, toolcall.FetchWords) {
		score *= mentionWeight
		if t.Metadata {
			score = mentionedCloud
		}
	}
	if f.Decoded {
		score *= decodedWeight
	}
	return score
}

func severityOf(t weburl.Target) v1.Severity {
	if t.Metadata {
		return v1.SeverityCritical
	}
	return v1.SeverityHigh
}

// judgeHost judges an argument that is a host without a scheme.
func (j *judgement) judgeHost(f *toolcall.Field) {
	text := strings.TrimSpace(f.Text)
	if !looksLikeHost(text, false) && !strings.HasPrefix(text, "//") && !strings.HasPrefix(text, `\\`) {
		return
	}
	j.reportHost(f, text, 0, len(f.Text))
}

func (j *judgement) reportHost(f *toolcall.Field, host string, start, end int) {
	t := weburl.ReachHost(host)
	if !t.Inside() || t.Single && !t.Metadata {
		return
	}
	if !t.Metadata && len(j.cfg.AllowHosts) > 0 && weburl.Parse("http://"+strings.TrimLeft(host, `/\`), &j.url) && j.cfg.allowed(&j.url) {
		return
	}
	j.found.Add(v1.ThreatSSRF, severityOf(t), j.weigh(t, f), f.At(start, end), "", t.Why)
}

// maxHostWord is the longest word that is taken for a host with a path.
const maxHostWord = 2 << 10

// looksLikeHost tells hosts from the other words of a command line: a number such as 0.5 or 10 is a host only where one must stand.
func looksLikeHost(w string, afterOption bool) bool {
	if len(w) > maxHostWord {
		return false
	}
	if i := strings.LastIndexByte(w, '@'); i >= 0 {
		w = w[i+1:]
	}
	host := w
	if i := strings.IndexAny(host, `/:?#`); i >= 0 && !strings.HasPrefix(host, "[") {
		host = host[:i]
	}
	if host == "" || strings.ContainsAny(w, " \t\n<>\"'") {
		return false
	}
	h := weburl.ParseHost(host)
	switch {
	case h.Kind == weburl.HostNone:
		return false
	case h.Kind == weburl.HostName || host[0] == '[' || strings.Count(host, ".") == 3 || strings.Contains(strings.ToLower(host), "0x"):
		return true
	}
	return !afterOption && (len(host) >= 8 || host != w || strings.Contains(host, "."))
}

// fetchers are programs that connect to the hosts among their arguments.
var fetchers = toolcall.SetOf(`curl wget wget2 http https httpie xh aria2c axel lynx links elinks w3m nc ncat netcat socat telnet ssh scp sftp rsync ftp tftp ping ping6 nmap masscan
	redis-cli mysql psql mongo mongosh smbclient ldapsearch snmpwalk invoke-webrequest iwr invoke-restmethod irm start-bitstransfer test-netconnection tnc grpcurl websocat wscat ab
	hey wrk siege openssl traceroute tracert rdesktop xfreerdp mstsc certutil bitsadmin net showmount mount rpcinfo`)

// judgeFetchers looks for hosts without a scheme in command lines.
func (j *judgement) judgeFetchers(f *toolcall.Field, script shell.Script) {
	for k := range script.Commands {
		c := &script.Commands[k]
		args := c.Args()
		if len(args) == 0 || !fetchers[c.Name()] || listens(args) {
			continue
		}
		for i, w := range args[1:] {
			option := strings.HasPrefix(args[i].Text, "-") && i > 0
			if strings.Contains(w.Text, "://") {
				if !strings.Contains(f.Text[w.Start:w.End], w.Text) {
					j.report(f, w.Text, w.Start, w.End) // quotes, escapes and variables are undone here
				}
			} else if host := trimOption(w.Text); looksLikeHost(host, option) {
				j.reportHost(f, host, w.Start, w.End)
			}
		}
	}
}

// listens reports a program that waits for connections instead of making one.
func listens(args []shell.Word) bool {
	for _, w := range args[1:] {
		if w.Text == "-l" || w.Text == "--listen" || strings.HasPrefix(w.Text, "-lv") || strings.HasPrefix(w.Text,
			"-nlv") || strings.HasPrefix(strings.ToUpper(w.Text), "TCP-LISTEN") {
			return true
		}
	}
	return false
}

// trimOption returns the value of "--host=10.0.0.1" and "TCP:10.0.0.1:80".
func trimOption(w string) string {
	if strings.HasPrefix(w, "-") {
		_, value, _ := strings.Cut(w, "=")
		return value
	}
	for _, p := range []string{"tcp:", "TCP:", "TCP4:", "OPENSSL:", "udp:", "UDP:"} {
		if rest, ok := strings.CutPrefix(w, p); ok {
			return rest
		}
	}
	return w
}

// localSockets are control sockets of the local machine.
var localSockets = words.New("docker.sock", "containerd.sock", "podman.sock", "crio.sock", "kubelet.sock", `\\.\pipe\`, `//./pipe/`)

// netDevices are the paths by which a shell opens connections.
var netDevices = words.New("/dev/tcp/", "/dev/udp/")

// local is both.
var local = words.New(append(netDevices.List(), localSockets.List()...)...)

// judgeSockets looks for sockets of the local machine and for the shell's own network devices.
func (j *judgement) judgeSockets(f *toolcall.Field) {
	if !local.In(f.Text) {
		return
	}
	if i, s := localSockets.Find(f.Text); i >= 0 && socketUsed(f) {
		j.found.Add(v1.ThreatSSRF, v1.SeverityCritical, 0.9, f.At(i, i+len(s)), "", "control socket of the local machine")
	}
	if i, dev := netDevices.Find(f.Text); i >= 0 {
		host, _, _ := strings.Cut(clip(f.Text[i+len(dev):], 256), "/")
		j.reportHost(f, host, i, i+len(dev)+len(host))
	}
}

// socketMarks are forms of a request through a socket.
var socketMarks = words.New("unix-socket", "unix:", "socat", "nc -u", "unix-connect")

// socketUsed tells a request through a socket from a mount or a mention of it.
func socketUsed(f *toolcall.Field) bool {
	return strings.Contains(toolcall.PlainName(f.Key), "socket") || f.Role == toolcall.Target || socketMarks.In(f.Text)
}
