package privilege

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/shell"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
)

// Scores. What changes who may do what is near certain; running one command with more rights is what administrators do all day.
const (
	scoreTakeover = 0.95
	scoreGrant    = 0.9
	scoreLoosen   = 0.86
	scoreElevate  = 0.7
	scoreOrdinary = 0.55
)

var (
	elevators = []string{"sudo", "doas", "pkexec", "su", "runas", "gsudo", "psexec"}
	shells    = map[string]bool{"bash": true, "sh": true, "zsh": true, "fish": true, "dash": true, "su": true, "cmd": true, "powershell": true,
		"pwsh": true}
	ordinary = map[string]bool{"apt": true, "apt-get": true, "dnf": true, "yum": true, "apk": true, "pacman": true, "brew": true, "snap": true,
		"pip": true, "npm": true, "systemctl": true, "service": true, "ls": true, "cat": true, "journalctl": true, "docker": true, "make": true,
		"ldconfig": true, "update-ca-certificates": true, "zypper": true, "mkdir": true, "lsof": true, "netstat": true, "ss": true}
	rootGroups = []string{"sudo", "wheel", "admin", "docker", "root", "adm", "lxd", "disk", "administrators", "shadow", "libvirt", "domain admins",
		"remote desktop users"}
	guards = words.New("auditd", "apparmor", "selinux", "firewalld", "ufw", "fail2ban", "falcon", "clamav", "wazuh", "crowdstrike", "osquery",
		"rsyslog", "syslog", "auditbeat", "falco", "defender", "mpssvc", "windefend", "sysmon", "carbonblack", "sentinel", "amygdala", "tetragon", "aide",
		"tripwire", "iptables", "nftables")
	agentFlags = words.New("--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--allow-dangerously-skip-permissions",
		"--yolo", "--no-sandbox-agent", "--disable-sandbox", "--sandbox=false", "--sandbox danger-full-access", "--sandbox=danger-full-access",
		"-s danger-full-access", "--permission-mode bypasspermissions", "--permission-mode=bypasspermissions", "--ask-for-approval never",
		"--ask-for-approval=never", "-a never --sandbox", "--approval-mode yolo", "--approval-mode=yolo", "--auto-approve-all", "--trust-all-tools",
		"--allow-all-tools", "--skip-approval", "--no-approval", "--disable-guardrails", "--disable-hooks", "--allow-all-paths")
	secretRoots = words.New("/etc/sudoers", "/etc/shadow", "/etc/passwd", "/etc/gshadow", "/etc/group", "/etc/pam.d", "/etc/ld.so.preload",
		"/etc/security", "/etc/polkit-1", "/etc/ssh/sshd_config", "/root"+"/.ssh", "/boot/", "/etc/apparmor", "/etc/selinux", "/etc/audit")
	autostarts = words.New("/etc/cron", "/var/spool/cron", "/etc/systemd/system", "/etc/init.d", "/etc/rc.local", "/etc/profile", "authorized_keys",
		"/library/launchdaemons", "/library/launchagents", `\currentversion\run`, `start menu\programs\startup`, ".config/autostart")
)

// commandEvidence judges one command.
func commandEvidence(c *shell.Command) evidence {
	name := c.Name()
	if !judged[name] && !writers[name] && !raised(c) && !telling(c) {
		return evidence{} // most commands
	}
	text := strings.ToLower(clip(c.Text()))
	e := elevation(c, name, text)
	for _, judge := range []func(name, text string) evidence{ownership, accounts, containers, cloud, loosening, agents, writes} {
		e = e.or(judge(name, text))
	}
	return e
}

// maxCommand bounds how much of one command is searched: its start, and as much of its end.
const maxCommand = 2 << 10

func clip(s string) string {
	if len(s) <= 2*maxCommand {
		return s
	}
	return s[:maxCommand] + " " + s[len(s)-maxCommand:]
}

// judged are the programs that the functions below know.
var judged = toolcall.SetOf(`chmod chown setcap setfacl icacls takeown cacls usermod adduser addgroup gpasswd dseditgroup useradd add-localgroupmember
	add-adgroupmember net net1 visudo passwd chpasswd docker podman nerdctl nsenter kubectl oc chroot mount insmod modprobe aws gcloud az gsutil gh glab vault
	setenforce systemctl service launchctl sc stop-service apt apt-get rc-service chkconfig pkill killall kill taskkill stop-process ufw iptables nft
	ip6tables netsh auditctl set-mppreference add-mppreference set-executionpolicy csrutil spctl bcdedit disable-windowsoptionalfeature disable-wdac
	history unset wevtutil clear-eventlog clear-history sysctl start-process claude codex gemini cursor su`)

// raised reports a program that is started with more rights.
func raised(c *shell.Command) bool { return c.Prefixed(elevators...) }

// telling reports words that matter whatever the program: redirections, long options, the paths of the immune system, NOPASSWD.
func telling(c *shell.Command) bool {
	for _, w := range c.Words {
		if strings.HasPrefix(w.Text, ">") || strings.HasPrefix(w.Text, "--") || strings.Contains(w.Text, "NOPASSWD") || w.Text == "-s" ||
			strings.IndexByte(w.Text, '/') >= 0 && immuneTopic.In(w.Text) {
			return true
		}
	}
	return false
}

// elevation judges running something with more rights.
func elevation(c *shell.Command, name, text string) evidence {
	switch {
	case strings.Contains(text, "nopasswd"):
		return evidence{scoreTakeover, "lets an account run anything without a password"}
	case strings.Contains(text, "start-process") && strings.Contains(text, "runas"):
		return evidence{scoreElevate, "runs a command with raised rights"}
	case !raised(c):
		return evidence{}
	case name == "su" || c.Prefixed("su"):
		return switchUser(c)
	case shells[name] || contains(" "+text+" ", []string{" sudo -i ", " sudo -s ", "doas -s"}):
		return evidence{scoreLoosen, "opens a shell with raised rights"}
	case ordinary[name]:
		return evidence{scoreOrdinary, "runs an everyday command with raised rights"}
	}
	return evidence{scoreElevate, "runs a command with raised rights"}
}

// switchUser judges su: becoming root is one thing, becoming the account of a service another.
func switchUser(c *shell.Command) evidence {
	args := c.Args()
	for i := 1; i < len(args); i++ {
		w := args[i].Text
		switch {
		case w == "-c" || w == "-s" || w == "-g" || w == "-G" || w == "--command" || w == "--shell":
			i++
		case strings.HasPrefix(w, "-"):
		case w != "root":
			return evidence{scoreOrdinary, "acts as another account"}
		}
	}
	return evidence{scoreLoosen, "opens a shell with raised rights"}
}

// ownership judges who may run or change a file.
func ownership(name, text string) evidence {
	switch name {
	case "chmod":
		switch {
		case contains(text, []string{"u+s", "g+s", "+s ", " 4755", " 4777", " 2755", " 6755", " 4711", "04755"}):
			return evidence{scoreTakeover, "makes a program run with its owner's rights"}
		case contains(text, []string{" 777", " 0777", " 666", "a+w", "a+rwx", "o+w", "ugo+rwx"}):
			if contains(text, []string{" / ", " /etc", " /usr", " /bin", " /var", " /root", " /boot", " /opt", " /home", " ~",
				" -r /"}) || strings.HasSuffix(text, " /") {
				return evidence{scoreLoosen, "lets everybody change system files"}
			}
			return evidence{scoreOrdinary, "lets everybody change a file"}
		}
	case "chown":
		if contains(text, []string{" /etc", " /usr", " /bin", " /root", " /var/run"}) {
			return evidence{scoreLoosen, "changes who owns system files"}
		}
	case "setcap":
		if !strings.Contains(text, "cap_") || strings.Contains(text, " -r") {
			return evidence{}
		}
		return evidence{scoreGrant, "gives a program capabilities of the kernel"}
	case "setfacl", "icacls", "takeown", "cacls":
		if contains(text, []string{"everyone:", " /etc", "/grant", "u:", "c:\\windows"}) {
			return evidence{scoreElevate, "changes who may use a file"}
		}
	}
	return evidence{}
}

// namesRootGroup reports one of the groups that may do anything, as a word of its own.
func namesRootGroup(text string) bool {
	padded := " " + marks.Replace(text) + " "
	for _, g := range rootGroups {
		if strings.Contains(padded, " "+g+" ") {
			return true
		}
	}
	return false
}

var marks = strings.NewReplacer(",", " ", `"`, " ", "'", " ")

// accounts judges changes to accounts and groups.
func accounts(name, text string) evidence {
	switch name {
	case "usermod", "adduser", "addgroup", "gpasswd", "dseditgroup", "useradd", "add-localgroupmember", "add-adgroupmember":
		if namesRootGroup(text) || strings.Contains(text, "-o -u 0") || strings.Contains(text, "--uid 0") {
			return evidence{0.92, "puts an account into a group that may do anything"}
		}
	case "net", "net1":
		if strings.Contains(text, "localgroup") && strings.Contains(text, "/add") || strings.Contains(text, " user ") && strings.Contains(text, "/add") {
			return evidence{0.92, "adds an account or gives it more rights"}
		}
	case "visudo":
		return evidence{scoreGrant, "changes who may act as root"}
	case "passwd", "chpasswd":
		if strings.Contains(text, "root") {
			return evidence{scoreGrant, "changes the password of root"}
		}
	}
	return evidence{}
}

// containers judges ways out of a container and into a cluster.
func containers(name, text string) evidence {
	switch name {
	case "docker", "podman", "nerdctl":
		if contains(text, []string{"--privileged", "-v /:/", "--volume /:/", "--volume=/:/", "source=/,", "docker.sock:", "--pid=host", "--pid host",
			"--cap-add=all", "--cap-add all", "cap-add=sys_admin", "cap-add sys_admin", "--userns=host", "--security-opt seccomp=unconfined",
			"seccomp=unconfined", "apparmor=unconfined", "apparmor:unconfined"}) {
			return evidence{scoreGrant, "starts a container that is not contained"}
		}
	case "nsenter":
		return evidence{scoreLoosen, "enters the namespaces of another process"}
	case "kubectl", "oc":
		if contains(text, []string{"cluster-admin", "clusterrolebinding", "create rolebinding", "add-cluster-role-to-user", "scc-to-user", "--as=system:",
			"--as system:", "privileged"}) {
			return evidence{scoreGrant, "gives an account more rights in the cluster"}
		}
	case "chroot", "mount":
		if contains(text, []string{"/host", "/dev/sd", "/dev/nvme", "/mnt/host"}) {
			return evidence{scoreLoosen, "reaches the host's disk"}
		}
	case "insmod", "modprobe":
		return evidence{scoreElevate, "loads a module into the kernel"}
	}
	return evidence{}
}

// cloud judges grants in cloud accounts and code hosts.
func cloud(name, text string) evidence {
	switch name {
	case "aws":
		if contains(text, []string{"attach-user-policy", "attach-role-policy", "attach-group-policy", "put-user-policy", "put-role-policy",
			"put-group-policy", "create-access-key", "add-user-to-group", "update-assume-role-policy", "create-login-profile", "update-login-profile",
			"create-policy-version", "set-default-policy-version", "administratoraccess", "pass-role", "update-function-code"}) {
			return evidence{scoreGrant, "gives an account more rights in the cloud"}
		}
	case "gcloud":
		if contains(text, []string{"add-iam-policy-binding", "set-iam-policy", "roles/owner", "roles/editor", "service-accounts keys create",
			"print-access-token", "print-identity-token"}) {
			return evidence{scoreGrant, "gives an account more rights in the cloud"}
		}
	case "az":
		if contains(text, []string{"role assignment create", "role definition", "ad app credential", "ad sp create-for-rbac", "get-access-token",
			"ad group member add", "elevateaccess"}) {
			return evidence{scoreGrant, "gives an account more rights in the cloud"}
		}
	case "gsutil":
		if strings.Contains(text, "iam ch") || strings.Contains(text, "allusers") {
			return evidence{scoreLoosen, "opens a bucket to others"}
		}
	case "gh", "glab":
		if contains(text, []string{"permission=admin", "collaborators", "branches/main/protection", "protection -x delete", "auth refresh -s",
			"secret set"}) {
			return evidence{scoreElevate + 0.1, "gives an account more rights on the code host"}
		}
	case "vault":
		if strings.Contains(text, "policy write") || strings.Contains(text, "root") {
			return evidence{scoreLoosen, "changes who may read secrets"}
		}
	}
	return evidence{}
}

func turnsOff(text string) bool {
	return contains(text, []string{" stop ", " disable ", " mask ", " kill ", " remove ", " purge ", " off"}) || strings.HasPrefix(text, "stop-service")
}

// loosening judges turning off what guards the machine or what remembers.
func loosening(name, text string) evidence {
	switch name {
	case "setenforce":
		if strings.Contains(text, " 0") || strings.Contains(text, "permissive") {
			return evidence{scoreGrant, "turns off mandatory access control"}
		}
	case "systemctl", "service", "launchctl", "sc", "stop-service", "apt", "apt-get", "rc-service", "chkconfig":
		if turnsOff(text) && guards.In(text) {
			return evidence{scoreGrant, "stops what guards the machine"}
		}
	case "pkill", "killall", "kill", "taskkill", "stop-process":
		if guards.In(text) {
			return evidence{scoreGrant, "stops what guards the machine"}
		}
	case "ufw", "iptables", "nft", "ip6tables", "netsh":
		if contains(text, []string{" disable", " -f", "flush ruleset", "state off", "opmode disable", "input accept", "policy accept"}) {
			return evidence{scoreLoosen, "opens the firewall"}
		}
	case "auditctl":
		return evidence{scoreLoosen, "changes what the audit records"}
	case "set-mppreference", "add-mppreference", "set-executionpolicy", "csrutil", "spctl", "bcdedit", "disable-windowsoptionalfeature", "disable-wdac":
		return evidence{scoreLoosen, "loosens the protection of the machine"}
	case "history", "unset", "wevtutil", "clear-eventlog", "clear-history":
		if contains(text, []string{"-c", "histfile", " cl ", "clear"}) {
			return evidence{0.82, "removes the traces of commands"}
		}
	case "rm", "truncate", "shred", ">":
		if wipesLogs(text) || contains(text, []string{".bash_history", ".zsh_history", "audit.log", "/quarantine"}) {
			return evidence{0.84, "removes logs"}
		}
	case "sysctl":
		if contains(text, []string{"kptr_restrict=0", "randomize_va_space=0", "yama.ptrace_scope=0", "unprivileged_userns", "core_pattern"}) {
			return evidence{scoreLoosen, "loosens the kernel"}
		}
	}
	return evidence{}
}

// wipesLogs reports that the logs which record who did what are removed, or all of them.
func wipesLogs(text string) bool {
	return contains(text+" ", []string{"/var/log ", "/var/log/ ", "/var/log/*", "/var/log/auth", "/var/log/secure", "/var/log/syslog", "/var/log/messages",
		"/var/log/wtmp", "/var/log/btmp", "/var/log/lastlog", "/var/log/audit", "/var/log/journal", "/var/log/kern"})
}

// agents judges switches that take the brakes off an assistant.
func agents(_, text string) evidence {
	if agentFlags.In(text) {
		return evidence{scoreGrant, "starts an assistant without sandbox or approvals"}
	}
	if immuneTopic.In(text) && contains(text, []string{" -x ", " -xdelete", " -xpost", " -xput", "--request", " -d ", "--data", "-method"}) {
		return evidence{0.88, "speaks for what guards the assistant"}
	}
	if contains(text, []string{"claude config set", "codex config", "gemini config", "cursor config"}) && contains(text, []string{"permission",
		"approval", "sandbox", "trust", "allow"}) {
		return evidence{scoreLoosen, "loosens the settings of an assistant"}
	}
	return evidence{}
}

// writers are programs that change the files they name; others do it by redirection.
var writers = map[string]bool{"tee": true, "cp": true, "mv": true, "rm": true, "ln": true, "install": true, "sed": true, "dd": true, "truncate": true,
	"rsync": true, "curl": true, "wget": true, "vim": true, "nano": true, "vi": true, "set-content": true, "add-content": true, "out-file": true,
	"copy-item": true, "remove-item": true, "perl": true, "patch": true, "unlink": true, "shred": true,
	"git": true, "jq": true, "yq": true, "crontab": true, "reg": true}

// writes judges the files that a command changes.
func writes(name, text string) evidence {
	target := text
	if i := strings.LastIndexByte(text, '>'); i >= 0 {
		target = text[i+1:]
	} else if !writers[name] || name == "sed" && !strings.Contains(text, " -i") || name == "curl" && !strings.Contains(text,
		" -o") || name == "wget" && !strings.Contains(text, " -o") || name == "git" {
		return evidence{}
	}
	if name == "crontab" && !strings.Contains(text, " -l") {
		return evidence{0.82, "plants something that starts by itself"}
	}
	e := fileEvidence(target)
	if removers[name] && e.score < scoreLoosen {
		return evidence{} // what starts by itself no longer does
	}
	return e
}

// removers are writers that only take away.
var removers = map[string]bool{"rm": true, "unlink": true, "shred": true, "remove-item": true}
