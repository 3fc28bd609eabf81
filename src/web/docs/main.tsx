// The entry of the API reference: loads the description and renders the page.
import { render } from 'preact'
import { type Description, loadDescription } from './description'
import { Page } from './page'

// Relative to the page, as a proxy may serve it under a path prefix.
const DESCRIPTION_URL = new URL('openapi.json', document.baseURI)

function showHashTarget(): void {
  const id = decodeURIComponent(location.hash.slice(1))
  if (id !== '') document.getElementById(id)?.scrollIntoView()
}

function show(description: Description): void {
  document.title = `${description.info.title}: API reference`
  render(<Page description={description} source={DESCRIPTION_URL} />, document.body)
  showHashTarget()
}

function showFailure(reason: unknown): void {
  const text = reason instanceof Error ? reason.message : String(reason)
  render(
    <main class="failure flow">
      <h1>API reference</h1>
      <p role="alert">
        Cannot load <a href={DESCRIPTION_URL.href}>{DESCRIPTION_URL.pathname}</a>: {text}
      </p>
      <button type="button" onClick={start}>
        Try again
      </button>
    </main>,
    document.body,
  )
}

function start(): void {
  loadDescription(DESCRIPTION_URL).then(show).catch(showFailure)
}

start()
