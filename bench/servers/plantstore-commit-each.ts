// plantstore's own server and storage without group commit: a create waits until the one before it is on the disk.
import { openStore } from '../../src/engine/engine.ts'
import { storeOwner } from '../../src/engine/store-user.ts'
import { configuredToken, serveStore } from '../../tools/service.ts'

const [port, file = '', text = ''] = process.argv.slice(2)

const store = await openStore(
  file,
  storeOwner(
    () => {},
    () => {},
  ),
)
const token = configuredToken(text)
let last: Promise<unknown> = Promise.resolve()

serveStore(
  {
    ...store,
    createPlant(plant) {
      const create = () => store.createPlant(plant)
      const created = last.then(create, create)
      last = created
      return created
    },
  },
  { configuredToken: () => token },
  Number(port),
)
