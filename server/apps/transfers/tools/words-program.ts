/** Makes few words of many: what the tools begin with is counted, what they complain about stays as it is. */
export const WORDS_PROGRAM = `
function say(text) { print substr(text, 1, 2000); fflush() }
/^pg_(dump|restore): (dumping contents of|processing data for) table / {
  tables++
  sub(/^pg_(dump|restore): (dumping contents of|processing data for) table /, "")
  say("cpd-table: " tables " " $0)
  next
}
/^pg_restore: creating (INDEX|CONSTRAINT|FK CONSTRAINT) / {
  if (!indexes++) say("cpd-phase: indexing")
  next
}
/^pg_(dump|restore): (error|warning|detail|hint|while|from|fatal)/ { say($0); next }
/^pg_(dump|restore): / { next }
{ say($0) }
`
