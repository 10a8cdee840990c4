package structure

import "strings"

// fileClass says how much harm it does when a file's content leaves.
type fileClass uint8

const (
	filePlain fileClass = iota
	// fileGuarded holds settings or accounts: fine to read, not to send away.
	fileGuarded
	// fileCredential holds keys; an assistant has no reason to read it.
	fileCredential
)

var credentialFiles = strings.Fields(`/etc/shadow /etc/gshadow .aws/credentials .ssh/id_ id_rsa id_ed25519 id_ecdsa id_dsa .kube/config .git-credentials .pgpass .netrc _netrc .gnupg/ secring.gpg wallet.dat login.keychain key4.db logins.json ntds.dit
	.config/gcloud/ application_default_credentials .azure/accesstokens .docker/config.json serviceaccount/token .terraform.d/credentials .vault-token /proc/self/environ /proc/1/environ shadow.bak .ssh/authorized_keys2 config/sam .keystore .kdbx`)

var guardedFiles = strings.Fields(`/etc/passwd /etc/sudoers /etc/hosts .env .npmrc .pypirc .bash_history .zsh_history .python_history .mysql_history .psql_history .ssh/ .aws/ .pem .p12 .pfx .jks credentials.json secrets.yml secrets.yaml secrets.json service-account.json
	service_account.json terraform.tfstate kubeconfig .htpasswd wp-config.php web.config appsettings.json database.yml /etc/ssl/private /root/ cookies.sqlite login.data .boto .s3cfg .mozilla/ /var/log/auth.log .dockercfg /run/secrets`)

// classOf judges the path or file name in a word.
func classOf(w string) fileClass {
	w = strings.ToLower(strings.ReplaceAll(w, `\`, "/"))
	if strings.HasSuffix(w, ".pub") || strings.Contains(w, ".example") || strings.Contains(w, ".sample") || strings.Contains(w, ".template") || strings.HasPrefix(w, "/etc/skel") {
		return filePlain
	}
	for _, d := range []string{"/.ssh", "/.aws", "/.gnupg", "/.kube", "/.config/gcloud", "/.azure", "/.docker"} {
		if strings.HasSuffix(w, d) {
			return fileCredential
		}
	}
	for _, p := range credentialFiles {
		if strings.Contains(w, p) {
			return fileCredential
		}
	}
	for _, p := range guardedFiles {
		if i := strings.Index(w, p); i >= 0 && ends(w, i, p) {
			return fileGuarded
		}
	}
	return filePlain
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
