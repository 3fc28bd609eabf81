// `bun run bench`: plantstore and its peers; with --compare, two builds of plantstore.
const isComparison = process.argv.some((argument) => argument.startsWith('--compare'))
await import(isComparison ? './compare.ts' : './creates.ts')
