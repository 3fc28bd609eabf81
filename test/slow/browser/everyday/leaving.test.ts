// A page that was left and is opened again with Back: `bun run test:browser`.
import { beforeAll, expect } from 'bun:test'
import { TOKEN } from '../../../harness/daemon'
import { ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, person, openConsole } = ownTasks()

const { evaluate } = person

async function leaveAndReturn(): Promise<void> {
  await person.open(`${daemon.url}/health`)
  await evaluate('history.back() ?? null')
  // Until then, the other page may still be open.
  const isBack = () => evaluate(`location.pathname === '/'`).catch(() => false)
  await person.until('page', isBack)
}

beforeAll(() => daemon.create('{"id":1,"name":"plant"}'))

// WebKit's driver stops responding once this page is restored.
const testReturn = Bun.env.TESTED_BROWSER === 'WebKit' ? test.skip : test

testReturn(
  'Back to a page that was left shows no plant and has no token, unless the tab keeps it',
  async () => {
    await person.open(daemon.url)
    await person.fill(labels.token, TOKEN)
    await person.press('Enter')
    await person.find(labels.row('1'))
    await leaveAndReturn()
    await person.find(labels.token)
    expect(await evaluate(`document.querySelector('.row')`)).toBeNull()
    expect(await person.textOf(labels.token)).toBe('')

    await person.fill(labels.token, TOKEN)
    await person.click({ kind: 'input', name: 'Keep in this tab' })
    await person.click(labels.control('Connect'))
    await person.find(labels.row('1'))
    await leaveAndReturn()
    await person.find(labels.row('1'))
    await evaluate('sessionStorage.clear() ?? null')
  },
)

test('a page in the back/forward cache forgets its plants when it is left', async () => {
  await openConsole()
  await evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`)
  await person.find(labels.token)
  await person.lose(labels.table)
})
