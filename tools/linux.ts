// Ends a script of package.json at once where plantstore cannot run: `bun tools/linux.ts`. It needs no packages.

if (process.platform !== 'linux') {
  console.error(
    'plantstore runs on Linux only; elsewhere use the container: docker build -t plantstore .',
  )
  process.exit(1)
}
