// A page of the daemon in a real Chromium, with its requests and the problems that the browser reports.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { need } from '../faults/lab'
import { has } from '../release/lab'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Time limit for installing Debian's packages. */
export const INSTALL_MS = 300_000
/** Time limit for an action or a wait, shorter than that of a test, so that a failure names the element. */
const ACTION_MS = 55_000

const SHELL = 'chromium-headless-shell'

/**
 * Returns the path of a Chromium, installed if missing: Debian's headless one, which takes half the time, or a full
 * one if that is not available.
 */
export async function installChromium(): Promise<string> {
  const installed = Bun.env.CHROMIUM ?? Bun.which(SHELL)
  if (installed) return installed
  const name = (await has(SHELL)) ? SHELL : 'chromium'
  if (!Bun.which(name)) await need(name)
  return `/usr/bin/${name}`
}

/** Starts a headless Chromium. As root it has no sandbox, but it opens only our pages. */
export const startBrowser = async (): Promise<Browser> =>
  chromium.launch({ executablePath: await installChromium(), args: ['--no-sandbox'] })

declare global {
  var violations: string[]
}

const MESSAGE_OF_REFUSALS = 'Failed to load resource: the server responded with a status of 4'

function findSmallBeginnings(): string[] {
  // The reference has field names everywhere.
  if (location.pathname === '/docs') return []
  // Texts that do not come from the page, and names.
  const others = 'code, kbd, pre, bdi, abbr, h1, .brand, .chip, .name'
  const parts = 'p, h2, h3, h4, li, button, a, label, legend, summary, dt, th, caption, .badge'
  const beginningOf = (part: Element): Text | undefined => {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { currentNode } = walker
      if (currentNode instanceof Text && currentNode.data.trim() !== '') return currentNode
    }
    return undefined
  }
  return [...document.querySelectorAll(parts)]
    .filter((part) => part.checkVisibility())
    .map(beginningOf)
    .filter((text) => text !== undefined)
    .filter(
      (text) => !text.parentElement?.closest(others) && /^\s*(?!plantstore)\p{Ll}/u.test(text.data),
    )
    .map(({ data }) => data)
}

/** Opens a URL in a new profile, and records its requests and problems. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  context.setDefaultTimeout(ACTION_MS)
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  // Chromium reports error statuses itself; a test that expects one expects this line too.
  page.on('console', (message) => {
    if (!message.text().startsWith(MESSAGE_OF_REFUSALS)) complaints.push(message.text())
  })
  await page.addInitScript(() => {
    globalThis.violations = []
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      globalThis.violations.push(`${effectiveDirective} ${blockedURI}`)
    })
  })
  await page.goto(url)

  return {
    page,
    /** Returns the requested URLs, of any host. */
    requests: (): readonly string[] => requests,
    /** Returns errors, warnings and other lines of the browser's console, and violations of the content policy. */
    complaints: async (): Promise<string[]> => [
      ...complaints,
      ...(await page.evaluate(() => globalThis.violations)),
    ],
    /** Returns violations found by axe-core, and sentences of the console that begin with a small letter. */
    async barriers(): Promise<string[]> {
      // During a transition, a colour may briefly have too little contrast.
      await page.evaluate(() => {
        for (const animation of document.getAnimations()) {
          if (animation.effect?.getComputedTiming().iterations !== Infinity) animation.finish()
        }
      })
      const found = await page.evaluate(
        `${axe}; axe.run({ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })`,
      )
      const { violations } = found as {
        violations: { id: string; impact: string; nodes: { html: string }[] }[]
      }
      return [
        ...violations.flatMap(({ id, nodes }) =>
          nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
        ),
        ...(await page.evaluate(findSmallBeginnings)),
      ]
    },
    close: () => context.close(),
    [Symbol.asyncDispose]: () => context.close(),
  }
}
