module example.com/canary

go 1.26.0

require github.com/amygdala-host/amygdala v0.0.0

replace github.com/amygdala-host/amygdala => ../../..
