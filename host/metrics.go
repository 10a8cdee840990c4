package host

import (
	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// metrics counts decisions. Labels come from closed lists or from the operator's own plugins and packs, never from payloads.
type metrics struct {
	decisions *prometheus.CounterVec
	findings  *prometheus.CounterVec
	shadow    *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	fuel      prometheus.Counter
}

func newMetrics() *metrics {
	return &metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "amygdala_decisions_total", Help: "Payloads judged."}, []string{"kind", "verdict"}),
		findings:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "amygdala_findings_total", Help: "Findings reported by detectors."}, []string{"detector", "threat"}),
		shadow:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "amygdala_shadow_signature_hits_total", Help: "Payloads in which a signature in maturity shadow matched."}, []string{"signature"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "amygdala_inspection_seconds", Help: "Time to judge one payload.",
			Buckets: []float64{5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1}}, []string{"kind"}),
		fuel: prometheus.NewCounter(prometheus.CounterOpts{Name: "amygdala_fuel_total", Help: "Fuel used by detectors, in units of about one Wasm instruction."}),
	}
}

func (m *metrics) observe(kind v1.PayloadKind, d *Decision) {
	name := "unknown"
	if kind.Known() {
		name = kind.String()
	}
	m.decisions.WithLabelValues(name, string(d.Verdict)).Inc()
	m.seconds.WithLabelValues(name).Observe(d.Elapsed.Seconds())
	m.fuel.Add(float64(d.Fuel))
	for _, f := range d.Findings {
		m.findings.WithLabelValues(f.Detector, f.ThreatName).Inc()
	}
	for _, id := range d.Shadow {
		m.shadow.WithLabelValues(id).Inc()
	}
}

var (
	generationDesc = prometheus.NewDesc("amygdala_generation", "Number of the generation that serves.", nil, nil)
	pluginDesc     = prometheus.NewDesc("amygdala_plugin_info", "1 for each plugin in its current state.", []string{"plugin", "version", "state"}, nil)
	callsDesc      = prometheus.NewDesc("amygdala_plugin_calls_total", "Calls into a plugin since it began to serve.", []string{"plugin", "version"}, nil)
	failuresDesc   = prometheus.NewDesc("amygdala_plugin_failures_total", "Calls into a plugin that failed since it began to serve.", []string{"plugin", "version"}, nil)
	pluginFuelDesc = prometheus.NewDesc("amygdala_plugin_fuel_total", "Fuel a plugin used since it began to serve.", []string{"plugin", "version"}, nil)
	brokenDesc     = prometheus.NewDesc("amygdala_reload_problems", "Sources (plugins, policy, signatures) whose newest version could not be taken over.", nil, nil)
)

// Collector gives the host's figures to a Prometheus registry.
func (h *Host) Collector() prometheus.Collector { return collector{h} }

type collector struct{ h *Host }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range []prometheus.Collector{c.h.metrics.decisions, c.h.metrics.findings, c.h.metrics.shadow, c.h.metrics.seconds, c.h.metrics.fuel} {
		v.Describe(ch)
	}
	for _, d := range []*prometheus.Desc{generationDesc, pluginDesc, callsDesc, failuresDesc, pluginFuelDesc, brokenDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	for _, v := range []prometheus.Collector{c.h.metrics.decisions, c.h.metrics.findings, c.h.metrics.shadow, c.h.metrics.seconds, c.h.metrics.fuel} {
		v.Collect(ch)
	}
	st := c.h.Status()
	broken := 0
	for _, part := range []bool{st.Policy.LastError != nil, st.Signatures.LastError != nil} {
		if part {
			broken++
		}
	}
	ch <- prometheus.MustNewConstMetric(generationDesc, prometheus.GaugeValue, float64(st.Generation))
	for _, p := range st.Plugins {
		if p.LastError != nil {
			broken++
		}
		ch <- prometheus.MustNewConstMetric(pluginDesc, prometheus.GaugeValue, 1, p.Name, p.Version, string(p.State))
		if p.Counters == nil {
			continue
		}
		ch <- prometheus.MustNewConstMetric(callsDesc, prometheus.CounterValue, float64(p.Counters.Calls), p.Name, p.Version)
		ch <- prometheus.MustNewConstMetric(failuresDesc, prometheus.CounterValue, float64(p.Counters.Failures), p.Name, p.Version)
		ch <- prometheus.MustNewConstMetric(pluginFuelDesc, prometheus.CounterValue, float64(p.Counters.Fuel), p.Name, p.Version)
	}
	ch <- prometheus.MustNewConstMetric(brokenDesc, prometheus.GaugeValue, float64(broken))
}
