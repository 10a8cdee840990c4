package main

// emitRegistry writes the list of all messages that the tests of abi/v1 go through.
func emitRegistry(s *schema) ([]byte, error) {
	var p printer
	p.use("github.com/amygdala-host/amygdala/abi/v1")
	p.p("var registry = []entry{")
	for _, m := range s.messages {
		p.p("{%q, func() message { return new(v1.%s) }, v1.CheckStrict%s, v1.CheckStrict%sJSON},", m.name, m.name, m.name, m.name)
	}
	p.p("}")
	return p.source("v1_test")
}
