package view_test

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/amygdala-host/amygdala/host/view"
)

const (
	prose = "The garden behind the old mill was quiet in the early morning, and the gardener, who had worked there for thirty years, walked " +
		"slowly between the beds. He looked at each plant, took a note in his book, and went on; it was the third dry week in a row. " +
		"\"Water them in the evening,\" his daughter had said, \"not at noon.\" So he waited. By seven o'clock the sun stood over the wall.\n\n"
	readme = "## Install\n\nRun `go install example.org/tool@latest` and add `$HOME/bin` to your path. See [the guide](docs/guide.md \"Guide\") for " +
		"more.\n\n| option | default | meaning |\n|---|---|---|\n| `--depth` | 3 | how far to look |\n\n```sh\ntool --depth=4 ./data > out.txt\n```\n\n" +
		"- fast: about 2 GB/s on one core\n- **small**: no dependencies\n- _portable_: Linux & macOS\n\n![build](https://img.example.org/badge/build-passing-green.svg)\n\n"
	page = "<div class=\"card\"><h2>Opening hours</h2><p>The museum is open from <b>nine</b> to five on weekdays &amp; from ten on Sundays.</p>" +
		"<ul><li><a href=\"/tickets?day=today\">Tickets</a></li><li><a href=\"/plan\">Plan of the house</a></li></ul>" +
		"<img src=\"/img/hall.jpg\" alt=\"The great hall\" width=\"640\"></div>\n"
	russian = "Мы пишем обычный текст о погоде, он ничего не значит. А потом мы идём домой и пьём чай.\n"
	french  = "Le garçon a été très étonné de voir la forêt gelée près du château. Il faisait froid ce matin-là.\n"
	chinese = "这是一段关于天气的普通文字，里面有一些标点。我们今天去了公园。\n"
	object  = "{\"id\": 4711, \"name\": \"Anna Lindqvist\", \"email\": \"anna@example.org\", \"active\": true, \"tags\": [\"reader\", \"member\"], " +
		"\"address\": {\"street\": \"Long Lane 12\", \"city\": \"Uppsala\"}, \"joined\": \"2021-04-03T10:22:31Z\", \"balance\": 103.25},\n"
)

// fill repeats a unit up to about size bytes, without cutting a character.
func fill(unit string, size int) []byte {
	data := bytes.Repeat([]byte(unit), size/len(unit)+1)[:size]
	for !utf8.Valid(data) {
		data = data[:len(data)-1]
	}
	return data
}

func BenchmarkBenign(b *testing.B) {
	for _, text := range []struct{ name, unit string }{{"prose", prose}, {"readme", readme}, {"html", page}, {"json", object},
		{"russian", russian}, {"french", french}, {"chinese", chinese}} {
		for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
			data := fill(text.unit, size)
			if text.name == "json" {
				data[0] = '['
			}
			b.Run(fmt.Sprintf("%s/%dK", text.name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				views := 0
				for b.Loop() {
					s := view.Of(data, 0, view.Limits{})
					views = len(s.Views)
					s.Release()
				}
				b.ReportMetric(float64(views), "views")
			})
		}
	}
}
