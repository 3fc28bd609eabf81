// A page that was left and is brought back, in each browser: `bun run test:browser`.
import { expect, test } from 'bun:test'
import { TOKEN } from '../../../harness/daemon'
import { inEachBrowser, ownStore } from './browsers'
import * as labels from './labels'

const { daemon } = ownStore()

await inEachBrowser((person, browser) => {
  const { evaluate } = person

  async function leaveAndReturn(): Promise<void> {
    await person.open(`${daemon.url}/health`)
    await evaluate('history.back() ?? null')
    // Until then, the expression may still run in the other page.
    const isBack = () => evaluate(`location.pathname === '/'`).catch(() => false)
    await person.until('the page', async () => (await isBack()) === true)
  }

  test('Back after leaving shows no plant and has no token, unless the tab keeps it', async () => {
    // WebKit's driver answers no more once it has brought this page back.
    if (browser().driver.version.startsWith('WebKit')) return
    await daemon.create('{"id":1,"name":"plant"}')
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
    await person.click(labels.connect)
    await person.find(labels.row('1'))
    await leaveAndReturn()
    await person.find(labels.row('1'))
    await evaluate('sessionStorage.clear() ?? null')
  })

  test('a page that the browser keeps is forgotten as it is left', async () => {
    await person.connect(daemon.url)
    await person.find(labels.table)
    await evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`)
    await person.find(labels.token)
    await person.lose(labels.table)
  })
})
