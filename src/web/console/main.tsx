// The entry of the console: renders the page.

import { render } from 'preact'
import { App } from './app.tsx'
import { createConsole } from './console.ts'
import { trustThread } from './workbooks/thread.ts'

trustThread()

// A proxy may serve it under a path prefix.
const BASE_URL = new URL('.', document.location.href)

render(<App console={createConsole(BASE_URL)} />, document.body)
