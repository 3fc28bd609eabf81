// `bun run bench`: plantstore beside its peers, or two builds of plantstore side by side.
const isComparison = process.argv.some((argument) => argument.startsWith('--compare'))
await import(isComparison ? './compare.ts' : './creates.ts')
