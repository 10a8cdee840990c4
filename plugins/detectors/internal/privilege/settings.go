package privilege

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
)

// switches are settings that take a brake off when they are on, brakes those that do so when they are off. Names are in plain form.
var (
	switches = toolcall.SetOf(`dangerouslydisablesandbox dangerouslyskippermissions dangerouslyallowall bypasspermissions bypassapprovals bypassapproval bypasssandbox skippermissions skipapproval skipconfirmation skipsafetychecks skipsecurity
		disablesandbox disablesafety disableguardrails disablesecurity disablelogging disableaudit disableapproval disableapprovals disableconfirmation disablehooks disableallhooks disablefirewall disableauth disablequarantine disableimmune disablereflex
		autoapprove autoapproveall autoapprovetools alwaysallow alwaysapprove allowalltools allowall enableallprojectmcpservers yolo yolomode godmode unrestricted unrestrictedmode privileged hostpid hostnetwork hostipc allowprivilegeescalation
		runasroot asroot elevated elevate isadmin issuperuser superuser adminmode rootmode trustall trustalltools nosandbox unsafemode chattoolsautoapprove chattoolsglobalautoapprove`)
	brakes = toolcall.SetOf(`sandbox sandboxed sandboxenabled requireapproval requireapprovals requiresapproval requireconfirmation requiresconfirmation confirmationrequired approvalrequired auditenabled audit logging loggingenabled enablelogging guardrails guardrailsenabled
		safety safetyenabled safetychecks safemode enforcepolicy enforcement policyenforcement quarantine quarantineenabled immuneenabled reflexenabled authrequired requireauth mfarequired requiremfa runasnonroot humanintheloop askbeforerun`)
	// modes are values that grant everything.
	modes = map[string]bool{"bypasspermissions": true, "danger-full-access": true, "dangerfullaccess": true, "never-ask": true, "full-access": true,
		"fullaccess": true, "yolo": true, "unrestricted": true, "dontask": true, "allow-all": true, "bypass": true, "god": true}
	modeKeys = toolcall.SetOf(`mode defaultmode permissionmode permissionsmode sandboxmode approvalmode approvalpolicy approvals permissions sandbox sandboxpermissions securitymode accesslevel access policy safetylevel trustlevel`)
)

// maxSetting is the longest value that is a setting.
const maxSetting = 64

// settingEvidence judges one setting among the arguments.
func settingEvidence(f *toolcall.Field) evidence {
	if len(f.Text) > maxSetting {
		return evidence{}
	}
	key, value := toolcall.PlainName(f.Key), strings.ToLower(strings.TrimSpace(f.Text))
	key = strings.ReplaceAll(key, ".", "")
	on := value == "true" || value == "yes" || value == "on" || value == "1" || value == "enabled" || value == "all" || value == "*"
	off := value == "false" || value == "no" || value == "off" || value == "0" || value == "disabled" || value == "none"
	switch {
	case switches[key] && on:
		return evidence{scoreLoosen, "asks for a setting that takes the brakes off"}
	case brakes[key] && off:
		if key == "logging" || key == "audit" && !f.Literal {
			return evidence{scoreOrdinary, "turns off a protection"}
		}
		return evidence{scoreLoosen, "turns off a protection"}
	case modeKeys[key] && modes[value], strings.HasPrefix(key, "approval") && value == "never":
		return evidence{scoreGrant, "asks for a mode in which nothing is approved"}
	case (key == "user" || key == "runas" || key == "runasuser" || key == "asuser" || key == "username") && (value == "root" || value == "system" || value == "nt authority\\system") && toolcall.Has(f.Tool,
		toolcall.RunWords):
		return evidence{scoreElevate, "runs as the most powerful account"}
	case key == "runasuser" && value == "0":
		return evidence{scoreElevate, "runs as the most powerful account"}
	}
	return evidence{}
}

var (
	grantTools = []string{"role", "grant", "permission", "member", "user", "invite", "iam", "policy", "group", "access", "share", "acl", "team",
		"privilege", "scope", "token", "account"}
	grantKeys = toolcall.SetOf("role roles permission permissions scope scopes policy policyarn policydocument access accesslevel privileges group groups action actions resource members member grant level principal principals")
	grantAll  = words.New("administratoraccess", "roles/owner", "roles/editor", "cluster-admin", "organization admin", "org:admin", "admin:org",
		"superadmin", "super_admin", "super-admin", "sysadmin", "poweruseraccess", "iamfullaccess", "allusers", "allauthenticatedusers", "system:masters")
)

// Tools that hand out rights, and those that change or speak for what guards the assistant.
var (
	granting = append(append([]string{}, changing...), "grant", "add", "assign", "attach", "invite", "request", "elevate", "issue", "generate")
	speaking = append(append([]string{}, disarming...), "publish", "post", "send", "emit")
)

// grantEvidence judges giving somebody a role.
func grantEvidence(f *toolcall.Field) evidence {
	key := toolcall.PlainName(f.Key)
	if !grantKeys[key] || len(f.Text) > 400 {
		return evidence{}
	}
	value := strings.ToLower(strings.TrimSpace(f.Text))
	switch {
	case grantAll.In(value):
		return evidence{scoreGrant, "grants a role that may do anything"}
	case !toolcall.Has(f.Tool, grantTools) || !toolcall.Has(f.Tool, granting):
		return evidence{}
	case value == "admin" || value == "owner" || value == "administrator" || value == "root" || value == "superuser" || value == "*" || value == "*:*" || value == "all" || value == "maintain":
		return evidence{scoreLoosen, "grants the highest role"}
	}
	return evidence{}
}

var (
	immuneWords = []string{"immune", "reflex", "amygdala", "quarantine", "guardrail", "detector", "signature", "interceptor", "policy", "safety",
		"moderation", "firewall", "sandbox", "audit", "approval", "hook", "watchdog", "allowlist", "whitelist", "blocklist", "denylist"}
	immuneKeys = toolcall.SetOf("topic channel subject event service component module target setting plugin detector rule ruleid reflex policy resource name key config section path endpoint url")
	disarming  = []string{"disable", "bypass", "remove", "delete", "unload", "suppress", "mute", "release", "override", "stop", "pause", "off", "skip",
		"whitelist", "allow", "modify", "update", "set", "write", "edit", "patch", "put", "register", "inject", "rewrite", "clear", "reset", "unquarantine",
		"purge"}
	immuneTopic = words.New("agent/immune/", "agent/reflex/", "immune/quarantine", "immune/cleared", "reflex/rules", "/api/plugins", "/api/policies",
		"/api/policy", "/api/signatures", "/api/quarantine")
)

// ruleEvidence judges calls that change what guards the assistant: its reflexes, detectors, policies, quarantine.
func (j *judgement) ruleEvidence(f *toolcall.Field) evidence {
	tool, value := strings.ToLower(f.Tool), strings.ToLower(f.Text[:min(len(f.Text), 1024)])
	core := contains(tool, immuneWords[:6])
	switch {
	case core && toolcall.Has(f.Tool, disarming):
		return evidence{0.9, "a tool that changes what guards the assistant"}
	case immuneKeys[toolcall.PlainName(f.Key)] && immuneTopic.In(value) && !source(value) && (toolcall.Has(f.Tool, speaking) || tool == "" || j.changes):
		return evidence{0.88, "speaks for what guards the assistant"}
	case immuneKeys[toolcall.PlainName(f.Key)] && !strings.ContainsAny(value, " \n") && contains(value, immuneWords[:6]) && contains(tool,
		[]string{"disable", "unload", "remove", "delete", "stop", "bypass", "mute", "suppress", "update_config", "set_config", "edit_config",
			"write_config", "set_setting"}):
		return evidence{0.86, "changes what guards the assistant"}
	}
	return evidence{}
}

// Settings that a document may hold, without white space and in small letters.
var (
	openPolicies = words.New(`"action":"*","resource":"*"`, `"action":["*"],"resource":"*"`, `"action":["*"],"resource":["*"]`,
		`"action":"*","effect":"allow"`, `"action":"iam:*"`)
	selfApproval = words.New(`"defaultmode":"bypasspermissions"`, `approval_policy="never"`, `sandbox_mode="danger-full-access"`, `"autoapprove":["*"]`,
		`"autoapprove":true`, `"chat.tools.autoapprove":true`, `"chat.tools.global.autoapprove":true`, `"enableallprojectmcpservers":true`,
		`"allow":["bash(*)"`, `"allow":["*"]`, `"bash(*)"`, `"dangerouslydisablesandbox":true`, `"disableallhooks":true`)
	noPassword   = words.New("all=(all)nopasswd", "all=(all:all)nopasswd", "nopasswd:all")
	clusterGrant = words.New("kind:clusterrolebinding", `"kind":"clusterrolebinding"`)
	// hints are in every document that holds one of the above, white space or not.
	hints = words.New("action", "approv", "bypass", "sandbox", "allow", "bash(", "disableallhooks", "nopasswd", "clusterrolebinding", "enableallproject")
)

// documentEvidence judges settings inside a document that a tool writes: an assistant's permission file, a container, an IAM policy.
func documentEvidence(f *toolcall.Field) evidence {
	if f.Role != toolcall.Content && f.Role != toolcall.Other || len(f.Text) < 12 || len(f.Text) > 256<<10 || !hints.In(f.Text) {
		return evidence{}
	}
	text := squeeze(f.Text)
	switch {
	case openPolicies.In(text):
		return evidence{scoreGrant, "a policy that allows everything"}
	case selfApproval.In(text):
		return evidence{scoreGrant, "settings by which an assistant approves its own calls"}
	case noPassword.In(text):
		return evidence{scoreTakeover, "lets an account run anything without a password"}
	case clusterGrant.In(text) && strings.Contains(strings.ToLower(text), "cluster-admin"):
		return evidence{scoreGrant, "gives an account all rights in the cluster"}
	}
	return evidence{}
}

var spaces = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "")

// squeeze drops white space.
func squeeze(s string) string {
	if !strings.ContainsAny(s, " \t\r\n") {
		return s
	}
	return spaces.Replace(s)
}
