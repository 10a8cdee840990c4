package secret

import (
	"encoding/base64"
	"hash/crc32"
	"strings"
	"testing"
)

// Values in the tests are put together at run time, so that no scanner takes the source for a leak.
const (
	mixed30 = "q7Zt1Rk9Wm3Xb5Vc8Ld2Hs6Jf4Ng0P"
	mixed48 = mixed30 + "yT6uE1iO3aQ8zC5vB7"
)

func TestToken(t *testing.T) {
	for _, v := range []string{"ghp_" + mixed30 + "aB3dE6", "AKIA" + "Q7ZT4RK5WM3XB6VC", "sk-" + mixed48, "xox" + "b-240195837461-" + mixed30[:24],
		"AIza" + mixed30 + "_-x7Q"} {
		if g := Token(v); g.Score < 0.9 {
			t.Errorf("Token(%s...) = %+v", v[:6], g)
		}
	}
	for _, v := range []string{
		"AKIAIOSFODNN7EXAMPLE", "ghp_" + strings.Repeat("x", 36), "ghp_" + strings.Repeat("0", 36), "sk-your-key-here-1234567890",
		"ghp_<your token goes here>", "sk-ant-api03-...", "ghp_${GITHUB_TOKEN_FROM_CI}",
		"ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij", "sk_live_FAKE" + "_TEST_KEY_00000000000", "glpat-aaaaaaaaaaaaaaaaaaaa",
	} {
		if g := Token(v); g.Score > 0 {
			t.Errorf("Token(%s) = %+v, want no secret", v, g)
		}
	}
}

func TestTokenPublished(t *testing.T) {
	if !Token("AKIAIOSFODNN7EXAMPLE").Published || !Token("sk_test_"+"4eC39HqLyjWDarjtT1zdp7dc").Published {
		t.Error("a documented example is not recognised")
	}
}

func TestGithubChecksum(t *testing.T) {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum, tail := crc32.ChecksumIEEE([]byte(mixed30)), ""
	for range 6 {
		tail, sum = string(alphabet[sum%62])+tail, sum/62
	}
	if g := Token("ghp_" + mixed30 + tail); g.Score != scoreChecksum {
		t.Errorf("valid checksum: %+v", g)
	}
	if githubChecksum("ghp_" + mixed30 + "000000") {
		t.Error("a wrong checksum passes")
	}
}

func TestAssignment(t *testing.T) {
	tests := []struct {
		text, value string
		least, most float32
	}{
		{"password=Xk8!vQ2mT7wz", "Xk8!vQ2mT7wz", 0.8, 1},
		{`DB_PASSWORD: "hT4#kLp9Zw"`, "hT4#kLp9Zw", 0.8, 1},
		{`"client_secret": "` + mixed30 + `"`, mixed30, 0.8, 1},
		{"--token " + mixed30, mixed30, 0.8, 1},
		{"<password>Xk8!vQ2mT7wz</password>", "Xk8!vQ2mT7wz", 0.8, 1},
		{"пароль：Xk8!vQ2mT7wz", "Xk8!vQ2mT7wz", 0.8, 1},
		{"Passwort: Xk8!vQ2mT7wz.", "Xk8!vQ2mT7wz", 0.8, 1},
		{"api_key=9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015", 0.8, 1},
		{"password = supersecret123", "supersecret123", 0.4, 0.6},
		{"password: ${DB_PASSWORD}", "${DB_PASSWORD", 0, 0},
		{"password: changeme123", "changeme123", 0, 0},
		{"api_key = os.environ['OPENAI_API_KEY']", "os.environ[", 0, 0},
		{"token: accessTokenProvider", "accessTokenProvider", 0, 0},
		{"password=<your password>", "", 0, 0},
		{"secret: my-app-secret", "my-app-secret", 0, 0},
		{"token = getToken(user)", "getToken(user", 0, 0},
		{"api_key: your-api-key-here", "your-api-key-here", 0, 0},
		{"password: **********", "**********", 0, 0},
		{"password", "", 0, 0},
		{"token: 1234567890abcdef", "1234567890abcdef", 0, 0},
		{"password=", "", 0, 0},
		{"PrivateKey = testEd25519PrivateKey", "testEd25519PrivateKey", 0, 0},
		{"IFLA_INET6_TOKEN = C.IFLA_INET6_TOKEN_2", "C.IFLA_INET6_TOKEN_2", 0, 0},
		{"Passwort: yOSIzowbPqVg", "yOSIzowbPqVg", 0.8, 1},
		{`REL_TOKEN = 0x000D\n\tIMAGE_REL_AMD64_SREL32`, "0x000D", 0, 0},
	}
	for _, tt := range tests {
		value, g := Assignment(tt.text)
		if g.Score < tt.least || g.Score > tt.most {
			t.Errorf("Assignment(%q) = %q, %+v; want %v to %v", tt.text, value, g, tt.least, tt.most)
		}
		if tt.value != "" && value != tt.value {
			t.Errorf("Assignment(%q) value = %q", tt.text, value)
		}
	}
}

func TestUserInfo(t *testing.T) {
	for text, want := range map[string]bool{
		"postgres://svc:WkebnAH" + "Od1AAoG@db.prod.example.com": true, "https://bot:" + mixed30 + "@git.example.org": true,
		"postgres://user:password@localhost/dev": false, "mysql://root:root@db": false, "postgres://u:${PW}@db": false, "redis://:@x": false,
		"https://example.org/a:b@c": false,
		"http://user:pass@host":     false, "postgres://app:<password>@db": false,
	} {
		if g := UserInfo(text); (g.Score >= 0.7) != want {
			t.Errorf("UserInfo(%q) = %+v", text, g)
		}
	}
}

func TestJWT(t *testing.T) {
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`))
	if g := JWT(header + "." + mixed48 + "." + mixed30); g.Score < 0.9 {
		t.Errorf("JWT = %+v", g)
	}
	if g := JWT(header + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"); g.Score > 0 || !g.Published {
		t.Errorf("documented JWT = %+v", g)
	}
	if g := JWT("eyJub3QiOiJhIGp3dCJ9." + mixed48 + "." + mixed30); g.Score > 0 {
		t.Errorf("not a JWT = %+v", g)
	}
}

func TestPEM(t *testing.T) {
	block := "-----BEGIN " + "PRIVATE KEY-----"
	if g := PEM(block + `\n` + mixed48 + `\n` + mixed48 + "\n-----END PRIVATE KEY-----"); g.Score < 0.9 {
		t.Errorf("PEM = %+v", g)
	}
	for _, text := range []string{block, block + "\n...\n-----END PRIVATE KEY-----", block + "\n" + strings.Repeat("A", 200)} {
		if g := PEM(text); g.Score > 0.5 {
			t.Errorf("PEM(%q) = %+v", text, g)
		}
	}
}

func TestBasic(t *testing.T) {
	enc := base64.StdEncoding.EncodeToString
	if g := Basic(enc([]byte("svc:Xk8!vQ2mT7wz"))); g.Score < 0.8 {
		t.Errorf("Basic = %+v", g)
	}
	for _, v := range []string{enc([]byte("user:password")), "!!!", enc([]byte{1, 2, 3, 4})} {
		if g := Basic(v); g.Score > 0 {
			t.Errorf("Basic(%q) = %+v", v, g)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[string]bool{"4111 1111 1111 1111": true, "4111-1111-1111-1112": false, "378282246310005": true, "0000000000000000": false,
		"1234567812345670": false} {
		if got := Card(v).Score > 0; got != want {
			t.Errorf("Card(%q) = %v", v, got)
		}
	}
	for v, want := range map[string]bool{"DE89370400440532013000": true, "GB82 WEST 1234 5698 7654 32": true, "DE89370400440532013001": false,
		"XX00": false, "DE8937040044053201300x": false} {
		if got := IBAN(v).Score > 0; got != want {
			t.Errorf("IBAN(%q) = %v", v, got)
		}
	}
	// The key of the worked example in the Bitcoin wiki's article on the wallet import format.
	if g := WIF("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"); g.Score == 0 {
		t.Error("WIF: a valid key is refused")
	}
	if g := WIF("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTj"); g.Score != 0 {
		t.Error("WIF: a wrong checksum is accepted")
	}
}

func TestFind(t *testing.T) {
	if at, g := Find("d=AKIA" + "Q7ZT4RK5WM3XB6VC;x"); at != 2 || g.Score < 0.9 {
		t.Errorf("Find = %d, %+v", at, g)
	}
	if at, _ := Find("risk-based task-oriented desk-bound sk-short AKIAAKIA"); at >= 0 {
		t.Errorf("Find found a secret in prose at %d", at)
	}
}

func FuzzGrades(f *testing.F) {
	for _, s := range []string{"password=abc", "https://u:p@h", "eyJhbGciOiJIUzI1NiJ9.a.b", "-----BEGIN X-----", "4111111111111111", "DE89", "5Hue",
		"sk-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		value, g := Assignment(s)
		if !strings.Contains(s, value) {
			t.Fatalf("Assignment(%q) made up %q", s, value)
		}
		for _, g := range []Grade{g, Token(s), UserInfo(s), JWT(s), PEM(s), Basic(s), Card(s), IBAN(s), WIF(s)} {
			if g.Score < 0 || g.Score > 1 || g.Score > 0 && g.Why == "" {
				t.Fatalf("bad grade %+v for %q", g, s)
			}
		}
		if at, _ := Find(s); at >= len(s) {
			t.Fatalf("Find(%q) = %d", s, at)
		}
	})
}
