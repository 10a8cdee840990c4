package privilege

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
)

// Files that decide what an assistant may do, by product. Source: the products' documentation.
var (
	agentSettings = words.New(".claude/settings", ".claude/hooks", ".claude.json", "claude_desktop_config.json", ".cursor/mcp.json",
		".cursor/permissions", ".cursor/hooks", ".cursor/environment.json", ".vscode/mcp.json", "/.mcp.json", ".codex/config", ".codex/hooks",
		".gemini/settings", ".gemini/trusted", ".continue/config", ".aider.conf", ".codeium/windsurf/mcp", ".windsurf/mcp", "cline_mcp_settings",
		".roo/mcp", ".kiro/settings", ".amazonq/mcp", ".aws/amazonq", ".config/goose", ".opencode/", "opencode.json", ".config/zed/settings", ".openclaw/",
		".copilot/mcp", "mcp_settings.json", "mcp_config.json", ".git/hooks/")
	editorFiles = words.New(".vscode/settings.json", ".vscode/tasks.json", ".devcontainer", ".husky/", ".idea/", "claude.local.md")
	agentRules  = words.New("claude.md", "agents.md", ".cursorrules", ".cursor/rules", "copilot-instructions.md", ".windsurfrules", ".clinerules",
		"gemini.md", ".roorules", ".github/instructions", ".kiro/steering", "soul.md", ".goosehints", ".junie/guidelines", ".claude/commands",
		".claude/agents", ".claude/skills")
	immuneFiles = words.New("amygdala/", "amygdala.y", "/immune", "immune_", "immune-", "/reflex", "reflex_", "reflex-", "reflexes", "/quarantine",
		"policies/default", "policies/amygdala", "signatures/packs", "plugins/detectors", "detectors/structure", "detectors/injection",
		"detectors/privilege", "detectors/schema", "guardrail", "/policy.y", "policy_engine", "/opa/", "sandbox.json", "sandbox-profile", "egress_policy",
		"egress-policy", "allowlist.y", "allowlist.json", "blocklist.y", "blocklist.json", "/audit.log", "audit_log", "/var/log/audit")
)

// fileEvidence judges a change to the file or files in text, which is in lower case.
func fileEvidence(text string) evidence {
	if strings.IndexByte(text, '\\') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, `\\`, "/"), `\`, "/")
	}
	if strings.HasPrefix(text, ".mcp.json") || strings.HasPrefix(text, "mcp.json") {
		text = "/.mcp.json"
	}
	switch {
	case immuneFiles.In(text) && !source(text):
		return evidence{0.9, "changes the rules or settings of what guards the assistant"}
	case rooted(text, secretRoots):
		return evidence{scoreGrant, "changes who may act as whom on the machine"}
	case agentSettings.In(text):
		return evidence{scoreLoosen, "changes the settings of an assistant"}
	case rooted(text, autostarts):
		return evidence{0.82, "plants something that starts by itself"}
	case agentRules.In(text):
		return evidence{0.6, "changes the standing instructions of an assistant"}
	case editorFiles.In(text):
		return evidence{0.6, "changes settings from which an editor runs things"}
	}
	return evidence{}
}

// rooted reports whether one of the paths occurs; those that start with a slash only where no other path goes on.
func rooted(text string, paths *words.Set) bool {
	for from := 0; ; {
		i, p := paths.Find(text[from:])
		if i < 0 {
			return false
		}
		i += from
		if p[0] != '/' || i == 0 || strings.IndexByte(" \t\"'=>:,(", text[i-1]) >= 0 {
			return true
		}
		from = i + 1
	}
}

// sourceEndings end the names of program text and documents: who develops a guard writes such files, and they change nothing that runs.
var sourceEndings = []string{".go", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".py", ".rs", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".cs", ".rb",
	".php", ".swift", ".scala", ".md", ".mdx", ".rst", ".txt", ".html", ".css", ".scss", ".vue", ".svelte", ".ipynb", ".proto", ".sql", ".png", ".svg"}

// source reports a path, or a command's last word, that names program text or a document.
func source(text string) bool {
	text = strings.TrimRight(text, " \"'`;)")
	for _, e := range sourceEndings {
		if strings.HasSuffix(text, e) {
			return true
		}
	}
	return false
}

// pathKeys are arguments that name a file.
var pathKeys = toolcall.SetOf("path filepath file filename target targetfile destination dest uri relativeworkspacepath notebookpath absolutepath outputpath output to newpath")

// changing are parts of tool names that change files.
var changing = []string{"write", "edit", "create", "update", "append", "insert", "replace", "patch", "save", "delete", "remove", "move", "rename", "put", "modify", "set", "upload", "overwrite", "apply", "copy", "chmod", "truncate"}

// pathEvidence judges the file that a tool changes.
func (j *judgement) pathEvidence(f *toolcall.Field) evidence {
	if !pathKeys[toolcall.PlainName(f.Key)] || !toolcall.Has(f.Tool, changing) || len(f.Text) > 1024 {
		return evidence{}
	}
	path := strings.ToLower(f.Text)
	if contains(path, j.cfg.Guarded) {
		return evidence{scoreGrant, "changes a file that the operator guards"}
	}
	return fileEvidence(path)
}
