package structure

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// risk says what a scheme makes a fetcher do, whatever the host.
type risk struct {
	score float32
	// local is set when it reads what only the local machine has and nobody should ask for.
	local bool
	// file is set for plain local files, which some tools name by URL.
	file bool
	why  string
}

// scoreFor lowers the score for tools that name harmless local files by URL.
func (r risk) scoreFor(f *toolcall.Field) float32 {
	if r.file && !r.local && f.Tool != "" && f.Role != toolcall.Command && !toolcall.Has(f.Tool, []string{"fetch", "http", "browse", "navigate",
		"download", "curl", "scrape", "crawl"}) {
		return 0.55
	}
	return r.score
}

// schemeRisks lists the schemes that make a fetcher read local data or speak other protocols. Source: the protocol handlers of curl,
// PHP and Java that SSRF guides name.
var schemeRisks = map[string]risk{
	"netdoc": {score: 0.95, why: "scheme that reads local files"}, "local_file": {score: 0.95, why: "scheme that reads local files"},
	"php":  {score: 0.95, why: "scheme that reads local data"},
	"phar": {score: 0.95, why: "scheme that loads local archives"}, "expect": {score: 0.97, why: "scheme that runs commands"}, "glob": {score: 0.9,
		why: "scheme that lists local files"},
	"compress.zlib": {score: 0.9, why: "scheme that reads local files"}, "zip": {score: 0.8, why: "scheme that reads local archives"},
	"gopher": {score: 0.9, why: "scheme that sends raw bytes to any port"},
	"dict":   {score: 0.88, why: "scheme that sends raw commands to any port"}, "tftp": {score: 0.88, why: "scheme of unauthenticated file transfer"},
	"ldap":  {score: 0.82, why: "scheme that loads remote objects"},
	"ldaps": {score: 0.82, why: "scheme that loads remote objects"}, "rmi": {score: 0.85, why: "scheme that loads remote objects"}, "jndi": {score: 0.9,
		why: "scheme that loads remote objects"},
	"smb": {score: 0.85, why: "scheme that sends the user's network credentials"}, "cifs": {score: 0.85,
		why: "scheme that sends the user's network credentials"}, "nfs": {score: 0.82, why: "scheme that mounts a share"},
	"unix": {score: 0.9, local: true, why: "socket of the local machine"}, "http+unix": {score: 0.9, local: true, why: "socket of the local machine"},
	"https+unix": {score: 0.9, local: true, why: "socket of the local machine"},
	"npipe":      {score: 0.9, local: true, why: "pipe of the local machine"},
}

// sensitiveFiles are parts of local paths that hold credentials or the state of the machine.
var sensitiveFiles = []string{"/etc/", "/proc/", "/root" + "/", "/var/run/", "/run/secrets", "/.ssh", "/.aws", "/.kube", "/.env", "/windows/", "win.ini",
	"boot.ini", "id_rsa", "/.git/", "/dev/", "/sys/", "web.config", "/.docker", "/.netrc"}

// riskOf judges the scheme of a URL.
func riskOf(u *weburl.URL) risk {
	if u.Scheme != "file" {
		return schemeRisks[u.Scheme]
	}
	path := strings.ToLower(strings.ReplaceAll(weburl.Unescape(u.Host+u.Path), `\`, "/"))
	for _, s := range sensitiveFiles {
		if strings.Contains(path, s) {
			return risk{score: 0.97, local: true, file: true, why: "local file that holds secrets or the state of the machine"}
		}
	}
	if strings.Trim(path, "/") == "" {
		return risk{}
	}
	return risk{score: 0.9, file: true, why: "local file"}
}
