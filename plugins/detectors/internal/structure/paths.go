package structure

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
)

// fileClass says how much harm it does when a file's content leaves.
type fileClass uint8

const (
	filePlain fileClass = iota
	// fileGuarded holds settings or accounts: fine to read, not to send away.
	fileGuarded
	// fileCredential holds keys; an assistant has no reason to read it.
	fileCredential
)

var credentialFiles = words.New(strings.Fields(`/etc/shadow /etc/gshadow .aws/credentials .ssh/id_ id_rsa id_ed25519 id_ecdsa id_dsa .kube/config .git-credentials .pgpass .netrc _netrc .gnupg/ secring.gpg wallet.dat login.keychain key4.db logins.json ntds.dit
	.config/gcloud/ application_default_credentials .azure/accesstokens .docker/config.json serviceaccount/token .terraform.d/credentials .vault-token /proc/self/environ /proc/1/environ shadow.bak .ssh/authorized_keys2 config/sam .keystore .kdbx`)...)

var guardedFiles = words.New(strings.Fields(`/etc/passwd /etc/sudoers /etc/hosts .env .npmrc .pypirc .bash_history .zsh_history .python_history .mysql_history .psql_history .ssh/ .aws/ .pem .p12 .pfx .jks credentials.json secrets.yml secrets.yaml secrets.json service-account.json
	service_account.json terraform.tfstate kubeconfig .htpasswd wp-config.php web.config appsettings.json database.yml /etc/ssl/private cookies.sqlite login.data .boto .s3cfg .mozilla/ /var/log/auth.log .dockercfg /run/secrets` + " /root" + "/")...)

// maxPath is how much of a word is read as a path.
const maxPath = 4 << 10

// classOf judges the path or file name in a word.
func classOf(w string) fileClass {
	w = clip(w, maxPath)
	if strings.IndexByte(w, '.') < 0 && strings.IndexByte(w, '/') < 0 && strings.IndexByte(w, '_') < 0 {
		return filePlain
	}
	w = strings.ReplaceAll(w, `\`, "/")
	if strings.HasSuffix(w, ".pub") || samples.In(w) || strings.HasPrefix(w, "/etc/skel") {
		return filePlain
	}
	if credentialFiles.In(w) || keyFolder(w) {
		return fileCredential
	}
	for from := 0; ; {
		i, p := guardedFiles.Find(w[from:])
		if i < 0 {
			return filePlain
		}
		if i += from; ends(w, i, p) {
			return fileGuarded
		}
		from = i + 1
	}
}

// samples mark files that show what a real one looks like.
var samples = words.New(".example", ".sample", ".template")

// keyFolder reports a folder that holds nothing but credentials.
func keyFolder(w string) bool {
	w = strings.ToLower(w)
	for _, d := range []string{"/.ssh", "/.aws", "/.gnupg", "/.kube", "/.config/gcloud", "/.azure", "/.docker"} {
		if strings.HasSuffix(w, d) {
			return true
		}
	}
	return false
}

// ends keeps ".env" from matching ".envrc-docs" and ".pem" from matching ".pembroke".
func ends(w string, i int, p string) bool {
	if strings.HasSuffix(p, "/") {
		return true
	}
	rest := w[i+len(p):]
	if p[0] == '.' && i > 0 && isAlnum(w[i-1]) && p == ".env" {
		return false
	}
	return rest == "" || !isAlnum(rest[0]) && rest[0] != '_' || rest[0] == '.'
}

// secretVariable reports the name of an environment variable that holds a credential.
func secretVariable(name string) bool {
	name = strings.ToUpper(name)
	for _, w := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL", "DATABASE_URL",
		"CONNECTION_STRING", "_DSN"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}
