package structure

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// recipientKeys hold mailboxes that a tool sends to.
var recipientKeys = toolcall.SetOf(`to cc bcc recipient recipients email emails mailto address toaddress toemail sendto attendees`)

var (
	searchTools = []string{"search"}
	sendMethods = []string{"send", "publish"}
)

// findOutside notes whether the request has a destination on the open internet that is not the operator's own. A tool that sends without
// naming a destination sends outside.
func (j *judgement) findOutside() {
	sends, named := false, false
	for i := range j.fields {
		f := &j.fields[i]
		recipient := recipientKeys[toolcall.PlainName(f.Key)] && strings.Contains(f.Text, "@")
		if j.outsideURL(f) || recipient && j.outsideMailbox(f.Text) {
			j.outside = true
			return
		}
		named = named || recipient
		sends = sends || toolcall.Has(f.Tool, toolcall.SendWords) || toolcall.Has(f.Tool, searchTools) && f.Role == toolcall.Content
		sends = sends || j.req.Kind == v1.PayloadKindToolCall && toolcall.PlainName(f.Key) == "method" && toolcall.Has(f.Text, sendMethods)
	}
	j.outside = sends && !named
}

// outsideURL reports a URL to an outside host in the text of f.
func (j *judgement) outsideURL(f *toolcall.Field) (found bool) {
	if f.Role == toolcall.Content {
		return false
	}
	visit := func(raw string) bool {
		t, ok := weburl.Reach(raw, &j.url)
		u := &j.url
		found = found || ok && !t.Inside() && u.Host != "" && !j.cfg.own(weburl.ParseHost(u.Host).Name)
		return !found
	}
	if j.req.Kind == v1.PayloadKindURL && !strings.Contains(f.Text, "://") {
		visit("http://" + f.Text)
	}
	weburl.Scan(f.Text, func(start, end int) bool { return visit(f.Text[start:end]) })
	return found
}

// outsideMailbox reports a mailbox that is not the operator's own.
func (j *judgement) outsideMailbox(s string) bool {
	_, domain, ok := strings.Cut(s, "@")
	domain = strings.ToLower(strings.Trim(domain, " >,;\"'"))
	return ok && strings.Contains(domain, ".") && !j.cfg.own(domain)
}

// dropHosts are services that take anything from anybody: request catchers, pastes, anonymous uploads, tunnels and the out-of-band
// listeners of penetration testers. Source: the services' own sites.
var dropHosts = weburl.Domains(strings.Fields(`webhook.site requestbin.com requestbin.net pipedream.net requestcatcher.com hookbin.com beeceptor.com postb.in ptsv2.com ptsv3.com webhook.cool typedwebhook.tools smee.io requestinspector.com mockbin.org
	interact.sh interactsh.com oast.pro oast.live oast.site oast.online oast.fun oast.me burpcollaborator.net oastify.com dnslog.cn ceye.io bxss.me xss.ht canarytokens.com dnsbin.zhack.ca requestrepo.com
	pastebin.com paste.ee termbin.com ix.io dpaste.org dpaste.com hastebin.com rentry.co paste.rs sprunge.us bpa.st ghostbin.com transfer.sh file.io 0x0.st bashupload.com gofile.io anonfiles.com temp.sh catbox.moe tmpfiles.org oshi.at filebin.net
	ngrok.io ngrok-free.app ngrok.app serveo.net trycloudflare.com loca.lt localtunnel.me pagekite.me bore.pub telebit.io`)...)

// under reports whether host is domain or a subdomain of it.
func under(host, domain string) bool {
	return strings.HasSuffix(host, domain) && (len(host) == len(domain) || host[len(host)-len(domain)-1] == '.')
}

// dropHost reports a host that takes anything from anybody.
func dropHost(host string) bool { return dropHosts.Of(strings.ToLower(host)) != "" }

// dropIn reports whether text has a URL of a drop host, or a bare name of one.
func dropIn(text string) bool {
	found := false
	weburl.Scan(text, func(start, end int) bool {
		var u weburl.URL
		if weburl.Parse(text[start:end], &u) {
			path := strings.ToLower(u.Path)
			host := weburl.ParseHost(u.Host).Name
			found = dropHost(host) || strings.HasPrefix(path, "/api/webhooks/") && strings.Contains(host,
				"discord") || host == "api.telegram.org" && strings.Contains(path, "/send")
		}
		return !found
	})
	return found
}
