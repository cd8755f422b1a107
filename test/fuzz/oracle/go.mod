module oracle

go 1.24

require golang.org/x/net v0.40.0

require golang.org/x/text v0.25.0 // indirect
