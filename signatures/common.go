package signatures

import (
	"bytes"
	_ "embed"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// sample is ordinary text: prose, a manual, code, a table, a letter, requests to an assistant. The automaton keeps what it visits close
// together, groups that it is full of are looked for last, and lint measures by it.
//
//go:embed sample.txt
var sample []byte

var lowerSample = bytes.ToLower(sample)

// everywhere is the share of ordinary text, in per cent, that a group may be near to and still narrow something.
const everywhere = 75

// coverage returns which share of the sample, in per cent, is within window bytes of one of the literals. Literals with gaps, and
// those in other scripts, are taken to be rare.
func coverage(group []*literal, window int) int {
	var at []int
	for _, l := range group {
		text := l.plainASCII()
		for i := 0; text != ""; i++ {
			n := bytes.Index(lowerSample[i:], []byte(text))
			if n < 0 {
				break
			}
			i += n
			at = append(at, i)
		}
	}
	slices.Sort(at)
	covered, n := 0, 0
	for _, i := range at {
		from, to := max(i-window, covered), min(i+window, len(sample))
		n += max(0, to-from)
		covered = max(covered, to)
	}
	return 100 * n / len(sample)
}

// plainASCII returns the literal in lower case, or nothing if it has gaps or letters without an ASCII form.
func (l *literal) plainASCII() string {
	var out []byte
	for _, e := range l.elems {
		if e.gap != noGap || e.ascii == [2]uint64{} {
			return ""
		}
		if e.ascii[1] != 0 { // lower case comes last
			out = append(out, byte(127-bits.LeadingZeros64(e.ascii[1])))
		} else {
			out = append(out, byte(63-bits.LeadingZeros64(e.ascii[0])))
		}
	}
	return string(out)
}

// The measured reasons why a word cannot be an anchor.
const (
	// tooCommon is how often in a megabyte a literal may occur and still be an anchor: once in a thousand bytes.
	tooCommon = 1000
	// tooMuchRead is how much of a megabyte the pattern of a signature without a second group may have to read.
	tooMuchRead = 100_000
)

// frequent lists the English words that occur most often in a megabyte of README files, manuals, user prompts and security pages,
// as word:anywhere:whole. The first number counts the letters anywhere, which is how a literal is found; the second, whole words.
const frequent = `
the:6254:5195 and:2609:2074 for:2200:1449 all:1373:265 use:1335:527 type:1151:1048 with:1042:869 http:1027:143 you:1021:623
red:1017:18 can:1003:502 name:863:588 script:862:361 https:861:860 that:854:853 our:846:89 file:844:331 mode:834:72 port:809:45
out:808:98 per:739:61 model:732:512 are:722:473 able:711:60 ask:679:15 this:666:663 add:642:143 task:631:386 core:597:63
not:591:363 run:585:313 key:578:293 code:543:328 from:534:521 end:530:91 set:523:201 art:513:19 low:506:24 doc:500:20
data:494:283 one:476:124 system:475:387 example:470:327 config:451:194 should:439:438 test:428:176 block:417:151 work:414:61
get:405:118 description:396:382 prompt:394:284 scan:394:78 line:393:240 text:390:230 log:389:135 open:386:84 your:376:370
time:371:141 value:369:302 version:360:286 user:360:239 tool:359:199 in_the:358:320 agent:353:257 base:347:78 of_the:346:320
action:344:209 date:338:191 plugin:337:250 any:332:237 over:326:63 was:323:93 release:318:225 serve:313:19 how:307:195
list:307:188 access:306:285 to_the:304:269 generate:301:228 create:299:186 call:298:79 load:296:72 source:294:152
technique:293:174 direct:292:19 but:288:114 net:282:18 new:280:222 request:280:161 output:279:224 function:269:172 server:267:193
will:266:264 detect:265:36 main:264:116 check:263:114 default:261:227 here:260:62 using:252:237 url:252:156 read:252:93
return:250:197 include:250:189 content:250:187 response:249:183 install:243:158 implement:241:26 when:232:226 chain:232:86
own:229:31 address:228:95 have:227:209 cloud:222:124 rule:215:62 build:214:167 message:213:111 format:213:60 make:211:137
also:209:207 may:208:202 field:207:185 its:206:105 path:202:142 files:202:123 pull:201:187 let:201:29 sign:201:19 attack:200:98`

type rate struct{ anywhere, whole int }

var rates = func() map[string]rate {
	out := map[string]rate{}
	for _, item := range strings.Fields(frequent) {
		parts := strings.Split(item, ":")
		anywhere, _ := strconv.Atoi(parts[1])
		whole, _ := strconv.Atoi(parts[2])
		out[strings.ReplaceAll(parts[0], "_", " ")] = rate{anywhere, whole}
	}
	return out
}()

// commonness returns how often a literal occurs in a megabyte of ordinary English, or 0 if that is seldom or not known.
func commonness(text string, word bool) int {
	r := rates[strings.ToLower(text)]
	if word {
		return r.whole
	}
	return r.anywhere
}
