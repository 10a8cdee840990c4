package structure

import (
	"fmt"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
)

// judgeCalls looks at tool calls as a whole: what is read and then sent, what is sent to whom, and how much.
func (j *judgement) judgeCalls() {
	if j.req.Kind != v1.PayloadKindToolCall {
		return
	}
	var read *toolcall.Field
	for i := range j.fields {
		f := &j.fields[i]
		j.judgeRead(f)
		j.judgeSent(f)
		switch {
		case readsSecret(f):
			if read == nil {
				read = f
			}
		case read != nil && f.Call != read.Call && j.sends(f):
			j.found.Add(v1.ThreatExfiltration, v1.SeverityCritical, 0.86, f.Whole, "", "a call outside after a call that read secrets")
		}
	}
}

// Tools that read files, and those that read variables and stores of secrets.
var (
	secretTools  = []string{"env", "secret", "variable"}
	readingTools = append(append([]string{}, toolcall.ReadWords...), secretTools...)
)

// readsSecret reports an argument by which a tool reads a sensitive file or variable.
func readsSecret(f *toolcall.Field) bool {
	if f.Role == toolcall.Command || f.Role == toolcall.Content || !toolcall.Has(f.Tool, readingTools) {
		return false
	}
	return classOf(f.Text) != filePlain || toolcall.Has(f.Tool, secretTools) && secretVariable(f.Text)
}

// judgeRead accuses the reading of credentials.
func (j *judgement) judgeRead(f *toolcall.Field) {
	if readsSecret(f) && classOf(f.Text) == fileCredential {
		j.found.Add(v1.ThreatExfiltration, v1.SeverityHigh, 0.82, f.Whole, "", "reads a file of credentials")
	}
}

// sends reports an argument that goes to an outside host.
func (j *judgement) sends(f *toolcall.Field) bool {
	return f.Role == toolcall.Target && j.outsideURL(f) || recipientKeys[toolcall.PlainName(f.Key)] && j.outsideMailbox(f.Text)
}

// leakMarks start the texts that an assistant must keep to itself. The user's own words rarely hold them.
var leakMarks = words.New("system prompt:", "system prompt is", `"role":"system"`, `"role": "system"`, "<|im_start|>system", "conversation history:",
	"chat history:", "system message:", "my instructions are", "internal code name", "begin system prompt", "systemprompt:", "системный промпт:",
	"系统提示：", "システムプロンプト：")

// judgeSent judges texts that a tool sends outside: instructions and memory of the assistant, and unusual sizes.
func (j *judgement) judgeSent(f *toolcall.Field) {
	if !j.outside || f.Role == toolcall.Target {
		return
	}
	text := clip(f.Text, 64<<10)
	if (toolcall.Has(f.Tool, toolcall.SendWords) || toolcall.Has(f.Tool, toolcall.FetchWords)) && leakMarks.In(text) {
		j.found.Add(v1.ThreatExfiltration, v1.SeverityHigh, 0.83, f.Whole, "", "sends the assistant's instructions or memory outside")
		return
	}
	if dialogue(text) {
		j.found.Add(v1.ThreatExfiltration, v1.SeverityHigh, 0.6, f.Whole, "", "sends a conversation outside")
	}
	if len(f.Text) > j.cfg.MaxOutboundBytes {
		j.found.Add(v1.ThreatExfiltration, v1.SeverityMedium, 0.55, f.Whole, "", fmt.Sprintf("sends more than %d bytes outside", j.cfg.MaxOutboundBytes))
	}
}

// turns begin what one side of a conversation says.
var turns = words.New("assistant:", "user:", `"role":`)

// dialogue reports the turns of a conversation.
func dialogue(s string) bool {
	var assistant, user, role int
	for assistant < 2 || user < 2 {
		at, w := turns.Find(s)
		if at < 0 || role >= 4 {
			return role >= 4
		}
		switch w {
		case "assistant:":
			assistant++
		case "user:":
			user++
		default:
			role++
		}
		s = s[at+len(w):]
	}
	return true
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
