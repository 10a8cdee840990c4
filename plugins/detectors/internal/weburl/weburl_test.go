package weburl

import (
	"strings"
	"testing"
)

func reach(raw string) (Target, bool) {
	var u URL
	return Reach(raw, &u)
}

func parse(raw string) (u URL, ok bool) {
	ok = Parse(raw, &u)
	return u, ok
}

func TestReachInside(t *testing.T) {
	for _, raw := range []string{
		"http://127.0.0.1/", "HTTP://127.0.0.1", " http://127.0.0.1\n", "ht\ntp://127.0.0.1/", "http:127.0.0.1", "http:/127.0.0.1", `http:\\127.0.0.1\x`,
		"http:////127.0.0.1/", "http://u:p@10.0.0.1:8080/x", "http://a@b@10.0.0.1/", "https://[::1]:8443/", "http://[::ffff:a00:1]/",
		"http://[0:0:0:0:0:ffff:7f00:1]/",
		"http://[fe80::1%25eth0]/", "http://[::127.0.0.1]/", "http://[64:ff9b::10.0.0.1]/", "http://[2002:c0a8:0101::]/", "http://[::]/",
		"http://[fd00:ec2::254]/",
		"http://[%3a%3a1]/", "http://0/", "http://0.0.0.0:8080", "http://127.1/", "http://0x7f.1/", "http://0177.1/", "http://2130706433/",
		"http://%31%32%37.0.0.1/",
		"http://%2531%2532%2537.0.0.1/", "http://１２７.０.０.１/", "http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://127.0.0.1%00.example.com/",
		"http://127.0.0.1%0d%0aHost:x/",
		"http://lo\u00adcalhost/", "http://LOCALHOST./", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭/", "http://app.localhost:3000", "http://printer.local/",
		"http://wiki.corp/", "http://router.lan",
		"http://db.internal:5432/", "http://kubernetes.default.svc/", "http://x.y.svc.cluster.local/", "http://host.docker.internal/",
		"http://nas.home.arpa/", "http://redis:6379/", "http://intranet/",
		"http://metadata.google.internal/", "http://metadata/", "http://169.254.169.254/", "http://100.100.100.200/", "http://10.0.0.1.nip.io/",
		"http://app-10-0-0-1.sslip.io/", "http://7f000001.nip.io/",
		"http://--1.sslip.io/", "http://x.localtest.me/", "http://lvh.me:3000", "http://192-168-1-4.abcdef.plex.direct:32400/",
		"http://7f000001.c0a80001.rbndr.us/", "http://425.510.425.510/", "http://6425673729/",
		"http://010.0.0.5/", `http://example.com\@127.0.0.1/`, "http://example.com#@127.0.0.1/", "http://example.com?@localhost/",
		"http://127.0.0.1 @example.com/", "jar:http://10.0.0.1/a!/b", "view-source:http://localhost/",
		"git+http://10.0.0.1/r.git", "redis://10.0.0.5:6379/0", "ws://localhost:9222/devtools", "ftp://192.168.0.1/", "http://127.0.0.1:80:8080/",
		"http://ip6-localhost/", "http://fe80--1.ipv6-literal.net/",
		"http://[ff02::1]:8080/", "http://[::ffff:0:7f00:1]/", "http://100.64.1.1/", "http://[2001:470::5efe:a00:1]/",
	} {
		if target, ok := reach(raw); !ok || !target.Inside() {
			t.Errorf("Reach(%q) = %+v, %v: want inside", raw, target, ok)
		}
	}
}

func TestReachOutside(t *testing.T) {
	for _, raw := range []string{
		"https://example.org/", "http://8.8.8.8/", "https://1.1.1.1/dns-query?name=localhost", "https://[2606:4700:4700::1111]/", "http://172.32.0.1/",
		"http://192.169.1.1/", "http://11.0.0.1/",
		"https://localhost.example.org/", "https://localhost.run/docs", "https://127.0.0.1.example.org/", "https://internal.example.org/",
		"https://metadata.example.org/", "https://example.org/localhost/127.0.0.1",
		"https://user@example.org/", "https://127.0.0.1@example.org/", "https://example.org:8443/", "http://203.0.113.9/", "http://8.8.8.8.nip.io/",
		"https://nip.io/", "https://www.corp.example.com/", "http://mylan.net/",
		"https://10.example.com/", "https://ip-10-0-0-1.example.com/", "https://example.org/?u=http://127.0.0.1/", "https://example.org/a@127.0.0.1",
		"http://[2606:4700::1]/", "https://xn--mnchen-3ya.example/", "https://münchen.example/",
		"http://134744072/", "http://0x08080808/", "https://例え.jp/", "http://host/", "http://{host}/", "http://<server>/", "http://$HOST/",
		"http://999.999.999.999/", "https://example.com?q=a@b.com", "http://a.internal.com/", "https://sub.local.example/",
	} {
		if target, _ := reach(raw); target.Inside() {
			t.Errorf("Reach(%q) = %+v: want outside", raw, target)
		}
	}
}

func TestReachNotAURL(t *testing.T) {
	for _, raw := range []string{"", "localhost", `C:\Windows`, "mailto:a@10.0.0.1", "data:text/plain,x", "://x", "1http://127.0.0.1/",
		"javascript:alert(1)"} {
		if target, ok := reach(raw); ok {
			t.Errorf("Reach(%q) = %+v: want no URL", raw, target)
		}
	}
}

func TestReachGrades(t *testing.T) {
	grade := func(raw string) Target { target, _ := reach(raw); return target }
	if !grade("http://169.254.169.254/").Metadata || !grade("http://[::ffff:a9fe:a9fe]/").Metadata || !grade("http://169.254.169.254.nip.io/").Metadata {
		t.Error("metadata is not recognised as such")
	}
	if plain, odd := grade("http://127.0.0.1/"), grade("http://2130706433/"); plain.Odd || !odd.Odd || odd.Score <= plain.Score {
		t.Errorf("a disguised address must weigh more than a plain one: %+v, %+v", plain, odd)
	}
	if !grade("http://redis/").Single {
		t.Error("a one-label name is not marked")
	}
}

func TestReachHost(t *testing.T) {
	for _, s := range []string{"127.0.0.1", "localhost:9200/_cat", "[::1]:80", "root@10.0.0.1:/tmp", "//169.254.169.254/latest", `\\10.0.0.5\share`} {
		if !ReachHost(s).Inside() {
			t.Errorf("ReachHost(%q): want inside", s)
		}
	}
	for _, s := range []string{"example.org:80", "8.8.8.8", "", "/etc/passwd.d/x.y"} {
		if ReachHost(s).Inside() {
			t.Errorf("ReachHost(%q): want outside", s)
		}
	}
}

func TestParse(t *testing.T) {
	u, ok := parse(`HTTPS:\\Us%40er:pw@Host.example:8443\a/b?c=d#e`)
	want := URL{Scheme: "https", User: "Us%40er:pw", Host: "Host.example", Port: "8443", Path: `\a/b`, Query: "c=d", Fragment: "e", Authority: true}
	if !ok || u != want {
		t.Errorf("Parse = %+v", u)
	}
	u, _ = parse("unix:///var/run/docker.sock")
	if u.Scheme != "unix" || u.Path != "/var/run/docker.sock" || u.Host != "" || !u.Authority {
		t.Errorf("Parse(unix) = %+v", u)
	}
	u, _ = parse("data:text/plain;base64,aGk=")
	if u.Authority || u.Path != "text/plain;base64,aGk=" {
		t.Errorf("Parse(data) = %+v", u)
	}
}

func TestLongURLIsCut(t *testing.T) {
	if target, _ := reach("http://127.0.0.1/" + strings.Repeat("a", 1<<20)); !target.Inside() {
		t.Error("a long path hides the host")
	}
	if got := Clean(strings.Repeat("x", MaxURL+1)); len(got) != MaxURL {
		t.Errorf("Clean kept %d bytes", len(got))
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{"a%20b": "a b", "%": "%", "%4": "%4", "%zz": "%zz", "%e2%82%ac": "€", "plain": "plain"} {
		if got := Unescape(in); got != want {
			t.Errorf("Unescape(%q) = %q", in, got)
		}
	}
}

func FuzzReach(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1/", `http:\\a@[::1%25x]:1\`, "jar:jar:http://x", "a+b+http://127.1", "http://%31.１。1/", "http://x@y#@z",
		"file:///etc"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var u URL
		target, ok := Reach(s, &u)
		if target.Inside() && !ok {
			t.Fatalf("Reach(%q) is inside without being a URL", s)
		}
		if target.Inside() && target.Why == "" {
			t.Fatalf("Reach(%q) gives no reason", s)
		}
		if len(u.Host) > len(s) || target.Score > 1 {
			t.Fatalf("Reach(%q) = %+v, %+v", s, target, u)
		}
		ReachHost(s)
	})
}

func TestScan(t *testing.T) {
	for text, want := range map[string]string{
		"see http://a.b/c, or (https://d.e/f(g)).":    "http://a.b/c https://d.e/f(g)",
		`{"u":"http://10.0.0.1/x"}`:                   "http://10.0.0.1/x",
		"[x](http://a/b?c=[d]) <ftp://e/f>":           "http://a/b?c=[d] ftp://e/f",
		"curl http:127.0.0.1 'gopher://x:70/_a'":      "http:127.0.0.1 gopher://x:70/_a",
		"note: this is prose; a::b c:d http: nothing": "",
		"http://[::1]:80/a http://a/http://b/":        "http://[::1]:80/a http://a/http://b/",
		"--url=http://a/ x.http://b/":                 "http://a/ x.http://b/",
		"C:\\Users ratio 3:4 jar:http://h/a.jar!/b ":  "jar:http://h/a.jar!/b",
		"git+ssh://h/r 9http://h/":                    "git+ssh://h/r http://h/",
	} {
		var got []string
		Scan(text, func(start, end int) bool { got = append(got, text[start:end]); return true })
		if strings.Join(got, " ") != want {
			t.Errorf("Scan(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"http://a", "::::", "a:b://c:d", "(((http://((("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		Scan(s, func(start, end int) bool {
			if start < last || end <= start || end > len(s) {
				t.Fatalf("Scan(%q) gives [%d, %d) after %d", s, start, end, last)
			}
			last = end
			return true
		})
	})
}
