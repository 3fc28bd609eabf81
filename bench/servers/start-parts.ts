// The start of plantstore as far as one of its parts: its modules, the store, the service. `bun run start` builds it.
import { serve } from '../../src/cli/commands/serve.ts'
import { openStore } from '../../src/engine/engine.ts'
import { storeOwner } from '../../src/engine/store-user.ts'
import { serveStore } from '../../tools/service.ts'

const [part = '', port, file = ''] = process.argv.slice(2)

const answerAll = (text: string) =>
  Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: () => new Response(text) })

async function open() {
  const ignore = () => {}
  return await openStore(file, storeOwner(ignore, ignore))
}

// The name is used so that the build keeps all that the command imports.
if (part === 'modules') answerAll(serve.name)
else if (part === 'store') {
  await open()
  answerAll('')
} else serveStore(await open(), {}, Number(port))
